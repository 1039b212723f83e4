# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Training with a GradScaler fails in unscale_() if the model was cast to half"
# kind = "error"
# symptom = "Attempting to unscale FP16 gradients"
# messages = ["Attempting to unscale FP16 gradients"]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/74739",
#     "https://github.com/Lightning-AI/pytorch-lightning/issues/5140",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/amp.html#torch.autocast",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/amp/grad_scaler.py",
# ]
# wrong = '''
# model.half()
# loss = criterion(model(x.half()), y)
# scaler.scale(loss).backward()
# scaler.step(optimizer)
# scaler.update()
# '''
# right = '''
# model.float()  # where it was loaded in float16
# with torch.autocast(x.device.type, torch.float16):
#     loss = criterion(model(x), y)
# scaler.scale(loss).backward()
# scaler.step(optimizer)
# scaler.update()
# '''
# fix = "amp.choose_precision"
# use = '''
# from amp import choose_precision
# model.float()
# with choose_precision(x.device, torch.float16).autocast():
#     loss = criterion(model(x), y)
# scaler.scale(loss).backward()
# scaler.step(optimizer)
# scaler.update()
# '''
# choice = "Normally, use the lines without the fix; use the fix if the program may run on a device or release without float16 autocast, because choose_precision() raises an error there"
# requires_on = { cpu = ">=2.3", mps = ">=2.3" }
# affected = { cpu = ">=2.3", cuda = ">=1.13", mps = ">=2.8" }
# ///
"""The first call to unscale_() raises an error. The error also occurs in step(), because step()
calls unscale_() (Lightning-AI/pytorch-lightning#5140). With fused=True, step() accepts float16
gradients (torch/amp/grad_scaler.py), but the float16 state of AdamW loses the squares of small
gradients. With constant gradients of 1e-3, a weight moves 6.6 times too far in 100 steps.

Calling model.half() makes the parameters float16, so their gradients are float16, and unscale_()
rejects float16 gradients (torch/amp/grad_scaler.py). Do not call half() on the model: keep the
parameters in float32, and let autocast do the casting (docs: torch.autocast). A large frozen base
model may stay in float16. In that case, cast only the trained parameters, with p.data =
p.data.float() for each parameter p that requires a gradient.
"""

import torch


def make_scaler(device):
    if hasattr(torch.amp, "GradScaler"):
        return torch.amp.GradScaler(device)
    return torch.cuda.amp.GradScaler()  # before torch 2.3, for CUDA alone


def start(device):
    model = torch.nn.Linear(2, 1, bias=False).to(device)
    torch.nn.init.zeros_(model.weight)
    x, y = torch.tensor([[1.0, 2.0]], device=device), torch.zeros(1, 1, device=device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    # the gradient of the loss is the input
    return model, optimizer, make_scaler(device), x, y, lambda output, y: (output.float() - y).sum()


def reproduce(device):
    model, optimizer, scaler, x, y, criterion = start(device)
    try:
        model.half()
        loss = criterion(model(x.half()), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    except ValueError as error:
        return str(error)


def control(device):
    model, optimizer, scaler, x, y, criterion = start(device)
    for _ in range(3):  # the first steps may be skipped until the scale fits
        model.float()  # where it was loaded in float16
        with torch.autocast(x.device.type, torch.float16):
            loss = criterion(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
    if model.weight.dtype != torch.float32 or model.weight.tolist()[0][0] not in (-1, -2, -3):
        return f"the weight is {model.weight.tolist()}"


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
