# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "cross_entropy() of multi-hot targets makes the labels of a row compete"
# kind = "silent"
# symptom = "each of two right labels has a probability of 0.5"
# origin = "usage"
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html",
# ]
# wrong = '''
# loss = torch.nn.functional.cross_entropy(logits, targets)  # several ones in a row
# '''
# right = '''
# loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, targets)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""If a row has two labels, the model can never be sure of both: at best, each gets a probability of
0.5.

Float targets of the logits' shape count as class probabilities (docs: torch.nn.CrossEntropyLoss),
and torch does not check that they sum to 1. A softmax distributes one probability over the classes.
With binary_cross_entropy_with_logits(), the model decides on each class separately, so predict with
logits > 0 instead of argmax(). If the model ends in a softmax, remove this layer, because its
outputs are all above 0. The mean of the loss is taken over all numbers, not over the rows, so the
loss and the gradients are smaller. For rare labels, pos_weight may help. Both functions reject
integer targets.
"""

import torch


def of_classes(logits, targets):
    loss = torch.nn.functional.cross_entropy(logits, targets)  # several ones in a row
    return loss


def of_labels(logits, targets):
    loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, targets)
    return loss


def check(device, loss_of, probabilities):
    targets = torch.tensor([[1.0, 1.0, 0.0]], device=device)
    logits = torch.zeros(1, 3, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([logits], lr=10.0)
    for _ in range(200):
        optimizer.zero_grad()
        loss_of(logits, targets).backward()
        optimizer.step()
    found = [round(p, 1) for p in probabilities(logits)[0].tolist()]
    if found != [1, 1, 0]:
        return f"each of two right labels has a probability of {found[0]}"


def reproduce(device):
    return check(device, of_classes, lambda logits: logits.softmax(1))


def control(device):
    return check(device, of_labels, torch.sigmoid)


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
