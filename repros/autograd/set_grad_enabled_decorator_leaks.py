# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Decorating a function with set_grad_enabled(False) turns gradients off for the rest of the thread"
# kind = "silent"
# symptom = "requires_grad of w \\* 2 is False"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/113298"]
# documents = ["https://github.com/pytorch/pytorch/blob/v2.1.2/torch/autograd/grad_mode.py"]
# fixed_by = "pytorch#113359"
# wrong = '''
# @torch.set_grad_enabled(False)
# def validate(model, x):
#     return model(x)
# '''
# right = '''
# @torch.no_grad()
# def validate(model, x):
#     return model(x)
# '''
# fix = "upgrade"
# affected = { cpu = "<2.2", cuda = "<2.2", mps = "<2.2" }
# ///
"""After the definition of the decorated function, no operation has a graph, even if the function is
never called. In a new thread, gradients are still enabled. If the definition is inside an
enable_grad() or no_grad() block, the end of this block restores the mode.

set_grad_enabled() sets the mode when it is constructed, so that it also works as a function. As a
decorator, it never restored the mode (torch/autograd/grad_mode.py). By contrast, no_grad() sets the
mode on entry (control).
"""

import torch


def check(device):
    if not (torch.ones(1, device=device, requires_grad=True) * 2).requires_grad:
        return "requires_grad of w * 2 is False"


def reproduce(device):
    before = torch.is_grad_enabled()
    try:

        @torch.set_grad_enabled(False)
        def validate(model, x):
            return model(x)

        return check(device)
    finally:
        torch.set_grad_enabled(before)


def control(device):
    @torch.no_grad()
    def validate(model, x):
        return model(x)

    layer = torch.nn.Linear(1, 1).to(device)
    if validate(layer, torch.ones(1, 1, device=device)).requires_grad:
        return "validate() records a graph"
    return check(device)


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
