# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A validation set of zero batches reports a loss of 0.0000 and stops training early"
# kind = "silent"
# symptom = "stopped after 4 epochs with a best loss of 0.0000"
# origin = "usage"
# documents = ["https://github.com/rasbt/LLMs-from-scratch/pull/124", "https://pytorch.org/docs/stable/data.html"]
# wrong = '''
# TODO
# '''
# fix = "loss.RunningMean"
# affected = { cpu = ">=1.13" }
# ///
"""total / max(1, batches) turns "no data" into a perfect score that no later epoch can
beat.

drop_last=True with fewer rows than a batch, or an empty split, gives a loader of length
0. Nothing is raised on the way.
"""

import torch
from torch.utils.data import DataLoader, TensorDataset


def fit(drop_last, patience=3):
    loader = DataLoader(TensorDataset(torch.ones(5)), batch_size=8, drop_last=drop_last)
    best, waited = float("inf"), 0
    for epoch in range(1, 11):
        losses = [x.mean().item() / epoch for (x,) in loader]  # it improves every epoch
        loss = sum(losses) / max(1, len(losses))
        best, waited = (loss, 0) if loss < best else (best, waited + 1)
        if waited == patience:
            return f"stopped after {epoch} epochs with a best loss of {best:.4f}"


def reproduce(device):
    return fit(drop_last=True)


def control(device):
    return fit(drop_last=False)


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
