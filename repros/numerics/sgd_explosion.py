# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "SGD on unscaled features writes NaN into every weight within a few steps"
# kind = "silent"
# symptom = "weights are nan after step"
# keywords = ["loss explodes", "loss diverges to nan", "training unstable"]
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/46849"]
# documents = ["https://pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html"]
# wrong = '''
# TODO
# '''
# fix = "numerics.clip_or_skip"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The gradient of a squared error grows with the square of the feature scale; past a
threshold every SGD step overshoots further.

Clipping bounds the step and cures it. Half the learning rate, less dropout and Xavier
initialisation move the threshold by a small factor, if at all, and an isnan() check
stops the run after the weights are lost. Adam normalises its steps and never gets here.
"""

import torch


def train(device, clip=None, lr=1e-3, dropout=0.3, xavier=False):
    torch.manual_seed(0)
    first, last = torch.nn.Linear(4, 16), torch.nn.Linear(16, 1)
    model = torch.nn.Sequential(first, torch.nn.GELU(), torch.nn.Dropout(dropout), last).to(device)
    if xavier:
        torch.nn.init.xavier_uniform_(first.weight)
        torch.nn.init.xavier_uniform_(last.weight)
    x, y = torch.randn(32, 4).to(device) * 1000, torch.randn(32, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for step in range(1, 31):
        optimizer.zero_grad()
        (model(x) - y).square().mean().backward()
        if clip:
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        if first.weight.isnan().any():
            return f"weights are nan after step {step}"


def reproduce(device):
    return train(device)


def control(device):
    return train(device, clip=1.0)


def popular_fix(device):
    return train(device, lr=5e-4, dropout=0.15, xavier=True)


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
