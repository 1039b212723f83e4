"""Two epochs of a shuffling sampler, on one process without a group and on two ranks with one."""

import torch
from torch.utils.data import DataLoader  # noqa: F401
from torch.utils.data.distributed import DistributedSampler  # noqa: F401

from tests.trials.advice.trainers import on_ranks

SETTINGS = ("plain", "two ranks")


def read(dataset):
    paste
    rows = []
    for epoch in range(2):
        sampler.set_epoch(epoch)
        rows += [batch.tolist() for batch in loader]
    return rows


def place(t):
    dataset = list(range(20))
    if t.setting.ranks == 1:
        return [read(dataset)]
    return on_ranks(lambda rank: read(dataset))


def reference(t):
    ranks, rows = t.setting.ranks, []
    for rank in range(ranks):
        rows.append([])
        for epoch in range(2):
            order = torch.randperm(20, generator=torch.Generator().manual_seed(epoch))
            mine = order.tolist()[rank::ranks]
            rows[-1] += [mine[start : start + 8] for start in range(0, len(mine), 8)]
    return rows
