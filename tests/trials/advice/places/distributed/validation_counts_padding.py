"""Validation of nine samples, then of one, on two ranks with BatchNorm; the results are gathered."""

from datetime import timedelta

import torch
import torch.distributed as dist
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


def on_a_rank(rank):
    (net, samples), ranks, gathered = start(), 2, []
    soon = dist.new_group(timeout=timedelta(seconds=3))
    model = DistributedDataParallel(net, process_group=soon)
    for dataset in (samples, samples[:1]):
        model(samples).sum().backward()  # as after a step of training
        with torch.no_grad():
            predictions = []
            paste
        lists = [None, None]
        dist.all_gather_object(lists, [value.item() for value in predictions])
        gathered += [sorted(lists[0] + lists[1])]
    return gathered


def place(t):
    return on_ranks(on_a_rank)


@torch.no_grad()
def reference(t):
    net, dataset = start()
    return [[sorted(net(rows)[:, 0].tolist()) for rows in (dataset, dataset[:1])]] * 2
