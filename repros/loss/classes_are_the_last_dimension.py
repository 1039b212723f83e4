# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "cross_entropy() of logits [N, T, C] takes T for the classes, silently if T equals C"
# kind = "silent"
# symptom = "a perfect model has a loss of \\d"
# origin = "design"
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html",
# ]
# wrong = '''
# loss = torch.nn.functional.cross_entropy(logits, labels)  # [N, T, C] and [N, T]
# '''
# right = '''
# loss = torch.nn.functional.cross_entropy(logits.movedim(-1, 1), labels)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The softmax runs over the positions of the sequence instead of the classes. No error is raised.

If the logits have more than two dimensions, dimension 1 holds the classes (docs:
torch.nn.CrossEntropyLoss). If the labels are class numbers, an error is raised unless the sequence
length equals the number of classes. If the targets are class probabilities in the logits' shape, no
error is raised at any length, and the targets need movedim(-1, 1) too. The call movedim(-1, 1)
works for two or more dimensions. For [N, T, C], calling flatten(0, 1) on logits and targets gives
the same mean. For logits of shape [N, C], the corrected line changes nothing.
"""

import torch


def start(device):
    labels = torch.tensor([[0, 0, 1]], device=device)
    return 9 * torch.nn.functional.one_hot(labels, 3).float(), labels


def check(loss):
    if loss > 0.1:
        return f"a perfect model has a loss of {loss.item():.1f}"


def reproduce(device):
    logits, labels = start(device)
    loss = torch.nn.functional.cross_entropy(logits, labels)  # [N, T, C] and [N, T]
    return check(loss)


def control(device):
    logits, labels = start(device)
    loss = torch.nn.functional.cross_entropy(logits.movedim(-1, 1), labels)
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
