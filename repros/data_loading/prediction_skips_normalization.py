# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A model trained on normalized rows gives wrong predictions for raw rows"
# kind = "silent"
# symptom = "instead of 7.0"
# origin = "usage"
# reports = [
#     "https://github.com/sha2nkt/deco/issues/22",
#     "https://github.com/jaehyunnn/ViTPose_pytorch/issues/17",
# ]
# wrong = '''
# mean, std = rows.mean(0), rows.std(0)
# model = train((rows - mean) / std, targets)
# prediction = model(x)
# '''
# right = '''
# mean, std = rows.mean(0), rows.std(0)
# model = train((rows - mean) / std, targets)
# prediction = model((x - mean) / std)  # save both with the model
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The training and validation losses are good, but a prediction script that was written later gives
wrong results.

A model does not store how its inputs were prepared, and a row in other units has the right shape
too. Every detail matters: the same numbers, the same order of the columns, and normalization once,
not twice. Do not use the mean and the standard deviation of the new rows instead of the training
rows' values. For a single row, the standard deviation is NaN. A column that is constant in training
has a standard deviation of 0: see numerics/constant_column_standardized.
"""

import torch


def train(rows, targets):
    """A linear model, fitted by least squares."""
    features = torch.cat([rows, torch.ones_like(rows[:, :1])], 1).cpu()
    weights = torch.linalg.lstsq(features, targets.cpu()).solution.to(rows.device)
    model = torch.nn.Linear(2, 1).to(rows.device)
    model.weight.data, model.bias.data = weights[:2].T.contiguous(), weights[2]
    return model


def start(device):
    rows = torch.tensor([[100.0, 1.0], [110.0, 3.0], [120.0, 2.0], [150.0, 5.0]], device=device)
    targets = rows[:, :1] / 100 + rows[:, 1:]  # the first column over 100, plus the second
    return rows, targets, torch.tensor([[300.0, 4.0]], device=device)


def check(prediction):
    if abs(prediction.item() - 7) > 0.01:  # 300 / 100 + 4
        return f"the prediction is {prediction.item():.1f} instead of 7.0"


def reproduce(device):
    with torch.random.fork_rng():
        rows, targets, x = start(device)
        mean, std = rows.mean(0), rows.std(0)
        model = train((rows - mean) / std, targets)
        prediction = model(x)
        return check(prediction)


def control(device):
    with torch.random.fork_rng():
        rows, targets, x = start(device)
        mean, std = rows.mean(0), rows.std(0)
        model = train((rows - mean) / std, targets)
        prediction = model((x - mean) / std)  # save both with the model
        return check(prediction)


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
