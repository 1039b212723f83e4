# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "With positive inputs, a ReLU after the last Linear outputs only 0 for many initializations"
# kind = "silent"
# symptom = "starts of 256 give 0 for every input"
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
# output = torch.nn.functional.softplus(layer(x))
# '''
# rule = "note"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""With one initialization, the model learns, but with another, it always predicts 0
(jvargasmu/population_estimation#68).

If a ReLU's input is negative, the gradient is 0. A last layer that happens to give negative numbers
for all inputs therefore gets no gradient (ProteomicsML/ProteomicsML#203). In this reproducer the
256 outputs of a Linear act as 256 initializations of one output, and the inputs are 1 and 2. With
inputs around 0, few or no outputs are dead, because some inputs give a positive output.

The output of softplus() is positive too, but for a negative input, its gradient shrinks gradually
instead of being 0. If the input is below -10 with SGD, or below -25 with Adam, hardly any gradient
is left. With inputs of 100, most initializations reach such values, so scale the inputs. Without an
activation, the prediction may be negative.
"""

import torch


def relu(layer, x):
    output = torch.relu(layer(x))
    return output


def softplus(layer, x):
    output = torch.nn.functional.softplus(layer(x))
    return output


def train(device, predict):
    layer = torch.nn.Linear(1, 256).to(device)
    x = torch.tensor([[1.0], [2.0]], device=device)
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.05)
    for _ in range(300):
        optimizer.zero_grad()
        output = predict(layer, x)
        (output - x).square().mean(0).sum().backward()
        optimizer.step()
    dead = ~output.bool().any(0) & ~layer.weight.grad.bool().any(1)
    if dead.any():
        return f"{int(dead.sum())} starts of 256 give 0 for every input"
    if (output - x).abs().max() > 0.3 or (output < 0).any():
        return "the predictions are not the targets"


def reproduce(device):
    return train(device, relu)


def control(device):
    return train(device, softplus)


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
