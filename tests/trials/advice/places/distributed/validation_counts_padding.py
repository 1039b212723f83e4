"""Validation of nine samples on two ranks, one of which has a batch more, with BatchNorm."""

import torch
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader  # noqa: F401
from torch.utils.data.distributed import DistributedSampler  # noqa: F401

from tests.trials.advice.trainers import on_ranks

SETTINGS = ("two ranks",)


def start():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = torch.nn.Sequential(torch.nn.BatchNorm1d(2), torch.nn.Linear(2, 1)).eval()
    return net, torch.arange(18.0).view(9, 2)


@torch.no_grad()
def on_a_rank(rank):
    (net, dataset), ranks, predictions = start(), 2, []
    model = DistributedDataParallel(net)
    paste
    count = torch.tensor(len(predictions))
    torch.distributed.all_reduce(count)  # the next collective still meets its own kind
    return [value.item() for value in predictions], count.item()


def place(t):
    ranks = on_ranks(on_a_rank)
    return sorted(value for values, _ in ranks for value in values), [count for _, count in ranks]


@torch.no_grad()
def reference(t):
    net, dataset = start()
    return sorted(net(dataset)[:, 0].tolist()), [9, 9]
