# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The gradients of a second loss without scaler.scale() are too small, at first by a factor of 65536"
# kind = "silent"
# symptom = "the weight went the way of the first loss"
# origin = "usage"
# documents = [
#     "https://docs.pytorch.org/docs/stable/notes/amp_examples.html#working-with-multiple-models-losses-and-optimizers",
#     "https://github.com/ashawkey/stable-dreamfusion/issues/158",
# ]
# wrong = '''
# scaler.scale(loss).backward()
# penalty.backward()
# scaler.step(optimizer)
# scaler.update()
# '''
# right = '''
# scaler.scale(loss).backward()
# scaler.scale(penalty).backward()
# scaler.step(optimizer)
# scaler.update()
# '''
# fix = "amp.optimizer_step"
# use = '''
# from amp import optimizer_step
# scaler.scale(loss).backward()
# scaler.scale(penalty).backward()
# optimizer_step(optimizer, scaler)
# '''
# choice = "Normally, use the lines without the fix; use the fix if the gradients are clipped too, because the fix makes the calls in the right order"
# rule = "error"
# when = "AMP is on, with an enabled GradScaler"
# requires_on = { cpu = ">=2.3", mps = ">=2.3" }
# affected = { cpu = ">=2.3", cuda = ">=1.13", mps = ">=2.8" }
# ///
"""The second loss barely influences weights that the first loss also trains, with both SGD and
Adam. Weights that only the second loss trains barely move under SGD. Adam normalizes each gradient
by its magnitude, so it moves these weights, unless the gradient divided by the scale is close to
Adam's eps of 1e-8. For example, with a gradient of 1e-3, the first step has a length of 0.6 instead
of 1.

Both step() and unscale_() divide all gradients by the scale, including the gradients of a loss that
was never scaled. In ashawkey/stable-dreamfusion#158, a custom backward() creates an unscaled loss.
These methods raise an error only if scale() was never called (see amp/unscale_before_scale). Each
loss needs its own call to scale() (docs: Automatic Mixed Precision examples).
"""

import torch


def make_scaler(device):
    if hasattr(torch.amp, "GradScaler"):
        return torch.amp.GradScaler(device)
    return torch.cuda.amp.GradScaler()  # before torch 2.3, for CUDA alone


def start(device, kind):
    weight = torch.zeros(1, device=device, requires_grad=True)
    loss, penalty = 3 * weight.sum(), -4 * weight.sum()  # together a gradient of -1
    return weight, kind([weight], lr=1.0), make_scaler(device), loss, penalty


def check(weight):
    if abs(weight.item() - 1) > 0.01:
        return f"the weight went the way of the first loss, to {weight.item():.0f} instead of 1"


def reproduce(device):
    seen = []
    for kind in (torch.optim.SGD, torch.optim.Adam):
        weight, optimizer, scaler, loss, penalty = start(device, kind)
        scaler.scale(loss).backward()
        penalty.backward()
        scaler.step(optimizer)
        scaler.update()
        seen.append(check(weight))
    if all(seen):
        return "; ".join(seen)


def control(device):
    for kind in (torch.optim.SGD, torch.optim.Adam):
        weight, optimizer, scaler, loss, penalty = start(device, kind)
        scaler.scale(loss).backward()
        scaler.scale(penalty).backward()
        scaler.step(optimizer)
        scaler.update()
        if seen := check(weight):
            return seen


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
