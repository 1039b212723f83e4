# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A loop over a loader without a single batch reports a loss of 0.0000"
# kind = "silent"
# symptom = "loss 0.0000 over 0 batches"
# origin = "usage"
# reports = ["https://github.com/dreamquark-ai/tabnet/issues/537"]
# documents = [
#     "https://github.com/rasbt/LLMs-from-scratch/pull/124",
#     "https://github.com/ray-project/ray/pull/56395",
#     "https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader",
# ]
# wrong = '''
# losses = [criterion(model(x), y).item() for x, y in loader]
# loss = sum(losses) / max(1, len(losses))
# '''
# right = '''
# losses = [criterion(model(x), y).item() for x, y in loader]
# assert losses, "no batch: drop_last=False, or a smaller batch_size"
# loss = sum(losses) / len(losses)
# '''
# fix = "loss.RunningMean"
# use = '''
# from loss import RunningMean
# mean = RunningMean()
# for x, y in loader:
#     mean.update(criterion(model(x), y))
# loss = mean.compute()
# '''
# choice = "Normally, use the lines without the fix; in a long loop on a GPU, use the fix, which does not wait for the device at every batch"
# affected = { cpu = ">=1.13" }
# ///
"""The log says 0.0000, although nothing was validated or trained. The option drop_last=True drops
the last incomplete batch (docs: torch.utils.data.DataLoader). If there are fewer rows than a batch
needs, all of them are silently dropped: every epoch of TabNet logged "loss: 0.0"
(dreamquark-ai/tabnet#537).

Without max(1, ...), the division raises an error (ray-project/ray#56395). With max(1, ...), or with
a running mean that starts at 0, missing data looks like a perfect score; other code returns NaN
instead (rasbt/LLMs-from-scratch#124). With an IterableDataset, each worker drops its own last
batch. For example, two workers that share six rows return no batch of four.
"""

import torch
from torch.utils.data import DataLoader, TensorDataset


def at_least_one(model, criterion, loader):
    losses = [criterion(model(x), y).item() for x, y in loader]
    loss = sum(losses) / max(1, len(losses))
    return loss


def asserted(model, criterion, loader):
    losses = [criterion(model(x), y).item() for x, y in loader]
    assert losses, "no batch: drop_last=False, or a smaller batch_size"
    loss = sum(losses) / len(losses)
    return loss


def check(validate, drop_last):
    dataset = TensorDataset(torch.ones(5), torch.zeros(5))
    loader = DataLoader(dataset, batch_size=8, drop_last=drop_last)
    loss = validate(torch.nn.Identity(), torch.nn.MSELoss(), loader)
    if loss != 1:
        return f"loss {loss:.4f} over {len(loader)} batches"


def reproduce(device):
    return check(at_least_one, drop_last=True)


def control(device):
    return check(at_least_one, drop_last=False)


def right(device):
    try:
        check(asserted, drop_last=True)
    except AssertionError:
        return check(asserted, drop_last=False)
    return "a loader without a batch has a loss"


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, right):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
