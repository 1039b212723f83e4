# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Gradient accumulation drops the last partial window, and its gradients leak into the next epoch"
# kind = "silent"
# symptom = "weight moved 1 instead of 2, a gradient of 0.5 is left"
# origin = "usage"
# reports = ["https://github.com/timoschick/pet/issues/36"]
# documents = [
#     "https://github.com/meta-pytorch/torchtune/pull/2745",
#     "https://github.com/Lightning-AI/pytorch-lightning/issues/19987",
# ]
# wrong = '''
# for i, (x, y) in enumerate(loader):
#     (criterion(model(x), y) / WINDOW).backward()
#     if (i + 1) % WINDOW == 0:
#         optimizer.step()
#         optimizer.zero_grad()
# '''
# right = '''
# for i, (x, y) in enumerate(loader):
#     size = min(WINDOW, len(loader) - i // WINDOW * WINDOW)  # the last one may be smaller
#     (criterion(model(x), y) / size).backward()
#     if (i + 1) % WINDOW == 0 or i + 1 == len(loader):
#         optimizer.step()
#         optimizer.zero_grad()
# '''
# fix = "amp.windows"
# use = '''
# from amp import windows
# for window in windows(loader, WINDOW):
#     for (x, y), share, last in window:
#         (criterion(model(x), y) * share).backward()
#     optimizer.step()
#     optimizer.zero_grad()
# '''
# choice = "Use the lines without the fix if len(loader) is the true number of batches. Use the fix if the loader has no length, if its length is a guess (as for an IterableDataset with workers), or if the batches differ in size. In the last case, also pass weight="
# rule = "warning"
# when = "the window contains more than one batch, and the last batch does not complete a window"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""No optimizer step follows the batches after the last full window of an epoch (timoschick/pet#36).

The condition `(i + 1) % WINDOW == 0` is never true for these batches. Their gradients remain, and
the first step of the next epoch uses the sum of the old and the new gradients
(meta-pytorch/torchtune#2745). After the last epoch, or if the next epoch begins with zero_grad(),
these gradients are lost.

The advice in timoschick/pet#36 is to step after the last batch too. With SGD, this step is too
short, because its gradients are still divided by the full window
(Lightning-AI/pytorch-lightning#19987). With Adam, after 200 full steps, the step shrinks to about
0.95 of its length for half a window, and to 0.92 for an eighth of a window. Adam's averages also
retain the small gradient.

The corrected code relies on len(loader). With several workers, the length of an IterableDataset is
only a guess. If more batches arrive, `size` becomes too small, then 0 or negative, and the weights
become infinite. If fewer batches arrive, the last step is missing again.

The partial window adds a step to each epoch, so a schedule with a fixed length needs
ceil(len(loader) / WINDOW) steps per epoch. With len(loader) // WINDOW, OneCycleLR raises an error.
"""

import torch

WINDOW = 4


def start(device, batches):
    model = torch.nn.Linear(1, 1, bias=False).to(device)
    torch.nn.init.zeros_(model.weight)
    loader = [(torch.ones(2, 1, device=device), None)] * batches
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    return model, loader, optimizer, lambda output, _: output.mean()  # its gradient is 1


def check(model):
    moved, grad = -model.weight.item(), model.weight.grad
    left = 0.0 if grad is None else grad.item()
    if moved != 2:
        return f"weight moved {moved:g} instead of 2, a gradient of {left:g} is left"


def reproduce(device):
    model, loader, optimizer, criterion = start(device, batches=6)
    for i, (x, y) in enumerate(loader):
        (criterion(model(x), y) / WINDOW).backward()
        if (i + 1) % WINDOW == 0:
            optimizer.step()
            optimizer.zero_grad()
    return check(model)


def control(device):
    model, loader, optimizer, criterion = start(device, batches=6)
    for i, (x, y) in enumerate(loader):
        size = min(WINDOW, len(loader) - i // WINDOW * WINDOW)  # the last one may be smaller
        (criterion(model(x), y) / size).backward()
        if (i + 1) % WINDOW == 0 or i + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()
    return check(model)


def popular_fix(device):
    model, loader, optimizer, criterion = start(device, batches=6)
    for i, (x, y) in enumerate(loader):
        (criterion(model(x), y) / WINDOW).backward()
        if (i + 1) % WINDOW == 0 or i + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()
    return check(model)


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
