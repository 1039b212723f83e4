# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Adam with foreach and maximize fails on complex parameters"
# kind = "error"
# symptom = "'tuple' object does not support item assignment"
# messages = ["torch\\.view_as_real\\(s\\[i\\]\\).{0,200}?'tuple' object does not support item assignment"]
# origin = "torch"
# documents = [
#     "https://github.com/pytorch/pytorch/pull/118160",
#     "https://github.com/pytorch/pytorch/pull/110706",
# ]
# fixed_by = "pytorch#118160"
# upstream = "unreported"
# wrong = '''
# optimizer = torch.optim.Adam([weight], maximize=True, foreach=True)
# '''
# right = '''
# optimizer = torch.optim.Adam([weight], maximize=True, foreach=False)
# '''
# fix = "upgrade"
# affected = { cpu = ">=2.2,<2.3", cuda = ">=2.2,<2.3" }
# ///
"""The first step raises a TypeError inside torch.optim.

With maximize=True, a foreach operator negates the gradients and returns a tuple. In 2.2, the
optimizer then tried to replace the complex tensors of this tuple in place (pytorch#118160). AdamW,
Adagrad, Adamax and Adadelta did the same (pytorch#118160). On CUDA, where foreach is the default,
the error also occurs without foreach=True (torch/optim/optimizer.py; not measured).

Loading a checkpoint that was made with foreach=True sets foreach=True again: afterwards, write
group["foreach"] = False for each group in optimizer.param_groups.
"""

import traceback

import torch


def start(device):
    return torch.ones(2, dtype=torch.complex64, device=device, requires_grad=True)


def check(weight, optimizer):
    weight.real.sum().backward()
    optimizer.step()
    if not torch.allclose(weight, torch.full_like(weight, 1.001)):  # the first step is lr long
        return f"the weight is {weight.tolist()} after the step, not 1.001"


def reproduce(device):
    weight = start(device)
    optimizer = torch.optim.Adam([weight], maximize=True, foreach=True)
    try:
        return check(weight, optimizer)
    except TypeError as error:
        return str(error)


def control(device):
    weight = start(device)
    optimizer = torch.optim.Adam([weight], maximize=True, foreach=False)
    return check(weight, optimizer)


def messages(device):
    weight = start(device)
    optimizer = torch.optim.Adam([weight], maximize=True, foreach=True)
    try:
        check(weight, optimizer)
    except TypeError:
        return traceback.format_exc()


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
