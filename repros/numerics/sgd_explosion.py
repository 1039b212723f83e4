# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "SGD on unscaled features turns the weights into NaN within a few steps"
# kind = "silent"
# symptom = "weight is nan after step"
# elsewhere = [
#     "loss: nan\\b",
#     "loss = nan\\b",
#     "loss=nan\\b",
#     "loss:nan\\b",
#     "loss': nan\\b",
#     "\\bloss nan\\b",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/149827",
#     "https://forums.fast.ai/t/help-with-simple-celcius-to-f-linear-regression-using-pytorch-gradient-descent-autograd/18783",
# ]
# wrong = '''
# optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
# train(model, optimizer, x, y)  # in the units they came in
# predicted = model(x)
# '''
# right = '''
# mean, std = x.mean(0), x.std(0).masked_fill(x.amax(0) == x.amin(0), 1)
# middle, scale = y.mean(0), y.std(0).masked_fill(y.amax(0) == y.amin(0), 1)
# optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
# train(model, optimizer, (x - mean) / std, (y - middle) / scale)
# predicted = model((x - mean) / std) * scale + middle  # later inputs by the same four
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A linear regression trained with SGD on features between -500 and 500 ends in NaN, but not if the
same features are normalized (control).

Because the features are so large, the squared error is huge, and each step overshoots. The usual
advice is to normalize the features (forums.fast.ai/t/18783). Each column needs its own mean and
standard deviation. With one standard deviation for all columns, a small feature next to a large
feature stays small, and the model learns nothing from it. Targets in the thousands have the same
effect on a two-layer network, however small its features are. If hundreds of columns rise and fall
together, their steps add up, so this kind of data also needs a smaller lr. If a column has a few
outliers, or is 1 in only one row of a thousand, small batches need a smaller lr too. Even a single
standardized value of 30 makes a step overshoot. Incomes, for example, have outliers, but training
on their logarithm works well.
"""

import torch


def start(device):
    x = torch.stack([torch.linspace(-500, 500, 32), torch.linspace(-1, 1, 32).square()], 1)
    y = 1.8 * x[:, :1] - 40 * x[:, 1:] + 32
    return torch.nn.Linear(2, 1).to(device), x.to(device), y.to(device)


def train(model, optimizer, x, y):
    for step in range(1, 1001):
        optimizer.zero_grad()
        loss = (model(x) - y).square().mean()
        loss.backward()
        optimizer.step()
        if model.weight.isnan().any():
            raise ArithmeticError(f"weight is nan after step {step}")


def check(predicted, y):
    off = (predicted - y).abs().max().item()  # of up to 900
    if not off < 1:
        return f"the predictions are off by up to {off:.4g}"


def reproduce(device):
    model, x, y = start(device)
    try:
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
        train(model, optimizer, x, y)  # in the units they came in
        predicted = model(x)
    except ArithmeticError as error:
        return str(error)
    return check(predicted, y)


def control(device):
    model, x, y = start(device)
    mean, std = x.mean(0), x.std(0).masked_fill(x.amax(0) == x.amin(0), 1)
    middle, scale = y.mean(0), y.std(0).masked_fill(y.amax(0) == y.amin(0), 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    train(model, optimizer, (x - mean) / std, (y - middle) / scale)
    predicted = model((x - mean) / std) * scale + middle  # later inputs by the same four
    return check(predicted, y)


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
