# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A validation loader without a single batch reports a loss of 0.0000"
# kind = "silent"
# symptom = "validation loss 0.0000 over 0 batches"
# keywords = ["validation loss is 0", "early stopping stops too early"]
# origin = "usage"
# documents = [
#     "https://github.com/rasbt/LLMs-from-scratch/pull/124",
#     "https://github.com/ray-project/ray/pull/56395",
#     "https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader",
# ]
# wrong = '''
# losses = [x.mean().item() for (x,) in loader]
# loss = sum(losses) / max(1, len(losses))
# '''
# right = '''
# mean = RunningMean()
# for (x,) in loader:
#     mean.update(x.mean())
# '''
# fix = "loss.RunningMean"
# affected = { cpu = ">=1.13" }
# ///
"""The log says 0.0000 where nothing was validated. drop_last=True with fewer rows than
a batch makes a loader of length 0, and the loader does not complain (docs:
torch.utils.data.DataLoader).

Without max(1, ...) the division would raise (ray-project/ray#56395). With it, no data
is a perfect score; a mean of nothing is NaN at best (rasbt/LLMs-from-scratch#124).
"""

import torch
from torch.utils.data import DataLoader, TensorDataset


def validate(drop_last):
    loader = DataLoader(TensorDataset(torch.ones(5)), batch_size=8, drop_last=drop_last)
    losses = [x.mean().item() for (x,) in loader]
    loss = sum(losses) / max(1, len(losses))
    if loss == 0:
        return f"validation loss {loss:.4f} over {len(losses)} batches"


def reproduce(device):
    return validate(drop_last=True)


def control(device):
    return validate(drop_last=False)


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
