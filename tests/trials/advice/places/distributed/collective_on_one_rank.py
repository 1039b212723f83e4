"""Epochs on two ranks with BatchNorm, which rank 0 ends when its validation is good enough."""

from datetime import timedelta

import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

from tests.trials.advice.trainers import on_ranks

SETTINGS = ("two ranks",)


def start():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = torch.nn.Sequential(torch.nn.BatchNorm1d(6), torch.nn.Linear(6, 4))
    return net, torch.optim.SGD(net.parameters(), lr=0.1)


def loop(t, net, optimizer, rows):
    """train(), and validate(), whose third loss is good enough."""
    losses, goal = [], 0.0

    def train(model):
        net.eval()  # equal statistics on the ranks
        for x, y in t.batches:
            optimizer.zero_grad()
            t.loss(model(x[rows]), y[rows]).backward()
            optimizer.step()

    def validate(model):
        with torch.no_grad():
            losses.append(t.loss(model(t.batches[0][0]), t.batches[0][1]))
        return losses[-1] - 9 * (len(losses) == 3)

    return train, validate, losses, goal


def on_a_rank(t, rank):
    net, optimizer = start()
    soon = distributed.new_group(timeout=timedelta(seconds=3))
    model, epochs = DistributedDataParallel(net, process_group=soon), 9
    train, validate, losses, goal = loop(t, net, optimizer, slice(rank, None, 2))
    paste
    return epoch, net.state_dict(), losses


def place(t):
    return on_ranks(lambda rank: on_a_rank(t, rank))


def reference(t):
    net, optimizer = start()
    train, validate, losses, _ = loop(t, net, optimizer, slice(None))
    for _ in range(3):
        train(net)
        validate(net)
    return [(2, net.state_dict(), losses), (2, net.state_dict(), [])]
