"""A summed loss over half a batch on each of two ranks, against the whole batch in one process."""

import torch
from torch.nn.parallel import DistributedDataParallel

from tests.trials.advice.trainers import on_ranks

SETTINGS = ("two ranks", "short last batch")


def start(t):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = t.model = t.watched(torch.nn.Linear(6, 1))
    return net, torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)


def on_a_rank(t, rank):
    net, optimizer = start(t)
    model = DistributedDataParallel(net)
    for x, _ in t.batches:
        x = x[rank::2]
        optimizer.zero_grad()
        paste
        loss.backward()
        optimizer.step()
    return net.state_dict()


def place(t):
    start(t)
    return on_ranks(lambda rank: on_a_rank(t, rank))


def reference(t):
    net, optimizer = start(t)
    for x, _ in t.batches:
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()
    t.got_gradient.clear()
    return [net.state_dict()] * 2
