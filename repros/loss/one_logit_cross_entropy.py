# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "cross_entropy over a single logit is always 0.0, and the model never learns"
# kind = "silent"
# symptom = "loss and its gradient are zero"
# origin = "usage"
# reports = [
#     "https://github.com/huggingface/transformers/issues/45479",
#     "https://github.com/ultralytics/yolov3/issues/191",
#     "https://github.com/cnulab/RealNet/issues/101",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html",
#     "https://discuss.pytorch.org/t/two-output-nodes-for-binary-classification/58703",
# ]
# wrong = '''
# loss = cross_entropy(logits, labels)  # logits and labels: [batch, 1]
# '''
# right = '''
# from torch.nn.functional import binary_cross_entropy_with_logits
# loss = binary_cross_entropy_with_logits(logits, labels)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The softmax over one class is 1 and its logarithm is 0, whatever the model returns
(ultralytics/yolov3#191). Labels of 0.0 and 1.0 are accepted, because floats with the shape of the
logits count as class probabilities (docs: torch.nn.CrossEntropyLoss). If all class numbers are 0,
as in a mask of shape [N, H, W] without foreground, the loss is 0.0 as well. A class number of 1
causes an error. To use the corrected line with class numbers, convert them with
labels.to(logits.dtype).view_as(logits).

A head with one output needs binary_cross_entropy_with_logits. The labels have to be 0 and 1: with 1
and 2, or with -1 and 1, the loss falls below 0 without limit. The prediction is logits > 0, because
the argmax of a single output is always 0. In a detector whose objects all have the same class, a
loss of zero is right.
"""

import math

import torch
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy


def of_classes(logits, labels):
    loss = cross_entropy(logits, labels)  # logits and labels: [batch, 1]
    return loss


def binary(logits, labels):
    loss = binary_cross_entropy_with_logits(logits, labels)
    return loss


def check(device, loss_of):
    logits = torch.tensor([[3.0], [-2.0]], device=device, requires_grad=True)
    labels = torch.tensor([[0.0], [1.0]], device=device)
    loss = loss_of(logits, labels)
    loss.backward()
    if loss == 0 and not logits.grad.any():
        return "the loss and its gradient are zero"
    if not torch.allclose(logits.grad, (logits.sigmoid() - labels) / 2):
        return f"the gradient is {logits.grad.tolist()}"


def reproduce(device):
    return check(device, of_classes)


def control(device):
    logits, labels = torch.zeros(2, 1, 3, 3, device=device), torch.eye(3, device=device).long()
    labels = labels.expand(2, 3, 3)  # a mask
    loss = binary(logits, labels.to(logits.dtype).view_as(logits))
    if abs(loss.item() - math.log(2)) > 1e-4:
        return f"the loss of a mask is {loss.item()}"
    return check(device, binary)


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
