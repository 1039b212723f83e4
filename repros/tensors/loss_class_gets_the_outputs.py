# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "nn.CrossEntropyLoss(outputs, labels) fails, because the loss must be created first"
# kind = "error"
# symptom = "Boolean value of Tensor with more than one value is ambiguous"
# messages = ["Boolean value of Tensor with more than one value is ambiguous"]
# elsewhere = ["bool value of Tensor with more than one value is ambiguous"]
# origin = "usage"
# reports = [
#     "https://github.com/Lightning-AI/pytorch-lightning/issues/501",
#     "https://github.com/imranparuk/speaker-recognition-3d-cnn/issues/2",
#     "https://github.com/nikhilroxtomar/DDANet/issues/1",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html"]
# wrong = '''
# loss = nn.CrossEntropyLoss(outputs, labels)
# '''
# right = '''
# criterion = nn.CrossEntropyLoss()
# loss = criterion(outputs, labels)
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The first step fails at the loss, with a message about truth values and a traceback that ends in
torch/nn/_reduction.py.

The class's arguments are options: the outputs are taken as weight, and the labels as the deprecated
size_average, whose truth value is tested (torch/nn/_reduction.py). First create the loss, then call
it. nn.MSELoss, nn.L1Loss, nn.BCELoss and nn.BCEWithLogitsLoss fail in the same way. Lower-case
functions, such as nn.functional.cross_entropy(outputs, labels), take the tensors directly.

For a batch with one label, this line raises no error, but the result is a module, which has no
backward(). Changing the dtypes, as suggested in nikhilroxtomar/DDANet#1, does not help.
"""

import torch
from torch import nn


def by_the_class(outputs, labels):
    loss = nn.CrossEntropyLoss(outputs, labels)
    return loss


def by_the_object(outputs, labels):
    criterion = nn.CrossEntropyLoss()
    loss = criterion(outputs, labels)
    return loss


def train(device, loss_of, dtype=torch.int64):
    outputs = torch.zeros(2, 4, device=device, requires_grad=True)
    labels = torch.tensor([1, 3], device=device).to(dtype)
    try:
        loss = loss_of(outputs, labels)
        loss.backward()
    except RuntimeError as error:
        return str(error)
    expected = torch.full((2, 4), 0.125)
    expected[[0, 1], [1, 3]] -= 0.5
    if not torch.allclose(outputs.grad.cpu(), expected):
        return f"the gradient is {outputs.grad.tolist()}"


def reproduce(device):
    return train(device, by_the_class)


def control(device):
    return train(device, by_the_object)


def messages(device):
    losses, texts = (nn.MSELoss, nn.L1Loss, nn.BCELoss, nn.BCEWithLogitsLoss), []
    for loss in losses:
        try:
            loss(torch.zeros(2, device=device), torch.zeros(2, device=device))
        except RuntimeError as error:
            texts.append(str(error))
    return "\n".join(texts)


def popular_fix(device):
    return train(device, by_the_class, torch.float32)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
