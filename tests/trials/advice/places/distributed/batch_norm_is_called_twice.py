"""Two forwards of a critic with BatchNorm, against two copies of it whose gradients are averaged."""

import copy

import torch
from torch.nn.parallel import DistributedDataParallel  # noqa: F401

from tests.trials.advice.trainers import on_ranks

SETTINGS = ("two ranks", "AdamW")


def start(t):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        layers = (
            torch.nn.Linear(6, 4),
            torch.nn.BatchNorm1d(4),
            torch.nn.ReLU(),
            torch.nn.Linear(4, 1),
        )
        net = t.model = t.watched(torch.nn.Sequential(*layers))
    pairs = [(x, -(x.flip(0) ** 2)) for x, _ in t.batches]
    return net, getattr(torch.optim, t.setting.optimizer)(net.parameters(), lr=0.1), pairs


def on_a_rank(t, rank):
    net, optimizer, pairs = start(t)
    for x, z in pairs:
        optimizer.zero_grad()
        real, fake = x[rank::2], z[rank::2]
        paste
        optimizer.step()
    return net.state_dict()


def place(t):
    start(t)
    return on_ranks(lambda rank: on_a_rank(t, rank))


def reference(t):
    net, optimizer, pairs = start(t)
    for x, z in pairs:
        ranks = [net, copy.deepcopy(net)]
        for rank, one in enumerate(ranks):
            one.zero_grad(set_to_none=True)
            (one(z[rank::2]) - one(x[rank::2])).mean().backward()
        for p, other in zip(*(one.parameters() for one in ranks)):
            p.grad = (p.grad + other.grad) / 2
        optimizer.step()
    t.got_gradient.clear()
    return [net.state_dict()] * 2
