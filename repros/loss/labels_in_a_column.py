# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "cross_entropy raises 'multi-target not supported' for labels of shape [N, 1]"
# kind = "error"
# symptom = "multi-target not supported"
# messages = [
#     "target tensor expected, multi-target not supported",
#     "only batches of spatial targets supported",
# ]
# elsewhere = ["multi-target not supported at "]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/56542",
#     "https://github.com/zergtant/pytorch-handbook/issues/37",
#     "https://github.com/DeepRank/deeprank/issues/28",
#     "https://github.com/milesial/Pytorch-UNet/issues/93",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html",
#     "https://docs.pytorch.org/docs/stable/generated/torch.squeeze.html",
# ]
# wrong = '''
# loss = cross_entropy(logits, labels)  # [2, 3] and [2, 1]
# '''
# right = '''
# loss = cross_entropy(logits, labels.squeeze(1))
# '''
# affected = { cpu = ">=1.13" }
# ///
"""Labels must have the shape of the logits without the class dimension (docs:
torch.nn.CrossEntropyLoss). A column of labels counts as several targets per sample (pytorch#56542).
For a mask with channels, the message is "only batches of spatial targets supported"
(milesial/Pytorch-UNet#93). A column of float or int32 labels also needs long(). Convert a mask with
three color channels into a mask of class numbers first.

Calling labels.squeeze(), as advised in zergtant/pytorch-handbook#37, drops every dimension of size
1 (docs: torch.squeeze). If the last batch has only one sample, the batch dimension is dropped too,
and cross_entropy raises an error.
"""

import math

import torch
from torch.nn.functional import cross_entropy


def as_they_are(logits, labels):
    loss = cross_entropy(logits, labels)  # [2, 3] and [2, 1]
    return loss


def squeezed(logits, labels):
    loss = cross_entropy(logits, labels.squeeze(1))
    return loss


def check(device, loss_of, *size):
    labels = torch.zeros(3, 1, *size, dtype=torch.long, device=device)
    try:
        for batch in labels.split(2):  # of two samples, then of one
            loss = loss_of(torch.zeros(len(batch), 3, *size, device=device), batch)
    except (RuntimeError, ValueError) as error:
        return str(error)
    if abs(loss.item() - math.log(3)) > 1e-4:
        return f"the loss is {loss.item()}"


def reproduce(device):
    return check(device, as_they_are)


def control(device):
    return check(device, squeezed) or check(device, squeezed, 2, 2)


def messages(device):
    return check(device, as_they_are, 2, 2)


def popular_fix(device):
    return check(device, lambda logits, labels: cross_entropy(logits, labels.squeeze()))


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
