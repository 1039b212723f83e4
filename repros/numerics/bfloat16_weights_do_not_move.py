# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Weights in bfloat16 do not move if the step is below 1/512 of the weight"
# kind = "silent"
# symptom = "100 steps of 0.001 leave the weight at 1.0"
# origin = "usage"
# documents = [
#     "https://docs.pytorch.org/docs/stable/amp.html",
# ]
# wrong = '''
# model = model.bfloat16()
# for x, y in loader:
#     loss = criterion(model(x.bfloat16()), y.bfloat16())
#     optimizer.zero_grad()
#     loss.backward()
#     optimizer.step()
# '''
# right = '''
# for x, y in loader:
#     with torch.autocast(x.device.type, dtype=torch.bfloat16):
#         prediction = model(x)
#     loss = criterion(prediction.float(), y)
#     optimizer.zero_grad()
#     loss.backward()
#     optimizer.step()
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=2.6" }
# ///
"""The gradient is 1 in every step, but the weight does not change. The loss stays constant.

Numbers in bfloat16 have 8 significant bits, so the numbers next to 1.0 are 0.996 and 1.008. The sum
of 1.0 and -0.001 is rounded back to 1.0. Every step below 1/512 of the weight is lost, whereas no
step above 1/256 is lost. For a larger weight, larger steps are lost, so the largest weights stop
training first. Such steps are lost with AdamW too. The weights move with a larger learning rate, or
if they are float32 and autocast makes the activations bfloat16 (docs: automatic mixed precision).
With autocast, the model must stay in float32. On the CPU in torch 1.13, LayerNorm and GroupNorm
reject the bfloat16 output of a Linear.
"""

import torch


def start(device):
    model = torch.nn.Linear(1, 1, bias=False).to(device)
    torch.nn.init.ones_(model.weight)
    data = torch.ones(1, 1, device=device)
    return model, lambda prediction, y: (prediction - y).sum(), [(data, 0 * data)] * 100


def check(model):
    weight = model.weight.item()
    if weight == 1:
        return "100 steps of 0.001 leave the weight at 1.0"
    if abs(weight - 0.9) > 0.01:
        return f"100 steps of 0.001 leave the weight at {weight}"


def reproduce(device):
    model, criterion, loader = start(device)
    model = model.bfloat16()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    for x, y in loader:
        loss = criterion(model(x.bfloat16()), y.bfloat16())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return check(model)


def control(device):
    model, criterion, loader = start(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    for x, y in loader:
        with torch.autocast(x.device.type, dtype=torch.bfloat16):
            prediction = model(x)
        loss = criterion(prediction.float(), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
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
