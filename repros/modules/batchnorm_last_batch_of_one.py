# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "BatchNorm1d over rows fails if the last batch of an epoch has only one sample"
# kind = "error"
# symptom = "Expected more than 1 value per channel"
# messages = ["Expected more than 1 value per channel when training"]
# origin = "design"
# reports = [
#     "https://github.com/open-mmlab/mmsegmentation/issues/3192",
#     "https://github.com/meetps/pytorch-semseg/issues/214",
#     "https://github.com/fastai/fastai/issues/1352",
# ]
# documents = [
#     "https://github.com/openvinotoolkit/nncf/pull/379",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/nn/functional.py",
# ]
# wrong = '''
# loader = DataLoader(dataset, batch_size=4, sampler=sampler)  # 9 samples
# '''
# right = '''
# rows = len(dataset if sampler is None else sampler)  # with a sampler, of this rank
# loader = DataLoader(dataset, batch_size=4, sampler=sampler, drop_last=rows % 4 == 1)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Every batch of the epoch passes except the last.

The variance of a single value is zero, so batch_norm() rejects a single value per channel in train
mode (torch/nn/functional.py). A BatchNorm2d over maps with many positions accepts one sample. If
nine samples are split into batches of four, one sample is left over. On its own, drop_last=True
also drops short batches of more than one sample. It even silently drops a whole dataset that is
smaller than a batch. With the corrected code, a dataset of one sample still yields no batch.
Without shuffling, the same sample is left out in every epoch. With a batch size of one, there is no
short batch to drop, so use a batch size of two.

The code uses the sampler's length because, for example, a DistributedSampler gives each of two
ranks five of ten samples.
"""

import torch
from torch.utils.data import DataLoader, DistributedSampler


def train(device, loader):
    norm, sizes = torch.nn.BatchNorm1d(2).to(device), []
    try:
        for batch in loader:
            norm(batch.to(device))
            sizes.append(len(batch))
    except ValueError as error:
        return str(error)
    return sizes


def reproduce(device):
    dataset, sampler = torch.ones(9, 2), None
    loader = DataLoader(dataset, batch_size=4, sampler=sampler)  # 9 samples
    return train(device, loader)


def control(device):
    for ranks, samples, sizes in (
        (1, 9, [4, 4]),
        (1, 8, [4, 4]),
        (1, 7, [4, 3]),
        (1, 3, [3]),
        (2, 10, [4]),
        (2, 18, [4, 4]),
        (2, 9, [4]),
    ):
        dataset = torch.ones(samples, 2)
        sampler = DistributedSampler(dataset, ranks, rank=0) if ranks == 2 else None
        rows = len(dataset if sampler is None else sampler)  # with a sampler, of this rank
        loader = DataLoader(dataset, batch_size=4, sampler=sampler, drop_last=rows % 4 == 1)
        if (seen := train(device, loader)) != sizes:
            return f"batches of {seen} for {samples} samples on {ranks} ranks"


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
