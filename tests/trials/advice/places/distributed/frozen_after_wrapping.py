"""A trained backbone that is frozen for some steps and thawed again, compared with one process."""

from collections import OrderedDict

import torch
from torch.nn.parallel import DistributedDataParallel  # noqa: F401

from tests.trials.advice.trainers import on_ranks

SETTINGS = ("two ranks", "AdamW")


def start(t):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        layers = OrderedDict(backbone=torch.nn.Linear(6, 4), head=torch.nn.Linear(4, 2))
        net = t.model = t.watched(torch.nn.Sequential(layers))
    options = {"momentum": 0.9} if t.setting.optimizer == "SGD" else {}
    t.optimizer = getattr(torch.optim, t.setting.optimizer)(net.parameters(), lr=0.1, **options)
    train(t, net, t.batches[:1])
    return net


def train(t, model, batches):
    for x, _ in batches:
        t.optimizer.zero_grad(set_to_none=False)  # as by default before torch 2.0
        (model(x) - x[:, :2]).square().mean().backward()
        t.optimizer.step()


def on_a_rank(t, rank):
    net = start(t)
    batches = [(x[rank::2], y) for x, y in t.batches]
    paste
    train(t, model, batches)
    net.backbone.requires_grad_(True)
    train(t, model, batches)
    return net.state_dict()


def place(t):
    start(t)
    return on_ranks(lambda rank: on_a_rank(t, rank))


def reference(t):
    net = start(t)
    net.backbone.requires_grad_(False)
    for p in net.backbone.parameters():
        p.grad = None
    train(t, net, t.batches)
    net.backbone.requires_grad_(True)
    train(t, net, t.batches)
    return [net.state_dict()] * 2
