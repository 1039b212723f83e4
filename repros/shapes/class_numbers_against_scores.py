# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A loss that subtracts, such as mse_loss, fails if it gets class numbers instead of one-hot rows"
# kind = "error"
# symptom = "The size of tensor a \\(3\\) must match the size of tensor b \\(4\\) at non-singleton dimension 1"
# messages = [
#     "The size of tensor a \\(\\d{1,9}\\) must match the size of tensor b \\(\\d{1,9}\\) at non-singleton dimension \\d",
# ]
# origin = "usage"
# reports = ["https://github.com/open-mmlab/mmdetection/issues/4444"]
# documents = [
#     "https://github.com/Graylab/DL4Proteins-notebooks/issues/5",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.one_hot.html",
# ]
# wrong = '''
# loss = torch.nn.functional.mse_loss(scores, labels.float())  # [batch, classes] and [batch]
# '''
# right = '''
# labels = labels.long().reshape(len(scores))  # one per row
# target = torch.nn.functional.one_hot(labels, scores.shape[1]).to(scores.dtype)
# loss = torch.nn.functional.mse_loss(scores, target)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""One number in the message is the number of classes, and the other is the number of labels.

In mse_loss, broadcasting starts from the last dimension, so the class numbers of a batch are
aligned with the classes (aten/src/ATen/ExpandUtils.cpp). A focal loss that multiplies the scores by
the labels does the same (open-mmlab/mmdetection#4444). If there are as many labels as classes, or
only one label, no error is raised, but the loss is wrong. In this case, torch only warns that the
target size differs (torch/nn/functional.py).

A class number is not a quantity, so labels.unsqueeze(1) is not a fix. This call raises no error,
but its result is broadcast to every class: see loss/target_of_another_shape_broadcasts. Use one-hot
rows, or cross_entropy, which accepts the class numbers (docs: torch.nn.CrossEntropyLoss). On the
CPU, one_hot() raises an error for a label that is below 0 or not below the number of classes
(aten/src/ATen/native/Onehot.cpp). The corrected lines expect scores of shape [batch, classes].
"""

import warnings

import torch


def with_class_numbers(scores, labels):
    loss = torch.nn.functional.mse_loss(scores, labels.float())  # [batch, classes] and [batch]
    return loss


def with_one_hot_rows(scores, labels):
    labels = labels.long().reshape(len(scores))  # one per row
    target = torch.nn.functional.one_hot(labels, scores.shape[1]).to(scores.dtype)
    loss = torch.nn.functional.mse_loss(scores, target)
    return loss


def check(device, loss_of):
    for labels in ([2, 0, 1, 1], [2, 0, 1]):  # the second batch is as large as the classes
        scores = torch.eye(3, device=device)[labels]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of torch, about the two sizes
            try:
                loss = loss_of(scores + 0.5, torch.tensor(labels, device=device))
            except RuntimeError as error:
                return str(error)
        if abs(loss.item() - 0.25) > 1e-5:  # each score is 0.5 too high
            return f"the loss is {loss.item():.2f}"


def reproduce(device):
    return check(device, with_class_numbers)


def control(device):
    return check(device, with_one_hot_rows)


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
