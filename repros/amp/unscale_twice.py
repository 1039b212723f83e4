# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Calling unscale_() for each batch of an accumulation window fails on the second batch"
# kind = "error"
# symptom = "unscale_\\(\\) has already been called"
# messages = ["unscale_\\(\\) has already been called on this optimizer since the last update\\(\\)"]
# origin = "design"
# reports = [
#     "https://github.com/Lightning-AI/pytorch-lightning/issues/4148",
#     "https://github.com/microsoft/Swin-Transformer/issues/311",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-clipping",
#     "https://github.com/Haian-Jin/LVSM/pull/19",
#     "https://github.com/espnet/espnet/pull/2362",
# ]
# wrong = '''
# scaler.scale(loss).backward()
# scaler.unscale_(optimizer)
# torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
# if (i + 1) % WINDOW == 0 or i + 1 == len(loader):
#     scaler.step(optimizer)
#     scaler.update()
#     optimizer.zero_grad()
# '''
# right = '''
# scaler.scale(loss).backward()
# if (i + 1) % WINDOW == 0 or i + 1 == len(loader):
#     scaler.unscale_(optimizer)
#     torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
#     scaler.step(optimizer)
#     scaler.update()
#     optimizer.zero_grad()
# '''
# fix = "amp.optimizer_step"
# use = '''
# from amp import optimizer_step
# scaler.scale(loss).backward()
# if (i + 1) % WINDOW == 0 or i + 1 == len(loader):
#     optimizer_step(optimizer, scaler, max_norm=1.0)
#     optimizer.zero_grad()
# '''
# choice = "Use the lines without the fix to step once per window; use the fix if the code itself skips steps with bad gradients, because the fix skips these steps and still updates the scale"
# rule = "error"
# when = "AMP is on (with an enabled GradScaler), and either the window contains more than one batch or update() is never called"
# requires = ">=2.3"
# affected = { cpu = ">=2.3", cuda = ">=2.3", mps = ">=2.8" }
# ///
"""The error occurs in the second batch of an accumulation window (microsoft/Swin-Transformer#311).

Between two calls to update(), unscale_() may be called only once per optimizer
(torch/amp/grad_scaler.py), so call it once per window, after the last backward(). Calling update()
after every unscale_() silences the error but loses the earlier batches of the window. The reason is
that each later batch adds its gradients to unscaled gradients, and the sum is divided again.

Other loops never call update() (Lightning-AI/pytorch-lightning#4148), or omit the call when they
skip a step because of a bad gradient (Haian-Jin/LVSM#19, espnet/espnet#2362). In such loops, call
update() after every step, skipped or not, and let step() do the skipping.
"""

import torch

WINDOW = 2


def start(device):
    weight = torch.nn.Parameter(torch.zeros(2, device=device))
    model = torch.nn.ParameterList([weight])
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    losses = [3 * weight[0], 4 * weight[1]]  # of both together the gradient is 5 long
    return model, optimizer, torch.amp.GradScaler(device), losses


def check(model):
    moved = model[0].tolist()
    if max(abs(a - b) for a, b in zip(moved, (-0.6, -0.8))) > 0.01:
        return f"the clipped step of the window is {moved}, not [-0.6, -0.8]"


def reproduce(device):
    model, optimizer, scaler, loader = start(device)
    try:
        for i, loss in enumerate(loader):
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
            if (i + 1) % WINDOW == 0 or i + 1 == len(loader):
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad()
    except RuntimeError as error:
        return str(error)


def control(device):
    model, optimizer, scaler, loader = start(device)
    for i, loss in enumerate(loader):
        scaler.scale(loss).backward()
        if (i + 1) % WINDOW == 0 or i + 1 == len(loader):
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
    return check(model)


def popular_fix(device):
    model, optimizer, scaler, loader = start(device)
    for i, loss in enumerate(loader):
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        if (i + 1) % WINDOW == 0 or i + 1 == len(loader):
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
            scaler.step(optimizer)
            optimizer.zero_grad()
        scaler.update()
    return check(model)


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
