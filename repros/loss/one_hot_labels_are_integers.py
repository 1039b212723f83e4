# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "cross_entropy treats integer one-hot labels as class probabilities and fails"
# kind = "error"
# symptom = "Expected floating point type for target with class probabilities, got Long"
# messages = ["Expected floating point type for target with class probabilities, got \\w{3,10}"]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/1258",
# ]
# documents = [
#     "https://github.com/scikit-adaptation/skada/pull/273",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.one_hot.html",
# ]
# wrong = '''
# loss = cross_entropy(logits, target)  # of one_hot() or get_dummies()
# '''
# right = '''
# loss = cross_entropy(logits, target.to(logits.dtype))
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A target with the shape of the logits holds probabilities, which have to be floats (docs:
torch.nn.CrossEntropyLoss), but one_hot() returns int64. The loss is the same as with plain labels.
The exception is a loss with class weights, whose mean is then taken over the samples, not over the
weights. For float targets, an ignore_index of 0 or more raises an error: use the plain labels that
were passed to one_hot(). Do not compute them with argmax(1), which returns class 0 for a row
without a 1, such as a void pixel. Before torch accepted probabilities, the error was "multi-target
not supported" (pytorch#1258).

Dimension 1 holds the classes. If the logits and targets of tokens have shape [N, T, C], the loss
silently treats T as the classes, so flatten both to [N * T, C]. If a row can contain several ones,
use binary_cross_entropy_with_logits.
"""

import torch
from torch.nn.functional import cross_entropy, one_hot


def as_it_is(logits, target):
    loss = cross_entropy(logits, target)  # of one_hot() or get_dummies()
    return loss


def as_floats(logits, target):
    loss = cross_entropy(logits, target.to(logits.dtype))
    return loss


def check(device, loss_of):
    logits = torch.eye(3, device=device)
    labels = torch.tensor([0, 2, 1], device=device)
    try:
        loss = loss_of(logits, one_hot(labels, 3))
    except RuntimeError as error:
        return str(error)
    if not loss.isclose(cross_entropy(logits, labels)):
        return "the losses differ"


def reproduce(device):
    return check(device, as_it_is)


def control(device):
    return check(device, as_floats)


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
