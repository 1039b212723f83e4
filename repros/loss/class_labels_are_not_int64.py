# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "cross_entropy fails on the CPU for float32 or int32 class labels"
# kind = "error"
# symptom = "expected scalar type Long but found|expected target dtype to be Long or Byte"
# messages = [
#     "expected scalar type Long but found \\w{3,10}",
#     "expected target dtype to be Long or Byte, but got \\w{3,10}",
# ]
# elsewhere = [
#     "nll_loss\\w{0,60}. not implemented for .(?:Int|Float|Double|Short|Bool|Char).",
#     "Expected object of scalar type Long but got scalar type \\w{3,10} for argument #2 .target",
#     "Expected object of type \\S{0,20}LongTensor but found type \\S{3,30}Tensor for argument #2 .target",
#     "Expected tensor for argument #2 .target. to have scalar type Long",
# ]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/103813",
#     "https://github.com/rasbt/machine-learning-book/issues/192",
#     "https://github.com/dnn-security/Watermark-Robustness-Toolbox/issues/2",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html",
#     "https://docs.pytorch.org/vision/stable/generated/torchvision.transforms.ToTensor.html",
#     "https://github.com/wenet-e2e/wekws/pull/141",
# ]
# wrong = '''
# loss = cross_entropy(logits, labels)  # of torch.Tensor([0, 2, 1]), int32 or float32
# '''
# right = '''
# classes = labels.long()
# assert (classes == labels).all(), "NaN, or fractions: ToTensor() divides a mask by 255"
# loss = cross_entropy(logits, classes)
# '''
# affected = { cpu = ">=1.13" }
# ///
"""A label is an index, and indices are int64 (docs: torch.nn.CrossEntropyLoss). However,
torch.Tensor() turns integers into float32, and data frames (rasbt/machine-learning-book#192) and
masks (pytorch#103813) can contain int32 and float32 labels.

Because long() truncates fractions, it can hide a mistake. A mask from ToTensor() holds its class
numbers divided by 255, so every class number below 255 becomes class 0, and training runs without
an error. First multiply the mask by 255 and round() it, or read it as uint8 (docs:
torchvision.transforms.ToTensor). A mask of 0 and 255 needs neither, because the division turns it
into 0 and 1. In a data frame with missing labels, the labels are float64 and some are NaN, so drop
the rows without a label.
"""

import math

import torch
from torch.nn.functional import cross_entropy


def as_they_are(logits, labels):
    loss = cross_entropy(logits, labels)
    return loss


def as_integers(logits, labels):
    classes = labels.long()
    assert (classes == labels).all(), "NaN, or fractions: ToTensor() divides a mask by 255"
    loss = cross_entropy(logits, classes)
    return loss


def check(device, loss_of, dtype):
    logits = torch.tensor([[2.0, 0.0, 0.0]], device=device)
    labels = torch.tensor([1], device=device).to(dtype)
    try:
        loss = loss_of(logits, labels)
    except RuntimeError as error:
        return str(error)
    if abs(loss.item() - math.log(math.exp(2) + 2)) > 1e-4:
        return f"the loss is {loss.item():.2f}"


def reproduce(device):
    return check(device, as_they_are, torch.float32)


def control(device):
    return check(device, as_they_are, torch.int64)


def right(device):
    try:
        as_integers(torch.zeros(1, 3, device=device), torch.tensor([1 / 255], device=device))
    except AssertionError:
        return check(device, as_integers, torch.float32) or check(device, as_integers, torch.int32)
    return "the class of 1 / 255 is taken for 0"


def messages(device):
    dtypes = torch.int32, torch.int16, torch.int8, torch.bool, torch.float16, torch.float64
    return "\n".join(check(device, as_they_are, dtype) for dtype in dtypes)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, right, messages):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
