# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "On unscaled features, SGD with lr=0.1 can kill every ReLU, and then all rows get the same prediction"
# kind = "silent"
# symptom = "no ReLU is active for any row, and the accuracy is that of a guess"
# origin = "usage"
# documents = [
#     "https://stackoverflow.com/questions/73349963",
#     "https://github.com/Liam0205/liam0205.github.io/issues/262",
# ]
# wrong = '''
# optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
# train(model, optimizer, x, y)  # in the units they came in
# predicted = model(x).argmax(1)
# '''
# right = '''
# mean, std = x.mean(0), x.std(0).masked_fill(x.amax(0) == x.amin(0), 1)
# optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
# train(model, optimizer, (x - mean) / std, y)
# predicted = model((x - mean) / std).argmax(1)  # later inputs by the same mean and std
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""If the classes are balanced, the loss stops at ln(number of classes), and the input no longer
matters.

The gradient of a weight is proportional to its input, so features around 50 cause long steps. After
a step that is too long, the input of a ReLU is negative for every row. The ReLU then has no
gradient and never recovers. If some units survive, the accuracy varies between runs. Compute the
mean and the deviation once from all training rows, use them for the other rows too, and save them
with the model. In a batch of one row, subtracting the mean of the batch would turn the row into
zeros. In a regression, the loss explodes first and ends in NaN (see numerics/sgd_explosion) or at
the variance of the targets.
"""

import torch


def start(device):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        layers = torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3)
    centers = torch.tensor([[50.0, 34.0, 15.0], [59.0, 28.0, 43.0], [66.0, 30.0, 56.0]])
    y = torch.arange(60) % 3
    x = centers[y] + torch.sin(torch.arange(180.0).view(60, 3))
    return torch.nn.Sequential(*layers).to(device), x.to(device), y.to(device)


def train(model, optimizer, x, y):
    for _ in range(100):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    model.active = (model[:2](x) > 0).any().item()


def check(model, predicted, y):
    accuracy = (predicted == y).float().mean().item()
    if not model.active and accuracy < 0.4:
        return "no ReLU is active for any row, and the accuracy is that of a guess"
    if accuracy < 0.95:
        return f"the accuracy is {accuracy:.2f}"


def reproduce(device):
    model, x, y = start(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    train(model, optimizer, x, y)
    predicted = model(x).argmax(1)
    return check(model, predicted, y)


def control(device):
    model, x, y = start(device)
    mean, std = x.mean(0), x.std(0).masked_fill(x.amax(0) == x.amin(0), 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    train(model, optimizer, (x - mean) / std, y)
    predicted = model((x - mean) / std).argmax(1)
    return check(model, predicted, y)


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
