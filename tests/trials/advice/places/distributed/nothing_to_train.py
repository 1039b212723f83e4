"""A teacher that is frozen, one that trains along and one whose bias is frozen, on two ranks."""

import torch
from torch.nn.parallel import DistributedDataParallel  # noqa: F401

from tests.trials.advice.trainers import on_ranks

SETTINGS = ("two ranks",)


def net(trained):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        teacher = torch.nn.Linear(6, 1)
    for name, parameter in teacher.named_parameters():
        parameter.requires_grad_(name in trained)
    return teacher


def on_a_rank(t, rank):
    seen = []
    for trained in (("weight", "bias"), ("weight",), ()):
        teacher = net(trained)
        paste
        output = model(t.batches[0][0][rank::2]).mean()
        if trained:
            output.backward()
        seen += [p.grad for p in teacher.parameters()]
    return seen


def place(t):
    return on_ranks(lambda rank: on_a_rank(t, rank))


def reference(t):
    teacher = net(("weight", "bias"))
    teacher(t.batches[0][0]).mean().backward()
    weight, bias = (p.grad for p in teacher.parameters())
    return [[weight, bias, weight, None, None, None]] * 2
