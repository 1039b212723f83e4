"""The norm of the gradient of another batch, looked at before training and within windows.

A layer has a reentrant checkpoint; on two ranks none has, and gradients are views of DDP's buckets.
"""

import copy
from functools import partial

import torch
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint

from tests.trials.advice.trainers import on_ranks

SETTINGS = (
    "plain",
    "AdamW",
    "tied",
    "frozen norm",
    "dropout",
    "accumulation",
    "bfloat16",
    "two ranks",
)


def train(t, model, batches, look):
    norms, window = [], t.setting.window * t.setting.ranks
    for i, (x, y) in enumerate(batches):
        norms.append(look(*batches[0]))
        with t.autocast():
            loss = t.loss(model(x), y)
        (loss / window).backward()
        if (i + 1) % window == 0:
            t.optimizer.step()
            t.optimizer.zero_grad()
    gradients = [None if p.grad is None else p.grad.clone() for p in t.model.parameters()]
    return [norms, t.model.state_dict(), gradients]


def with_lines(t, model, batches):
    criterion = t.loss

    def look(x, y):
        paste
        return norm.item()

    return train(t, model, batches, look)


def on_a_rank(t, rank):
    model = DistributedDataParallel(t.model, gradient_as_bucket_view=True)
    return with_lines(t, model, [(x[rank::2], y[rank::2]) for x, y in t.batches])


def place(t):
    if t.setting.ranks == 1:
        tail = t.model.tail
        tail.forward = partial(checkpoint, tail.forward, use_reentrant=True)
        return with_lines(t, t.model, t.batches)
    t.model.norm.eval()  # its statistics are of a rank's own rows
    assert t.optimizer  # built before the ranks are, as it is observed here
    return on_ranks(lambda rank: on_a_rank(t, rank))


def reference(t):
    def look(x, y):
        model = copy.deepcopy(t.model)
        model.zero_grad()
        t.loss(model(x), y).backward()
        for buffer, moved in zip(t.model.buffers(), model.buffers()):
            buffer.copy_(moved)  # the pass is one
        return (
            sum(p.grad.double().square().sum() for p in model.parameters() if p.grad is not None)
            .sqrt()
            .item()
        )

    if t.setting.ranks == 1:
        return train(t, t.model, t.batches, look)
    t.model.norm.eval()
    found = train(t, t.model, t.batches, look)
    t.got_gradient.clear()  # here the ranks are other processes
    return [found] * t.setting.ranks
