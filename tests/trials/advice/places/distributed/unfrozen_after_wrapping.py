"""A backbone that was frozen in an earlier stage and is thawed, on two ranks against one process."""

from collections import OrderedDict

import torch
from torch.nn.parallel import DistributedDataParallel

from tests.trials.advice.trainers import on_ranks

SETTINGS = ("two ranks", "AdamW")


def start(t):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        layers = OrderedDict(backbone=torch.nn.Linear(6, 4), head=torch.nn.Linear(4, 2))
        net = t.model = t.watched(torch.nn.Sequential(layers))
    net.backbone.requires_grad_(False)
    return net, getattr(torch.optim, t.setting.optimizer)(net.parameters(), lr=0.1)


def train(t, model, optimizer, rows):
    for x, _ in t.batches:
        optimizer.zero_grad(set_to_none=True)
        (model(x[rows]) - x[rows, :2]).square().mean().backward()
        optimizer.step()


def on_a_rank(t, rank):
    net, optimizer = start(t)
    earlier = DistributedDataParallel(net)
    train(t, earlier, optimizer, slice(rank, None, 2))
    paste
    train(t, model, optimizer, slice(rank, None, 2))
    return net.state_dict()


def place(t):
    net, _ = start(t)
    net.backbone.requires_grad_(True)
    return on_ranks(lambda rank: on_a_rank(t, rank))


def reference(t):
    net, optimizer = start(t)
    train(t, net, optimizer, slice(None))
    net.backbone.requires_grad_(True)
    train(t, net, optimizer, slice(None))
    t.got_gradient.clear()
    return [net.state_dict()] * 2
