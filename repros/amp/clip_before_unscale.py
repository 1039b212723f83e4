# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Clipping gradients before unscale_() makes SGD steps far too short"
# kind = "silent"
# symptom = "clipped step is .* long instead of 1"
# origin = "usage"
# reports = [
#     "https://github.com/Lightning-AI/pytorch-lightning/issues/9599",
#     "https://github.com/pytorch/pytorch/issues/40907",
#     "https://github.com/rwth-i6/returnn/issues/1590",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-clipping"]
# wrong = '''
# scaler.scale(loss).backward()
# torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
# scaler.step(optimizer)
# scaler.update()
# '''
# right = '''
# scaler.scale(loss).backward()
# scaler.unscale_(optimizer)
# torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
# scaler.step(optimizer)
# scaler.update()
# '''
# fix = "amp.optimizer_step"
# use = '''
# from amp import optimizer_step
# scaler.scale(loss).backward()
# optimizer_step(optimizer, scaler, max_norm=1.0)
# '''
# choice = "Normally, use the lines without the fix; use the fix if several optimizers step after one backward()"
# rule = "error"
# when = "AMP is on, with an enabled GradScaler, and the clip value is above 0"
# requires_on = { cpu = ">=2.3", mps = ">=2.3" }
# affected = { cpu = ">=2.3", cuda = ">=1.13", mps = ">=2.8" }
# ///
"""The loss barely decreases once gradients are clipped (Lightning-AI/pytorch-lightning#9599,
pytorch#40907).

Between backward() and step(), the gradients are still multiplied by the scale, which is 65536 at
first. Clipping reduces the norm of the scaled gradients to max_norm, and step() then divides the
clipped gradients by the scale.

Adam and AdamW normalize each gradient by its magnitude (torch/optim/adam.py), so only eps shortens
the first step. With a single weight, this step has 0.999 of its correct length. With a million
weights and equal gradients, it has only 0.60 of this length. However, nearly every gradient is
clipped, even if its norm is below max_norm. After gradients of 0.1 and 1, the second step of Adam
has a length of 1 instead of 0.81.
"""

import torch


def make_scaler(device):
    if hasattr(torch.amp, "GradScaler"):
        return torch.amp.GradScaler(device)
    return torch.cuda.amp.GradScaler()  # before torch 2.3, for CUDA alone


def start(device):
    model = torch.nn.Linear(1, 1, bias=False).to(device)
    torch.nn.init.zeros_(model.weight)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    return model, optimizer, make_scaler(device), 5 * model.weight.sum()


def check(model):
    if abs(model.weight.item() + 1) > 0.01:  # without a scaler: a gradient of 5, clipped to 1
        return f"the clipped step is {-model.weight.item():.1g} long instead of 1"


def reproduce(device):
    model, optimizer, scaler, loss = start(device)
    scaler.scale(loss).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    scaler.step(optimizer)
    scaler.update()
    return check(model)


def control(device):
    model, optimizer, scaler, loss = start(device)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    scaler.step(optimizer)
    scaler.update()
    return check(model)


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
