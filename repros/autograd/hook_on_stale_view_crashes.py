# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "register_hook on a view crashes after the view's base was changed in place"
# kind = "crash"
# symptom = "SIGSEGV in register_hook"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/196459"]
# fixed_by = "pytorch#196514"
# wrong = '''
# base.mul_(3)
# view.register_hook(hook)
# '''
# right = '''
# base.mul_(3)
# view.grad_fn  # gives it its new history
# view.register_hook(hook)
# '''
# fix = "upgrade"
# affected = { cpu = ">=2.0,<2.15", cuda = ">=2.0,<2.15", mps = ">=2.0,<2.15" }
# ///
"""The process dies in register_hook() on a view whose base was changed in place.

register_hook() creates the view's dictionary of hooks and then reads view.grad_fn
(torch/_tensor.py). The first read of grad_fn after the change gives the view a new history and
drops the dictionary, so torch registers a null pointer (pytorch#196459). The process is then killed
by a signal instead of exiting with status 1. If the view had a hook before the change, the process
survives, but neither hook is called. With the corrected code, the new hook is called (2.3, 2.13).
In torch 1.13, retain_grad() crashes in the same way. Reading grad_fn first helps there too.
"""

import torch


def start(device):
    base, seen = torch.ones(4, device=device, requires_grad=True).clone(), []
    return base, base[:2], seen


def check(view, seen):
    (5 * view).sum().backward()
    if [grad.tolist() for grad in seen] != [[5, 5]]:
        return "the hook did not see the gradient of the view"


def reproduce(device):
    base, view, seen = start(device)
    hook = seen.append
    base.mul_(3)
    view.register_hook(hook)
    return check(view, seen)


def control(device):
    base, view, seen = start(device)
    hook = seen.append
    base.mul_(3)
    view.grad_fn
    view.register_hook(hook)
    return check(view, seen)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
