"""A contrastive loss on two ranks under DDP, compared with the whole batch in one process."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from tests.trials.advice.trainers import on_ranks

SETTINGS = ("two ranks",)


def net():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return torch.nn.Linear(6, 3)


def loss_of(features, everyone, first):
    labels = torch.arange(first, first + len(features))
    return torch.nn.functional.cross_entropy(features @ everyone.T, labels)


def on_a_rank(t, rank):
    model = DistributedDataParallel(net())
    for x, _ in t.batches:
        features = model(x[2 * rank : 2 * rank + 2])
        gathered = [torch.empty_like(features) for _ in range(dist.get_world_size())]
        paste
        loss_of(features, torch.cat(list(gathered)), 2 * rank).backward()
    return [p.grad for p in model.parameters()]


def place(t):
    return on_ranks(lambda rank: on_a_rank(t, rank))


def reference(t):
    model = net()
    for x, _ in t.batches:
        features = model(x)
        loss_of(features, features, 0).backward()
    return [[p.grad for p in model.parameters()]] * 2
