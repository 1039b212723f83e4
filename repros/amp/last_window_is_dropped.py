# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Gradient accumulation drops the last partial window and leaks it into the next epoch"
# kind = "silent"
# symptom = "weight moved 1 instead of 2, a gradient of 0.5 is left"
# keywords = [
#     "gradient accumulation last batches ignored",
#     "fewer optimizer steps than expected",
#     "final batches of each epoch have no effect",
#     "number of updates is lower than batches divided by accumulation",
#     "short dataset with accumulation does not train at all",
#     "last samples of the epoch are never learned",
#     "gradients left over at the end of an epoch",
#     "accumulation steps larger than number of batches, no learning",
#     "first update of an epoch is larger than usual",
#     "scheduler ends too late, total steps do not match",
#     "weights stay the same when accumulation exceeds the loader length",
#     "remainder batches ignored at epoch end",
#     "loss spikes at the beginning of each epoch with accumulation",
# ]
# origin = "usage"
# reports = ["https://github.com/timoschick/pet/issues/36"]
# documents = [
#     "https://github.com/meta-pytorch/torchtune/pull/2745",
#     "https://github.com/Lightning-AI/pytorch-lightning/issues/19987",
# ]
# wrong = '''
# (loss / WINDOW).backward()
# if number % WINDOW == 0:
#     optimizer.step()
# '''
# fix = "amp.windows"
# rule = "warning"
# when = "the window is above 1 and the last batch does not end one"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The batches after the last full window of an epoch take no step (timoschick/pet#36).

`number % WINDOW == 0` is never true for them. Their gradients stay, and the first step
of the next epoch is taken with the sum of both (meta-pytorch/torchtune#2745).

Stepping at the last batch too (advised in timoschick/pet#36) makes that step too short:
its gradients are still divided by the full window
(Lightning-AI/pytorch-lightning#19987).
"""

import torch

WINDOW = 4


def epoch(device, batches, step_at_end=False):
    weight = torch.zeros(1, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    for number in range(1, batches + 1):
        loss = weight.sum()  # its gradient is 1, and so is the mean over any window
        (loss / WINDOW).backward()
        if number % WINDOW == 0 or (step_at_end and number == batches):
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
    moved, left = -weight.item(), 0.0 if weight.grad is None else weight.grad.item()
    if moved != 2:
        return f"weight moved {moved:g} instead of 2, a gradient of {left:g} is left"


def reproduce(device):
    return epoch(device, batches=6)


def control(device):
    return epoch(device, batches=8)


def popular_fix(device):
    return epoch(device, batches=6, step_at_end=True)


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
