# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "After enough skipped steps the scale is zero, and the next good step writes NaN weights"
# kind = "silent"
# symptom = "scale 0.0, then a finite step wrote nan"
# keywords = ["weights suddenly nan with mixed precision"]
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/98876", "https://github.com/PaddlePaddle/Paddle/issues/67895"]
# wrong = '''
# TODO
# '''
# fix = "amp.train_epoch"
# requires = ">=2.3"
# affected = { cpu = ">=2.3", cuda = ">=2.3", mps = ">=2.8" }
# ///
"""Every step with an infinite gradient halves the scale; nothing stops it before it
underflows to 0.

Then 0 * loss gives a zero gradient and unscale_ computes 0 * (1 / 0) = NaN, after the
inf check passed on the zero (aten/src/ATen/native/cuda/AmpKernels.cu and its CPU twin
cap the scale above, not below).
"""

import torch


def train(device, bad_steps, **options):
    scaler = torch.amp.GradScaler(device, **options)
    weight = torch.ones(1, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    for factor in [float("inf")] * bad_steps + [1.0]:
        optimizer.zero_grad()
        scaler.scale(weight.sum() * factor).backward()
        scaler.step(optimizer)
        scaler.update()
    if weight.isnan():
        return f"scale {scaler.get_scale()}, then a finite step wrote {weight.item()}"


def reproduce(device):
    return train(device, bad_steps=200)


def control(device):
    return train(device, bad_steps=5)


def popular_fix(device):
    return train(device, bad_steps=200, init_scale=1024.0)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
