# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "cross_entropy fails for sequence logits with the classes in the last dimension"
# kind = "error"
# symptom = "Expected target size \\[2, 4\\], got \\[2, 3\\]"
# messages = ["Expected target size \\[[\\d, ]{1,60}\\], got \\[[\\d, ]{1,60}\\]"]
# elsewhere = ["Expected target size \\(\\d{1,9}, \\d{1,9}\\), got torch\\.Size\\(\\["]
# origin = "design"
# reports = ["https://github.com/markhliu/DGAI/issues/7"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html",
#     "https://github.com/codertimo/BERT-pytorch/issues/35",
# ]
# wrong = '''
# loss = cross_entropy(logits, labels)  # of [batch, time, classes] and [batch, time]
# '''
# right = '''
# loss = cross_entropy(logits.transpose(1, 2), labels)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""If a language model, a tagger or a transformer returns logits of shape [batch, time, classes],
the loss raises an error. The second number of the expected size is the number of classes.

cross_entropy reads the classes from dimension 1, and all other dimensions must match the labels'
dimensions (docs: torch.nn.CrossEntropyLoss). The check is in aten/src/ATen/native/LossNLL.cpp. If
the sequence is as long as there are classes, no error is raised: the softmax runs over time, and
the loss is wrong.

Calling logits.flatten(0, 1) and labels.flatten() gives the same mean. However, if the logits have
the shape [time, batch, classes] and the labels [batch, time], logits and labels are silently
mismatched. A view() or reshape() to [batch, classes, time] also removes the error, but does not
move the axes: see modules/view_of_a_permuted_tensor. For images with the classes last, use
movedim(-1, 1). If the message ends with one number, as in got [2], there is one label per sequence.
In that case, the transpose does not help: reduce the logits to [batch, classes] first.
"""

import math

import torch
from torch.nn.functional import cross_entropy


def classes_last(logits, labels):
    loss = cross_entropy(logits, labels)  # of [batch, time, classes] and [batch, time]
    return loss


def classes_second(logits, labels):
    loss = cross_entropy(logits.transpose(1, 2), labels)
    return loss


def check(device, loss_of):
    symptoms = []
    for classes in (4, 3):  # the sequences have three elements
        labels = torch.tensor([[0, 1, 1], [2, 1, 0]], device=device)
        logits = torch.nn.functional.one_hot(labels, classes) * 2.0
        try:
            loss = loss_of(logits, labels).item()
        except RuntimeError as error:
            symptoms.append(str(error))
            continue
        if abs(loss - math.log(1 + (classes - 1) * math.exp(-2))) > 1e-4:
            symptoms.append(f"without an error for three classes, the loss is {loss:.2f}")
    return "; ".join(symptoms) or None


def reproduce(device):
    return check(device, classes_last)


def flat(logits, labels):
    return cross_entropy(logits.flatten(0, 1), labels.flatten())


def control(device):
    return check(device, classes_second) or check(device, flat)


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
