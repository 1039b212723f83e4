"""Two epochs on two ranks, one of which has a batch more; a rank that waits in vain raises soon."""

from datetime import timedelta

import torch
from torch.distributed import new_group
from torch.nn.parallel import DistributedDataParallel

from tests.trials.advice.trainers import on_ranks

SETTINGS = ("two ranks",)


def net():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return torch.nn.Linear(6, 1)


def wrapped():
    soon = new_group(timeout=timedelta(seconds=2))
    return DistributedDataParallel(net(), process_group=soon)


def on_a_rank(t, rank):
    model = wrapped()
    batches = [x for x, _ in t.batches][: 4 + rank]
    for _ in range(2):
        paste
    return [p.grad for p in model.parameters()]


def place(t):
    return on_ranks(lambda rank: on_a_rank(t, rank))


def reference(t):
    model = net()
    for x, _ in t.batches[:4] * 2:
        model(x).mean().backward()
    return [[p.grad for p in model.parameters()]] * 2
