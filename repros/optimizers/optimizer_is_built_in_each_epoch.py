# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "An optimizer that is built in each epoch starts every epoch without momentum"
# kind = "silent"
# symptom = "three epochs moved the weight by 0.3, not 0.561"
# origin = "usage"
# reports = ["https://github.com/alan-turing-institute/deepsensor/issues/47"]
# documents = ["https://docs.pytorch.org/docs/stable/optim.html"]
# wrong = '''
# for epoch in range(3):
#     optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
#     for x, y in loader:
#         loss = criterion(model(x), y)
#         optimizer.zero_grad()
#         loss.backward()
#         optimizer.step()
# '''
# right = '''
# optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
# for epoch in range(3):
#     for x, y in loader:
#         loss = criterion(model(x), y)
#         optimizer.zero_grad()
#         loss.backward()
#         optimizer.step()
# '''
# rule = "warning"
# when = "the optimizer has momentum, as Adam does"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Training works, but SGD with momentum starts each epoch as slowly as the first. Adam starts each
epoch with a step that is as large as the learning rate.

The momentum, and the averages and step count of Adam, belong to the optimizer object and not to the
parameters, so a new object starts from zero. Often, a function that trains one epoch builds its own
optimizer: pass the optimizer to this function instead. The fewer steps an epoch has, the more
momentum is lost. SGD without momentum has no state and is not affected. A scheduler that was built
with an earlier optimizer no longer changes the rate (see
schedulers/scheduler_of_another_optimizer). To change the learning rate, set it in
optimizer.param_groups instead of building a new optimizer.
"""

import torch


def start(device):
    model = torch.nn.Linear(1, 1, bias=False).to(device)
    torch.nn.init.zeros_(model.weight)
    data = torch.ones(1, 1, device=device)
    return model, lambda prediction, y: (y - prediction).sum(), [(data, data)]


def check(model):
    moved = model.weight.item()
    if abs(moved - 0.1 * (1 + 1.9 + 2.71)) > 1e-5:  # the gradient is -1 in each step
        return f"three epochs moved the weight by {moved:.1f}, not 0.561"


def reproduce(device):
    model, criterion, loader = start(device)
    for epoch in range(3):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        for x, y in loader:
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return check(model)


def control(device):
    model, criterion, loader = start(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(3):
        for x, y in loader:
            loss = criterion(model(x), y)
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
