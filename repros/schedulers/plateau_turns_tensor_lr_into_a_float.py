# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "ReduceLROnPlateau replaces a tensor learning rate with a float"
# kind = "silent"
# symptom = "the learning rate is a float now, and the tensor still says 1\\.0"
# origin = "torch"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/163093",
#     "https://github.com/pytorch/pytorch/issues/196286",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/163098",
#     "https://docs.pytorch.org/tutorials/recipes/compiling_optimizer_lr_scheduler.html",
# ]
# fixed_by = "pytorch#163098"
# wrong = '''
# optimizer.step()
# scheduler.step(loss)
# '''
# right = '''
# optimizer.step()
# before = [group["lr"] for group in optimizer.param_groups]
# scheduler.step(loss)
# for lr, group in zip(before, optimizer.param_groups):
#     if isinstance(lr, torch.Tensor):  # each in one group alone
#         group["lr"] = lr.fill_(group["lr"])
# '''
# fix = "upgrade"
# affected = { cpu = "<2.10", cuda = "<2.10", mps = "<2.10" }
# ///
"""Code that holds the tensor still sees the old learning rate after the first reduction.

If the rate is a tensor, a change of its value does not recompile a compiled optimizer (docs:
recipes/compiling_optimizer_lr_scheduler). However, ReduceLROnPlateau replaced the tensor with a
float, so the step was compiled again (pytorch#163093). Adam and AdamW also lose their tensor. The
corrected code, which works for every optimizer, puts the tensor back with its new value. The tensor
must have no dimensions, because fill_() rejects torch.tensor([1.0]).

Give each group its own tensor. Since 2.10, ReduceLROnPlateau writes into the tensor, group by
group. If two groups share a tensor, as they do if lr=torch.tensor(1.0) is passed to the optimizer,
the rate is reduced twice, from 1 to 0.01 (on 2.15).
"""

import torch


def start(device):
    weight = torch.zeros(1, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=torch.tensor(1.0))
    return optimizer, torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)


def check(optimizer, tensor):
    rate = optimizer.param_groups[0]["lr"]
    if isinstance(rate, float):
        return f"the learning rate is a float now, and the tensor still says {tensor.item()}"
    if rate is not tensor or abs(tensor.item() - 0.1) > 1e-6:
        return f"the learning rate is {rate}, and the tensor says {tensor}, not 0.1"


def reproduce(device):
    optimizer, scheduler = start(device)
    tensor = optimizer.param_groups[0]["lr"]
    for loss in (1.0, 1.0):
        optimizer.step()
        scheduler.step(loss)
    return check(optimizer, tensor)


def control(device):
    optimizer, scheduler = start(device)
    tensor = optimizer.param_groups[0]["lr"]
    for loss in (1.0, 1.0):
        optimizer.step()
        before = [group["lr"] for group in optimizer.param_groups]
        scheduler.step(loss)
        for lr, group in zip(before, optimizer.param_groups):
            if isinstance(lr, torch.Tensor):  # each in one group alone
                group["lr"] = lr.fill_(group["lr"])
    return check(optimizer, tensor)


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
