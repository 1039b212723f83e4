# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Calling backward() after unscale_() adds gradients that are still scaled, at first by 65536"
# kind = "silent"
# symptom = "step is .* long instead of 1"
# origin = "usage"
# documents = [
#     "https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-clipping",
#     "https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-accumulation",
# ]
# wrong = '''
# scaler.scale(loss).backward()
# scaler.unscale_(optimizer)
# torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
# scaler.scale(penalty).backward()
# scaler.step(optimizer)
# scaler.update()
# '''
# right = '''
# scaler.scale(loss).backward()
# scaler.scale(penalty).backward()
# scaler.unscale_(optimizer)
# torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
# scaler.step(optimizer)
# scaler.update()
# '''
# fix = "amp.optimizer_step"
# use = '''
# from amp import optimizer_step
# scaler.scale(loss).backward()
# scaler.scale(penalty).backward()
# optimizer_step(optimizer, scaler, max_norm=1.0)
# '''
# choice = "Normally, use the lines without the fix; use the fix if several optimizers step after the last backward(), because the fix clips their gradients together"
# rule = "error"
# when = "AMP is on, with an enabled GradScaler"
# requires_on = { cpu = ">=2.3", mps = ">=2.3" }
# affected = { cpu = ">=2.3", cuda = ">=1.13", mps = ">=2.8" }
# ///
"""A step of SGD is tens of thousands of times too long, because scaled gradients were added to
unscaled gradients. Adam normalizes each gradient by its magnitude (torch/optim/adam.py), so the
step size stays the same. However, a weight that both losses train follows only the second loss.

unscale_() divides the gradients that exist when it is called. A later backward() adds gradients
that are still scaled, and step() does not divide them, because the scaler remembers that unscale_()
was called (torch/amp/grad_scaler.py). Call unscale_() and then clip, but only after every
backward() of the step (docs: Automatic Mixed Precision examples). Calling unscale_() after each
backward() raises an error (see amp/unscale_twice).
"""

import torch


def make_scaler(device):
    if hasattr(torch.amp, "GradScaler"):
        return torch.amp.GradScaler(device)
    return torch.cuda.amp.GradScaler()  # before torch 2.3, for CUDA alone


def start(device, kind=torch.optim.SGD):
    model = torch.nn.Linear(1, 1, bias=False).to(device)
    torch.nn.init.zeros_(model.weight)
    loss, penalty = -model.weight.sum(), 2 * model.weight.sum()  # together a gradient of 1
    return model, kind(model.parameters(), lr=1.0), make_scaler(device), loss, penalty


def check(model):
    if abs(model.weight.item() + 1) > 0.01:
        return f"the step is {-model.weight.item():.0f} long instead of 1"


def reproduce(device):
    model, optimizer, scaler, loss, penalty = start(device)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    scaler.scale(penalty).backward()
    scaler.step(optimizer)
    scaler.update()
    return check(model)


def control(device):
    for kind in (torch.optim.SGD, torch.optim.Adam):
        model, optimizer, scaler, loss, penalty = start(device, kind)
        scaler.scale(loss).backward()
        scaler.scale(penalty).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        scaler.step(optimizer)
        scaler.update()
        if seen := check(model):
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
