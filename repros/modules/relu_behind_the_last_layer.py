# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A model with a ReLU behind its last layer can predict zero for every input and never learn"
# kind = "silent"
# symptom = "every input gives 0.0, and no gradient is left"
# keywords = [
#     "model predicts the same value for every input",
#     "dying ReLU",
#     "output is always zero",
#     "sometimes the training does not start at all",
#     "constant prediction in regression",
#     "dead ReLU at the output",
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
#     "https://github.com/ProteomicsML/ProteomicsML/pull/203",
#     "https://github.com/pytorch/tutorials/issues/1526",
# ]
# wrong = '''
# output = torch.relu(layer(x))
# '''
# right = '''
# output = layer(x)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""One start learns and the next one predicts 0 for good (jvargasmu/population_estimation#68).

Where the input of a ReLU is negative its gradient is 0: a last layer that happens to give
negative numbers for all inputs is never moved (ProteomicsML/ProteomicsML#203).
"""

import torch


def train(device, activation):
    layer = torch.nn.Linear(1, 1).to(device)
    torch.nn.init.constant_(layer.weight, -1.0)  # an unlucky start
    torch.nn.init.zeros_(layer.bias)
    x = torch.tensor([[1.0], [2.0]], device=device)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(100):
        optimizer.zero_grad()
        output = activation(layer(x))
        (output - x).square().mean().backward()
        optimizer.step()
    if not output.any() and not layer.weight.grad.any():
        return "every input gives 0.0, and no gradient is left"


def reproduce(device):
    return train(device, torch.relu)


def control(device):
    return train(device, lambda output: output)


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
