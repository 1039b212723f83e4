# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A layer initialized with one constant learns as if it had a single unit"
# kind = "silent"
# symptom = "all 8 units are equal after 100 steps"
# keywords = [
#     "same output for every unit",
#     "network does not learn",
#     "symmetry breaking",
#     "zero initialization",
#     "constant output",
#     "all neurons in the hidden layer have identical weights",
#     "all filters of the conv layer look the same",
#     "initialized all weights to zero and nothing is learned",
#     "initialised weights with ones, accuracy stays low",
#     "wider hidden layer gives no improvement at all",
#     "loss decreases a bit and then hits a plateau",
#     "nn.init.constant_ on weights, network stuck",
#     "every hidden unit has the same activation",
#     "rows of the weight matrix stay equal during training",
#     "my from-scratch network learns like a linear model",
#     "torch.zeros or torch.ones for my custom weight parameter",
#     "hidden size 256 behaves as one neuron",
# ]
# origin = "usage"
# reports = ["https://github.com/wagonhelm/NaNmnist/issues/2"]
# documents = ["https://docs.pytorch.org/docs/stable/nn.init.html"]
# wrong = '''
# constant_(hidden.weight, 0.1)
# '''
# right = '''
# xavier_uniform_(hidden.weight)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The loss falls to that of a model with one hidden unit, and stays there.

Units with equal weights compute the same and receive the same gradient, so that every
step keeps them equal: the data cannot tell them apart (wagonhelm/NaNmnist#2).
"""

import torch
from torch.nn.init import constant_, xavier_uniform_


def train(device, initialize):
    hidden, head = torch.nn.Linear(2, 8).to(device), torch.nn.Linear(8, 1).to(device)
    for layer in (hidden, head):
        initialize(layer.weight)
        constant_(layer.bias, 0.1)
    optimizer = torch.optim.SGD([*hidden.parameters(), *head.parameters()], lr=0.1)
    x = torch.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], device=device)
    y = torch.tensor([[1.0], [1.0], [0.0]], device=device)
    for _ in range(100):
        optimizer.zero_grad()
        (head(hidden(x).tanh()) - y).square().mean().backward()
        optimizer.step()
    if torch.allclose(hidden.weight, hidden.weight[:1].expand(8, 2), atol=1e-3):
        return "all 8 units are equal after 100 steps"


def reproduce(device):
    return train(device, lambda weight: constant_(weight, 0.1))


def control(device):
    return train(device, xavier_uniform_)


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
