# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A batch whose labels are all ignore_index has a NaN loss"
# kind = "silent"
# symptom = "loss is nan"
# keywords = ["loss becomes nan", "padding only batch"]
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/108148"]
# documents = ["https://pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html"]
# wrong = '''
# TODO
# '''
# fix = "loss.masked_mean"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The mean over zero labels is 0/0. One such batch writes NaN into every weight.

reduction="sum" hides it: the loss is 0, all gradients are 0, and the step still decays
the weights.
"""

import torch
from torch.nn.functional import cross_entropy


def loss(device, labels, reduction="mean"):
    logits = torch.ones(2, 3, device=device, requires_grad=True)
    value = cross_entropy(logits, torch.tensor(labels, device=device), reduction=reduction)
    value.backward()
    return value, logits.grad


def reproduce(device):
    value, _ = loss(device, [-100, -100])
    if value.isnan():
        return f"loss is {value.item()}"


def control(device):
    value, _ = loss(device, [-100, 2])
    if value.isnan():
        return f"loss is {value.item()}"


def popular_fix(device):
    value, gradient = loss(device, [-100, -100], reduction="sum")
    if value == 0 and not gradient.any():
        return "the batch counts as a perfect one: loss 0, gradients 0"


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
