"""A body that gets a head, on two ranks with their own seeds, against one process."""

import torch
from torch.nn.parallel import DistributedDataParallel  # noqa: F401

from tests.trials.advice.trainers import on_ranks

SETTINGS = ("two ranks", "AdamW")


def start(t):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return torch.nn.Sequential(torch.nn.Linear(6, 3))


def train(t, model, parameters, rows):
    optimizer = getattr(torch.optim, t.setting.optimizer)(parameters, lr=0.1)
    for x, _ in t.batches:
        optimizer.zero_grad()
        (model(x[rows]) - x[rows, :1]).square().mean().backward()
        optimizer.step()


def on_a_rank(t, rank):
    net, device = start(t), "cpu"
    torch.manual_seed(rank)
    paste
    train(t, model, net.parameters(), slice(rank, None, 2))
    return net.state_dict()


def place(t):
    return on_ranks(lambda rank: on_a_rank(t, rank))


def reference(t):
    net = start(t)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net.append(torch.nn.Linear(3, 1))
        train(t, net, net.parameters(), slice(None))
    return [net.state_dict()] * 2
