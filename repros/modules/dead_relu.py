# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "After one step that is too large a ReLU is dead: the same output for every input, for good"
# kind = "silent"
# symptom = "every input gives 0.0, and no gradient is left"
# keywords = [
#     "model predicts the same value for every input",
#     "dying ReLU",
#     "output is always zero",
#     "loss stuck after a spike",
#     "constant prediction",
#     "loss jumped once and then became completely flat",
#     "all activations are zeros after some iterations",
#     "predictions all zero, gradients all zero",
#     "training was fine until a spike, now no progress",
#     "network dies at high learning rate and never recovers",
#     "output constant after a few epochs, weights stop changing",
#     "regression net outputs only the bias",
#     "weights no longer change, grad is exactly 0",
#     "layer output is full of zeros for any image",
#     "agent outputs the same Q value after the loss exploded",
#     "lowering the learning rate later does not bring it back",
#     "model collapsed to a constant in the middle of training",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/jvargasmu/population_estimation/issues/68",
# ]
# documents = [
#     "https://github.com/keras-team/keras/issues/7057",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.LeakyReLU.html",
# ]
# wrong = '''
# optimizer = SGD(layer.parameters(), lr=10.0)
# '''
# right = '''
# optimizer = SGD(layer.parameters(), lr=0.1)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Training looks alive up to a jump of the loss, and then nothing changes any more.

A large step makes weight and bias so negative that the ReLU is 0 for all inputs, and
where it is 0 its gradient is 0 too: no later step brings it back
(keras-team/keras#7057, jvargasmu/population_estimation#68).
"""

import torch
from torch.optim import SGD


def train(device, lr):
    layer = torch.nn.Linear(1, 1).to(device)
    torch.nn.init.ones_(layer.weight)
    x = torch.tensor([[1.0], [2.0]], device=device)
    optimizer = SGD(layer.parameters(), lr=lr)
    for _ in range(20):
        optimizer.zero_grad()
        output = layer(x).relu()
        (output - x / 2).square().mean().backward()
        optimizer.step()
    if not output.any() and not layer.weight.grad.any():
        return "every input gives 0.0, and no gradient is left"


def reproduce(device):
    return train(device, lr=10.0)


def control(device):
    return train(device, lr=0.1)


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
