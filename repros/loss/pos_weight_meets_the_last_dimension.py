# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "pos_weight with one number per class is applied to image columns, not to channels"
# kind = "silent"
# symptom = "columns are weighted"
# origin = "design"
# reports = ["https://github.com/pytorch/pytorch/issues/82496"]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/101567",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.BCEWithLogitsLoss.html",
# ]
# wrong = '''
# pos_weight = torch.tensor([1.0, 9.0], device=masks.device)
# loss = binary_cross_entropy_with_logits(logits, masks, pos_weight=pos_weight)
# '''
# right = '''
# pos_weight = torch.tensor([1.0, 9.0], device=masks.device)
# pos_weight = pos_weight.view(-1, *[1] * (masks.dim() - 2))  # the classes are dimension 1
# loss = binary_cross_entropy_with_logits(logits, masks, pos_weight=pos_weight)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The weights broadcast against [batch, channel, row, column] from the right (pytorch#101567). If
the image is as wide as there are classes, no error is raised. If the width is 1, the error is
"doesn't match the broadcast shape". For any other width, it is "The size of tensor a must match the
size of tensor b" (pytorch#82496). The argument weight= broadcasts in the same way and needs the
same shape. If an image has no batch dimension, the classes are dimension 0, so use
pos_weight.view(-1, 1, 1).
"""

import math

import torch
from torch.nn.functional import binary_cross_entropy_with_logits


def check(loss):
    # log 2 for each number, 9 times that for the two of the second class
    expected = math.log(2) * (6 + 9 * 2) / 8
    if abs(loss.item() - expected) > 1e-3:
        return f"columns are weighted: the loss is {loss.item():.2f} instead of {expected:.2f}"


def start(device):
    masks = torch.zeros(1, 2, 2, 2, device=device)
    masks[:, 1, :, 0] = 1.0  # the second class is in the first column
    return torch.zeros_like(masks), masks


def reproduce(device):
    logits, masks = start(device)
    pos_weight = torch.tensor([1.0, 9.0], device=masks.device)
    loss = binary_cross_entropy_with_logits(logits, masks, pos_weight=pos_weight)
    return check(loss)


def control(device):
    logits, masks = start(device)
    pos_weight = torch.tensor([1.0, 9.0], device=masks.device)
    pos_weight = pos_weight.view(-1, *[1] * (masks.dim() - 2))  # the classes are dimension 1
    loss = binary_cross_entropy_with_logits(logits, masks, pos_weight=pos_weight)
    return check(loss)


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
