"""A teacher that is frozen and one that trains along, on two ranks."""

import torch
from torch.nn.parallel import DistributedDataParallel  # noqa: F401

from tests.trials.advice.trainers import on_ranks

SETTINGS = ("two ranks",)


def net(frozen):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return torch.nn.Linear(6, 1).requires_grad_(not frozen)


def on_a_rank(t, rank):
    seen = []
    for frozen in (False, True):
        teacher = net(frozen)
        paste
        output = model(t.batches[0][0][rank::2]).mean()
        if not frozen:
            output.backward()
        seen += [p.grad for p in teacher.parameters()]
    return seen


def place(t):
    return on_ranks(lambda rank: on_a_rank(t, rank))


def reference(t):
    teacher = net(False)
    teacher(t.batches[0][0]).mean().backward()
    return [[p.grad for p in teacher.parameters()] + [None, None]] * 2
