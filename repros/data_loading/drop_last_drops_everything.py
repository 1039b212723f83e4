# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "With drop_last=True and fewer rows than a batch, training takes no step and raises no error"
# kind = "silent"
# symptom = "no step was taken in 3 epochs"
# origin = "design"
# reports = ["https://github.com/dreamquark-ai/tabnet/issues/537"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/data.html",
#     "https://github.com/arm/neural-graphics-model-gym/pull/147",
# ]
# wrong = '''
# loader = DataLoader(rows, batch_size=64, shuffle=True, drop_last=True)
# '''
# right = '''
# loader = DataLoader(rows, batch_size=64, shuffle=True, drop_last=len(rows) > 64)
# '''
# affected = { cpu = ">=1.13" }
# ///
"""All epochs finish at once, the weights do not change, and a loss summed over batches is 0.

The only batch is incomplete, so drop_last=True drops it (docs: torch.utils.data), and len(loader)
is 0. A mean over len(loader) batches raises ZeroDivisionError, or is NaN if the sum is a tensor.
The corrected code drops the last batch only if there is another batch. With a DistributedSampler,
each rank has only its share of the rows, so use len(sampler) instead of len(rows). Each worker of
an IterableDataset drops one incomplete batch. For an empty validation set, see
loss/empty_validation_is_zero.
"""

import torch
from torch.utils.data import DataLoader


def check(loader, device):
    weight = torch.zeros((), device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    for _ in range(3):
        for x in loader:
            optimizer.zero_grad()
            (weight * x.to(device)).mean().backward()
            optimizer.step()
    if weight == 0:
        return "no step was taken in 3 epochs"
    if abs(weight.item() + 3 * 19.5) > 1e-3:  # 19.5: the mean of the numbers from 0 to 39
        return f"the weight is {weight.item()}"


def reproduce(device):
    rows = torch.arange(40.0)
    with torch.random.fork_rng(devices=[]):
        loader = DataLoader(rows, batch_size=64, shuffle=True, drop_last=True)
        return check(loader, device)


def control(device):
    rows = torch.arange(40.0)
    with torch.random.fork_rng(devices=[]):
        loader = DataLoader(rows, batch_size=64, shuffle=True, drop_last=len(rows) > 64)
        return check(loader, device)


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
