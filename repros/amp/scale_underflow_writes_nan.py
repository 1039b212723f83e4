# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "After 200 skipped steps in a row, the loss scale is 0, and a finite step sets the weights to NaN"
# kind = "silent"
# symptom = "scale 0.0, then a finite step wrote nan"
# origin = "design"
# reports = ["https://github.com/pytorch/pytorch/issues/40497"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/amp.html#gradient-scaling",
#     "https://github.com/pytorch/pytorch/pull/101569",
#     "https://github.com/pytorch/pytorch/issues/99640",
# ]
# wrong = '''
# scaler.step(optimizer)
# scaler.update()
# '''
# right = '''
# scaler.step(optimizer)
# scaler.update()
# if scaler.get_scale() < 2**-10:
#     scaler.update(2.0**-10)
# '''
# fix = "amp.optimizer_step"
# use = '''
# from amp import optimizer_step
# optimizer_step(optimizer, scaler)
# '''
# choice = "Use the fix, which raises an error as soon as the scale cannot be the cause of the skipped steps; use the lines without the fix if the run should skip these steps forever"
# requires_on = { cpu = ">=2.3", mps = ">=2.3" }
# affected = { cpu = ">=2.3", cuda = ">=1.13", mps = ">=2.8" }
# ///
"""The weights are NaN after a step with a finite loss and a finite gradient.

Each skipped step halves the scale. The scaler does not keep the scale from reaching 0, because a
check would cost time (docs: torch.amp, pytorch#99640). The gradient of 0 * loss is then 0, which
passes the check for infinities and becomes NaN when it is multiplied by 1 / 0
(aten/src/ATen/native/cpu/AmpGradScalerKernels.cpp). After 144 skipped steps, the scale is not yet
zero, but 1 / scale is already infinite in float32 (torch/amp/grad_scaler.py). Users enforce a
minimum scale by hand (pytorch#40497). Calling get_scale() waits for the device, as step() does
unless the optimizer is fused.

If the scale keeps falling below 2**-10, the minimum in the corrected code, the cause is different.
Some gradients are infinite or NaN at any scale, or they exceed 6e7 in float16 and overflow even at
this minimum. A minimum of 1 is too high, because a float16 gradient of 1e5 then overflows in every
step, whereas training works at a scale of 0.5.

The scale doubles only after 2000 steps without a skip (docs: torch.amp), so at this minimum,
float16 gradients below 3e-5 become 0 for the next 2000 steps. Once the cause of the skipped steps
is gone, scaler.update(65536.0) restores the initial scale.
"""

import torch


def make_scaler(device):
    if hasattr(torch.amp, "GradScaler"):
        return torch.amp.GradScaler(device)
    return torch.cuda.amp.GradScaler()  # before torch 2.3, for CUDA alone


def start(device):
    weight = torch.ones(1, device=device, requires_grad=True)
    return weight, torch.optim.SGD([weight], lr=0.5), make_scaler(device)


def reproduce(device):
    weight, optimizer, scaler = start(device)
    for factor in [float("inf")] * 200 + [1.0]:
        optimizer.zero_grad()
        scaler.scale(weight.sum() * factor).backward()
        scaler.step(optimizer)
        scaler.update()
    if weight.isnan():
        return f"scale {scaler.get_scale()}, then a finite step wrote {weight.item()}"


def control(device):
    weight, optimizer, scaler = start(device)
    for factor in [float("inf")] * 200 + [1.0]:
        optimizer.zero_grad()
        scaler.scale(weight.sum() * factor).backward()
        scaler.step(optimizer)
        scaler.update()
        if scaler.get_scale() < 2**-10:
            scaler.update(2.0**-10)
    if weight.item() != 0.5:
        return f"the weight is {weight.item()} instead of 0.5"


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
