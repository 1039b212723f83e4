"""A layer that is used twice, with dropout, under DDP and a checkpoint, compared with neither."""

import torch
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint  # noqa: F401

from tests.trials.advice.trainers import on_ranks

SETTINGS = ("two ranks", "AdamW", "dropout", "bfloat16")


class Net(torch.nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.stem, self.head = torch.nn.Linear(6, 6), torch.nn.Linear(6, 6)
        self.layer = torch.nn.Sequential(torch.nn.Linear(6, 6), torch.nn.Dropout(dropout))

    def forward(self, x):
        x = self.stem(x)
        paste
        return self.head(x)


class Plain(Net):
    def forward(self, x):
        return self.head(self.layer(self.layer(self.stem(x))))


def start(t, kind):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = t.model = t.watched(kind(t.setting.dropout))
    return net, getattr(torch.optim, t.setting.optimizer)(net.parameters(), lr=0.1)


def train(t, model, optimizer):
    for x, _ in t.batches:
        optimizer.zero_grad(set_to_none=True)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)  # of dropout, on both ranks
            with t.autocast():
                output = model(x)
            (output.float() - x).square().mean().backward()
        optimizer.step()


def on_a_rank(t):
    net, optimizer = start(t, Net)
    train(t, DistributedDataParallel(net), optimizer)
    return net.state_dict()


def place(t):
    start(t, Net)
    return on_ranks(lambda rank: on_a_rank(t))


def reference(t):
    net, optimizer = start(t, Plain)
    train(t, net, optimizer)
    t.got_gradient.clear()
    return [net.state_dict()] * 2
