# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Without zero_grad(), each step also applies the gradients of all earlier steps"
# kind = "silent"
# symptom = "three steps of 1 ended at 6, not 3"
# origin = "design"
# reports = [
#     "https://github.com/yastrebksv/TennisCourtDetector/issues/7",
#     "https://github.com/wenet-e2e/wekws/issues/72",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/issues/47175",
#     "https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html",
# ]
# wrong = '''
# for x, y in loader:
#     loss_fn(model(x), y).backward()
#     optimizer.step()
# '''
# right = '''
# for x, y in loader:
#     optimizer.zero_grad()
#     loss_fn(model(x), y).backward()
#     optimizer.step()
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Each step silently uses the sum of all gradients so far. On a parabola, SGD oscillates around the
minimum forever. With a momentum of 0.9, the weight grows to inf. A small network may still learn
with SGD alone.

To let users add up losses, backward() adds to .grad, and step() does not clear it. Users have asked
for a warning (pytorch#47175).
"""

import torch


def start(device):
    model = torch.nn.Linear(1, 1, bias=False, device=device)
    torch.nn.init.zeros_(model.weight)
    one = torch.ones(1, 1, device=device)
    loader = 3 * [(one, 10 * one)]  # the gradient is -1 up to a weight of 10
    return model, loader, torch.nn.L1Loss(), torch.optim.SGD(model.parameters(), lr=1.0)


def check(model):
    if model.weight.item() != 3:
        return f"three steps of 1 ended at {model.weight.item():g}, not 3"


def reproduce(device):
    model, loader, loss_fn, optimizer = start(device)
    for x, y in loader:
        loss_fn(model(x), y).backward()
        optimizer.step()
    return check(model)


def control(device):
    model, loader, loss_fn, optimizer = start(device)
    for x, y in loader:
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
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
