# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "GradScaler.step() and unscale_() raise an error if no loss has been scaled"
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
# scaler.update()
# '''
# right = '''
# scaler.scale(loss).backward()
# scaler.step(optimizer)
# scaler.update()
# '''
# fix = "amp.optimizer_step"
# use = '''
# from amp import optimizer_step
# scaler.scale(loss).backward()
# optimizer_step(optimizer, scaler)
# '''
# choice = "Normally, use the lines without the fix; use the fix if the gradients are clipped too"
# rule = "error"
# when = "the scaler is enabled"
# requires_on = { cpu = ">=2.3", mps = ">=2.3" }
# affected = { cpu = ">=2.3", cuda = ">=1.13", mps = ">=2.8" }
# ///
"""The first step of a run raises "Attempted step but _scale is None", or "Attempted unscale_ but
_scale is None" if the gradients are clipped.

The scaler creates its scale in the first call to scale(), and both methods need this scale
(torch/amp/grad_scaler.py). In a framework whose own backward() scales the loss, a plain
loss.backward() omits the scaling (Lightning-AI/pytorch-lightning#19695). After the first call to
scale(), an unscaled loss causes no error, but its gradients are 65536 times too small (see
amp/unscale_divides_by_65536).
"""

import torch


def make_scaler(device):
    if hasattr(torch.amp, "GradScaler"):
        return torch.amp.GradScaler(device)
    return torch.cuda.amp.GradScaler()  # before torch 2.3, for CUDA alone


def start(device):
    weight = torch.zeros(1, device=device, requires_grad=True)
    return weight, torch.optim.SGD([weight], lr=1.0), make_scaler(device), 2 * weight.sum()


def reproduce(device):
    _, optimizer, scaler, loss = start(device)
    try:
        loss.backward()
        scaler.step(optimizer)
        scaler.update()
    except AssertionError as error:
        return str(error)


def control(device):
    weight, optimizer, scaler, loss = start(device)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    if weight.item() != -2:
        return f"the weight is {weight.item()} instead of -2"


def messages(device):
    _, optimizer, scaler, loss = start(device)
    loss.backward()
    try:
        scaler.unscale_(optimizer)
    except AssertionError as error:
        return str(error)


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
