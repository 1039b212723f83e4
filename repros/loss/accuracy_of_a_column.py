# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Comparing predictions of shape [N, 1] with labels of shape [N] compares every pair"
# kind = "silent"
# symptom = "accuracy 0.5 for predictions that are all right"
# origin = "usage"
# documents = [
#     "https://docs.pytorch.org/docs/stable/notes/broadcasting.html",
# ]
# wrong = '''
# accuracy = (predicted == labels).float().mean()  # [N, 1] and [N]
# '''
# right = '''
# accuracy = (predicted.view_as(labels) == labels).float().mean()
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""All predictions are right, but the accuracy is 0.5, because the comparison yields a square
matrix.

The operator == broadcasts [N, 1] and [N] to [N, N] (docs: broadcasting semantics). The mean over
all pairs depends on how frequent each class is among the predictions and among the labels, but not
on which rows are right. The accuracy therefore hardly changes while the model learns. The sum() of
the comparison can exceed the number of rows. view_as() gives the predictions the shape of the
labels, and raises an error if the numbers of elements differ. A loss of tensors with these shapes
has the same fault (see loss/target_of_another_shape_broadcasts).
"""

import torch


def start(device):
    labels = torch.tensor([0, 1, 0, 1], device=device)
    return labels[:, None], labels


def check(accuracy):
    if accuracy != 1:
        return f"accuracy {accuracy.item()} for predictions that are all right"


def reproduce(device):
    predicted, labels = start(device)
    accuracy = (predicted == labels).float().mean()  # [N, 1] and [N]
    return check(accuracy)


def control(device):
    predicted, labels = start(device)
    accuracy = (predicted.view_as(labels) == labels).float().mean()
    return check(accuracy)


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
