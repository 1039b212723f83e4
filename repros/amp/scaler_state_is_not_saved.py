# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A run resumed without the GradScaler's state starts at the initial scale and may skip steps"
# kind = "silent"
# symptom = "a step after the resume was skipped"
# origin = "usage"
# reports = [
#     "https://github.com/huggingface/transformers/issues/34053",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/amp.html#torch.amp.GradScaler.state_dict",
#     "https://github.com/ultralytics/ultralytics/pull/22189",
# ]
# wrong = '''
# scaler.step(optimizer)
# scaler.update()
# parts = {"model": model, "optimizer": optimizer}
# torch.save({name: part.state_dict() for name, part in parts.items()}, path)
# '''
# right = '''
# scaler.step(optimizer)
# scaler.update()
# parts = {"model": model, "optimizer": optimizer, "scaler": scaler}  # load all three
# torch.save({name: part.state_dict() for name, part in parts.items()}, path)
# '''
# requires_on = { cpu = ">=2.3" }
# rule = "note"
# when = "the run is resumed after the scale has changed"
# affected = { cpu = ">=2.3", cuda = ">=1.13" }
# ///
"""An uninterrupted run continues with the scale that it has reached, but a resumed run starts again
at 65536.

If gradients overflow at that scale, steps are skipped until update() has halved the scale often
enough (torch/amp/grad_scaler.py): 8 times, down to 256, in huggingface/transformers#34053. If the
scheduler is stepped nevertheless, it runs ahead. Load every saved state before the first step. The
new scaler needs the same `enabled` as the saved scaler: see amp/resume_from_disabled_scaler. A
checkpoint written before the correction lacks the scaler's entry.
"""

import io

import torch

if hasattr(torch.amp, "GradScaler"):
    GradScaler = torch.amp.GradScaler
else:  # before torch 2.3, for CUDA alone

    def GradScaler(device):
        return torch.cuda.amp.GradScaler()


def start(device):
    model = torch.nn.Linear(1, 1).to(device)
    torch.nn.init.zeros_(model.weight)
    torch.nn.init.zeros_(model.bias)
    return model, torch.optim.SGD(model.parameters(), lr=1.0), GradScaler(device)


def backward(model, optimizer, scaler):
    optimizer.zero_grad()
    loss = model(torch.ones(1, 1, device=model.weight.device)).half().sum().float()
    scaler.scale(loss).backward()  # overflows in float16 if the scale is 65536


def train(model, optimizer, scaler, steps):
    for _ in range(steps):
        backward(model, optimizer, scaler)
        scaler.step(optimizer)
        scaler.update()


def resume(device, path, names):
    path.seek(0)
    states = torch.load(path, map_location=device)
    resumed, uninterrupted = start(device), start(device)
    for name, part in zip(names, resumed):
        part.load_state_dict(states[name])
    train(*resumed, steps=2)
    train(*uninterrupted, steps=3)
    if resumed[0].weight.item() != uninterrupted[0].weight.item():
        return "a step after the resume was skipped"
    if uninterrupted[0].weight.item() != -2:  # the first of three steps is skipped
        return f"the weight is {uninterrupted[0].weight.item()} instead of -2"


def reproduce(device):
    (model, optimizer, scaler), path = start(device), io.BytesIO()
    backward(model, optimizer, scaler)
    scaler.step(optimizer)
    scaler.update()
    parts = {"model": model, "optimizer": optimizer}
    torch.save({name: part.state_dict() for name, part in parts.items()}, path)
    return resume(device, path, parts)


def control(device):
    (model, optimizer, scaler), path = start(device), io.BytesIO()
    backward(model, optimizer, scaler)
    scaler.step(optimizer)
    scaler.update()
    parts = {"model": model, "optimizer": optimizer, "scaler": scaler}  # load all three
    torch.save({name: part.state_dict() for name, part in parts.items()}, path)
    return resume(device, path, parts)


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
