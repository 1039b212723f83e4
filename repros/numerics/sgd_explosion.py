# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "SGD on unscaled features writes NaN into the weights within a few steps"
# kind = "silent"
# symptom = "weight is nan after step"
# messages = ["loss: nan\\b", "loss = nan\\b", "loss=nan\\b", "loss:nan\\b", "loss': nan\\b", "\\bloss nan\\b"]
# keywords = [
#     "loss explodes",
#     "loss explodes to nan",
#     "loss diverges to nan",
#     "training unstable",
#     "loss gets bigger and bigger, then inf and nan",
#     "linear regression gives nan with SGD",
#     "loss increases instead of decreasing every epoch",
#     "nan after a few iterations in regression",
#     "loss goes 1e5, 1e12, inf, nan",
#     "house price prediction prints nan loss",
#     "weights blow up within ten steps",
#     "works with a tiny learning rate, nan otherwise",
#     "loss is huge and growing each step",
#     "simple regression model diverges",
#     "predictions are nan after first few epochs",
#     "targets or inputs in the thousands, loss nan",
#     "MSE loss explodes on unnormalized data",
#     "gradient values become astronomically large",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/149827",
#     "https://forums.fast.ai/t/help-with-simple-celcius-to-f-linear-regression-using-pytorch-gradient-descent-autograd/18783",
# ]
# wrong = '''
# x = torch.linspace(-500, 500, 32, device=device)  # in the unit they came in
# optimizer = torch.optim.SGD([weight], lr=1e-3)
# '''
# right = '''
# x = (x - x.mean()) / x.std()
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Training a linear regression with SGD on features between -500 and 500 ends in NaN; on
the same features normalised (control) it does not.

Features this large make the squared error huge, and each step overshoots; the advice is
to normalise them (forums.fast.ai/t/18783).
"""

import torch


def train(device, normalise):
    x = torch.linspace(-500, 500, 32, device=device)
    y = 1.8 * x + 32  # Celsius to Fahrenheit
    if normalise:
        x = (x - x.mean()) / x.std()
    weight = torch.zeros((), device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1e-3)
    for step in range(1, 101):
        optimizer.zero_grad()
        (weight * x - y).square().mean().backward()
        optimizer.step()
        if weight.isnan():
            return f"weight is nan after step {step}"


def reproduce(device):
    return train(device, normalise=False)


def control(device):
    return train(device, normalise=True)


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
