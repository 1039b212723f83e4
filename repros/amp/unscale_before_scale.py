# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "GradScaler raises in step() or unscale_() when the loss was not scaled"
# kind = "error"
# symptom = "Attempted step but _scale is None"
# messages = [
#     "Attempted step but _scale is None",
#     "Attempted unscale_ but _scale is None",
# ]
# origin = "usage"
# reports = ["https://github.com/Lightning-AI/pytorch-lightning/issues/19695"]
# documents = ["https://github.com/pytorch/pytorch/blob/v2.13.0/torch/amp/grad_scaler.py"]
# wrong = '''
# loss.backward()
# scaler.step(optimizer)
# '''
# right = '''
# scaler.scale(loss).backward()
# scaler.step(optimizer)
# '''
# fix = "amp.optimizer_step"
# rule = "error"
# when = "the scaler is enabled"
# requires = ">=2.3"
# affected = { cpu = ">=2.3", cuda = ">=2.3", mps = ">=2.8" }
# ///
"""The first step of a run raises "Attempted step but _scale is None", or "Attempted
unscale_ but _scale is None" where the gradients are clipped.

The scaler makes its scale in the first scale(), and both methods need it
(torch/amp/grad_scaler.py). In a framework that scales in a backward() of its own, it is
a plain loss.backward() that leaves it out (Lightning-AI/pytorch-lightning#19695).
"""

import torch


def train(device, scaled):
    scaler = torch.amp.GradScaler(device)
    weight = torch.ones(2, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    loss = weight.sum()
    if scaled:
        scaler.scale(loss).backward()
    else:
        loss.backward()
    try:
        scaler.step(optimizer)
    except AssertionError as error:
        return str(error)


def reproduce(device):
    return train(device, scaled=False)


def control(device):
    return train(device, scaled=True)


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
