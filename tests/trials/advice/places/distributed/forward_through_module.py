"""Steps on two ranks, each with half of a batch, compared with one process and the whole batch."""

import torch
from torch.nn.parallel import DistributedDataParallel

from tests.trials.advice.trainers import on_ranks

SETTINGS = ("two ranks", "AdamW")


def start(t):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = t.model = t.watched(torch.nn.Sequential(torch.nn.Linear(6, 4), torch.nn.Tanh()))
    return net, getattr(torch.optim, t.setting.optimizer)(net.parameters(), lr=0.1)


def on_a_rank(t, rank):
    net, optimizer = start(t)
    model = DistributedDataParallel(net)
    for x, _ in t.batches:
        x = x[rank::2]
        optimizer.zero_grad()
        paste
        optimizer.step()
    return net.state_dict()


def place(t):
    start(t)
    return on_ranks(lambda rank: on_a_rank(t, rank))


def reference(t):
    net, optimizer = start(t)
    for x, _ in t.batches:
        optimizer.zero_grad()
        (net(x).sum() / 2).backward()  # DDP averages over the ranks
        optimizer.step()
    t.got_gradient.clear()
    return [net.state_dict()] * 2
