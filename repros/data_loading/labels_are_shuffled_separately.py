# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Inputs and labels that are shuffled separately no longer belong together"
# kind = "silent"
# symptom = "most rows have a wrong label"
# origin = "usage"
# reports = [
#     "https://github.com/xudonmao/VMT/issues/1",
#     "https://github.com/nikhilroxtomar/FANet/issues/1",
# ]
# documents = [
#     "https://github.com/mlcommons/GaNDLF/pull/870",
#     "https://blog.slavv.com/37-reasons-why-your-neural-network-is-not-working-4020854bd607",
# ]
# wrong = '''
# x = x[torch.randperm(len(x))]
# y = y[torch.randperm(len(y))]
# '''
# right = '''
# order = torch.randperm(len(x))
# x, y = x[order], y[order]
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""No error is raised, and most inputs are paired with the label of another row.

Each call to randperm() draws a different order. Two DataLoaders with shuffle=True, one for the
inputs and one for the labels, also draw different orders. Instead, use one loader and a dataset
that returns both, as TensorDataset(x, y) does for two tensors. If a list holds results in the order
of one epoch, it does not fit the next epoch of a shuffled loader (nikhilroxtomar/FANet#1). For
mixup too, the inputs and the labels need the same order (xudonmao/VMT#1). Apply the same order to
everything else that belongs to a row, such as its weight or its file name.
"""

import torch
from torch.utils.data import DataLoader


def apart(x, y):
    x = x[torch.randperm(len(x))]
    y = y[torch.randperm(len(y))]
    return x, y


def two_loaders(x, y):
    return next(iter(DataLoader(x, len(x), True))), next(iter(DataLoader(y, len(y), True)))


def together(x, y):
    order = torch.randperm(len(x))
    x, y = x[order], y[order]
    return x, y


def check(device, shuffle):
    x = torch.arange(100.0, device=device)
    y = (x % 10).long()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        shuffled, labels = shuffle(x, y)
    if shuffled.equal(x) or not shuffled.sort()[0].equal(x):
        return "the rows were not shuffled"
    wrong = (labels != (shuffled % 10).long()).sum().item()
    if wrong:
        return f"{'most' if wrong > 50 else 'some'} rows have a wrong label"


def reproduce(device):
    seen = {check(device, shuffle) for shuffle in (apart, two_loaders)}
    return seen.pop() if len(seen) == 1 else f"the two ways differ: {seen}"


def control(device):
    return check(device, together)


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
