# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The reported training loss is divided by the number of accumulation steps"
# kind = "silent"
# symptom = "reports 0.25 for a loss of 1.0"
# origin = "usage"
# reports = ["https://github.com/espnet/espnet/issues/5090"]
# documents = ["https://github.com/Modalities/modalities/pull/118"]
# wrong = '''
# loss = loss / WINDOW
# loss.backward()
# total += loss.item() / len(loader)
# '''
# right = '''
# (loss / WINDOW).backward()
# total += loss.item() / len(loader)
# '''
# rule = "note"
# when = "an accumulation window contains more than one batch, and the sum of the losses is divided by the number of batches"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The logged training loss of an epoch is the actual loss divided by the number of accumulation
steps. Therefore, the logged loss cannot be compared with the validation loss (espnet/espnet#5090).

The loss is divided before backward(), and the logging code sums the divided losses
(Modalities/modalities#118). If that sum is divided by the number of optimizer steps, and every
window is full, the result is already the mean loss, and the code needs no change.
"""

import torch

WINDOW = 4


def start(device):
    weight = torch.zeros(1, device=device, requires_grad=True)
    return weight, [torch.full((1,), float(n), device=device) for n in range(8)]


def check(weight, total):
    if total != 17.5:  # the mean of 0, 1, 4, 9, 16, 25, 36, 49
        return f"reports {total / 17.5} for a loss of 1.0"
    if weight.grad.item() != -14:  # the mean of each window, summed
        return f"the gradient is {weight.grad.item()} instead of -14"


def reproduce(device):
    (weight, loader), total = start(device), 0.0
    for x in loader:
        loss = (weight - x).square().sum()
        loss = loss / WINDOW
        loss.backward()
        total += loss.item() / len(loader)
    return check(weight, total)


def control(device):
    (weight, loader), total = start(device), 0.0
    for x in loader:
        loss = (weight - x).square().sum()
        (loss / WINDOW).backward()
        total += loss.item() / len(loader)
    return check(weight, total)


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
