# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A layer whose units start with equal weights learns like a single unit or a few units"
# kind = "silent"
# symptom = "the four hidden units are equal after 100 steps"
# origin = "usage"
# documents = [
#     "https://intvml.com/ml0033-all-zeros-init/",
# ]
# wrong = '''
# for layer in model:
#     if isinstance(layer, torch.nn.Linear):
#         torch.nn.init.constant_(layer.weight, 0.1)
#         torch.nn.init.zeros_(layer.bias)
# '''
# right = '''
# for layer in model:
#     if isinstance(layer, torch.nn.Linear):
#         torch.nn.init.kaiming_uniform_(layer.weight, nonlinearity="relu")
#         torch.nn.init.zeros_(layer.bias)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The loss falls at first and then stays at the value that a network with one hidden unit would
reach.

Units with the same weights have the same output and get the same gradient, and so the same update,
whatever the optimizer. Rounding can separate some units in wider layers: after 500 steps of Adam,
33 units had 3 to 6 different weights. Random weights make the units differ. Random biases,
different weights in the next layer, and dropout between the layers have the same effect. Zeros are
worse: with ReLU, the gradients of all weights are zero, and only the last bias learns. Zero biases
are fine. Only the last layer may start at zero, because its inputs differ. The loop in the
corrected code finds only the direct layers of a Sequential. For other models, use model.modules().
"""

import torch


def start(device):
    layers = torch.nn.Linear(2, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1)
    return torch.nn.Sequential(*layers).to(device)


def check(device, model):
    x = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], device=device)
    y = torch.tensor([[0.0], [1.0], [1.0], [0.0]], device=device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(100):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    if model[0].weight.equal(model[0].weight[:1].expand(4, 2)):
        return "the four hidden units are equal after 100 steps"


def reproduce(device):
    model = start(device)
    for layer in model:
        if isinstance(layer, torch.nn.Linear):
            torch.nn.init.constant_(layer.weight, 0.1)
            torch.nn.init.zeros_(layer.bias)
    return check(device, model)


def control(device):
    model = start(device)
    for layer in model:
        if isinstance(layer, torch.nn.Linear):
            torch.nn.init.kaiming_uniform_(layer.weight, nonlinearity="relu")
            torch.nn.init.zeros_(layer.bias)
    return check(device, model)


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
