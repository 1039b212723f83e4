"""A checkpointed layer with dropout beside a layer that no step uses, against no checkpoint."""

import torch
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint  # noqa: F401

from tests.trials.advice.trainers import on_ranks

SETTINGS = ("two ranks", "AdamW", "dropout", "bfloat16")


class Net(torch.nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.stem, self.unused, self.head = (torch.nn.Linear(6, 6) for _ in range(3))
        self.layer = torch.nn.Sequential(torch.nn.Linear(6, 6), torch.nn.Dropout(dropout))

    def forward(self, x):
        paste
        return self.head(hidden)


class Plain(Net):
    def forward(self, x):
        return self.head(self.layer(self.stem(x)))


def start(t, kind):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = t.model = t.watched(kind(t.setting.dropout))
    return net, getattr(torch.optim, t.setting.optimizer)(net.parameters(), lr=0.1)


def train(t, model, optimizer, rank):
    for x, _ in t.batches:
        optimizer.zero_grad(set_to_none=True)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)  # of dropout, on both ranks
            with t.autocast():
                output = model(x[rank::2])
            (output.float() - x[rank::2]).square().mean().backward()
        yield


def on_a_rank(t, rank):
    net, optimizer = start(t, Net)
    model = DistributedDataParallel(net, find_unused_parameters=True)
    for _ in train(t, model, optimizer, rank):
        optimizer.step()
    return net.state_dict()


def place(t):
    start(t, Net)
    return on_ranks(lambda rank: on_a_rank(t, rank))


def reference(t):
    net, optimizer = start(t, Plain)
    ranks = [train(t, net, optimizer, rank) for rank in range(2)]
    for _ in t.batches:
        total = {}
        for rank in ranks:
            next(rank)
            for p in net.parameters():
                if p.grad is not None:
                    total[p] = total.get(p, 0) + p.grad / 2
        for p in total:
            p.grad = total[p]
        optimizer.step()
    t.got_gradient.clear()
    return [net.state_dict()] * 2
