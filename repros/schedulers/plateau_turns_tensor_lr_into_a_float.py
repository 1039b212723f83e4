# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "ReduceLROnPlateau replaces a tensor learning rate by a float"
# kind = "silent"
# symptom = "the learning rate is a float now, and the tensor still says 1\\.0"
# keywords = [
#     "recompiles after ReduceLROnPlateau",
#     "tensor lr with lr scheduler",
#     "compiled optimizer recompiles after the lr drops",
#     "plateau scheduler makes a compiled step slow again",
#     "my reference to the lr tensor is stale",
#     "tensor learning rate becomes a python float",
#     "lr tensor not updated by ReduceLROnPlateau",
#     "training pauses for compilation when lr is reduced",
#     "type of param group lr changes after plateau",
#     "lr I log stays old after reduction on plateau",
#     "capturable optimizer ignores lr reduction on plateau",
#     "torch.compile optimizer slow whenever plateau reduces the rate",
# ]
# origin = "torch"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/163093",
#     "https://github.com/pytorch/pytorch/issues/196286",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/163098",
#     "https://docs.pytorch.org/tutorials/recipes/compiling_optimizer_lr_scheduler.html",
#     "https://github.com/pytorch/pytorch/pull/106916",
# ]
# fixed_by = "pytorch#163098"
# wrong = '''
# scheduler.step(loss)
# '''
# right = '''
# scheduler.step(loss)
# lr.fill_(optimizer.param_groups[0]["lr"])
# optimizer.param_groups[0]["lr"] = lr
# '''
# fix = "upgrade"
# requires = ">=2.1"
# affected = { cpu = ">=2.1,<2.10", cuda = ">=2.1,<2.10", mps = ">=2.1,<2.10" }
# ///
"""Whoever holds the tensor keeps the old learning rate after the first reduction.

A tensor is what keeps a compiled optimizer from being compiled again
(docs: recipes/compiling_optimizer_lr_scheduler); ReduceLROnPlateau put a float in its
place, and the step was compiled again (pytorch#163093). Adam takes a tensor since 2.1
(pytorch#106916).
"""

import torch


def train(device, keep):
    weight = torch.zeros(1, device=device, requires_grad=True)
    lr = torch.tensor(1.0)
    optimizer = torch.optim.Adam([weight], lr=lr)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
    for loss in (1.0, 1.0):
        scheduler.step(loss)
    group = optimizer.param_groups[0]
    if keep:
        lr.fill_(group["lr"])
        group["lr"] = lr
    if isinstance(group["lr"], float):
        return f"the learning rate is a float now, and the tensor still says {lr.item()}"


def reproduce(device):
    return train(device, keep=False)


def control(device):
    return train(device, keep=True)


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
