# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A loss class that is called with the output creates a module instead of the loss"
# kind = "error"
# symptom = "Boolean value of Tensor with more than one value is ambiguous"
# messages = [
#     "Boolean value of Tensor with more than one value is ambiguous",
#     "'\\w{1,30}Loss' object has no attribute 'backward'",
#     "delta must be a float or int, got: <class 'torch\\.Tensor'>",
# ]
# elsewhere = [
#     "bool value of Tensor with more than one value is ambiguous",
#     "bool value of Variable objects containing non-empty",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/imranparuk/speaker-recognition-3d-cnn/issues/2",
#     "https://github.com/Lightning-AI/pytorch-lightning/issues/501",
#     "https://github.com/nikhilroxtomar/DDANet/issues/1",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html"]
# wrong = '''
# loss = CrossEntropyLoss(output, target)
# '''
# right = '''
# criterion = CrossEntropyLoss()
# loss = criterion(output, target)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The traceback ends in __init__() of the loss and in torch/nn/_reduction.py, not in the
computation of the loss.

A class of torch.nn is created with its options and then called with tensors
(Lightning-AI/pytorch-lightning#501). The output is taken as the option weight and the target as
size_average, a deprecated option that is tested with `and`. A tensor of one element passes this
test, so a batch of one sample fails later: the module has no backward(). In newer releases,
HuberLoss checks its options, and reports the type of delta.

Create the criterion once, before the loop, with options such as weight= by name. The function
torch.nn.functional.cross_entropy(output, target) needs no object.
"""

import math

import torch
from torch.nn import CrossEntropyLoss


def start(device):
    return torch.tensor([[2.0, 0.0], [0.0, 2.0]], device=device), torch.tensor(
        [0, 1], device=device
    )


def reproduce(device):
    output, target = start(device)
    try:
        loss = CrossEntropyLoss(output, target)
    except RuntimeError as error:
        return str(error)
    return f"the loss is {loss}"


def control(device):
    output, target = start(device)
    criterion = CrossEntropyLoss()
    loss = criterion(output, target)
    if abs(loss.item() - math.log(1 + math.exp(-2))) > 1e-4:
        return f"the loss is {loss.item()}"


def messages(device):
    texts, one = [], torch.ones(1, device=device)
    for loss in (torch.nn.MSELoss, torch.nn.HuberLoss):
        try:
            loss(one, one).backward()
        except (AttributeError, TypeError) as error:
            texts.append(str(error))
    return "\n".join(texts)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
