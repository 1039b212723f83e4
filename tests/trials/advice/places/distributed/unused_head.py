"""A model with a branch that no step calls and one that some call, compared with one process."""

import contextlib
import io

import torch
from torch.nn.parallel import DistributedDataParallel  # noqa: F401

from tests.trials.advice.trainers import on_ranks

SETTINGS = ("two ranks", "AdamW")


class Branches(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.never = torch.nn.Linear(6, 2), torch.nn.Linear(6, 2)
        self.at_times = torch.nn.Linear(6, 2)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return self.body(x) + (self.at_times(x) if self.calls % 2 else 0)


def start(t):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = t.model = t.watched(Branches())
    kind = getattr(torch.optim, t.setting.optimizer)
    return net, kind(net.parameters(), lr=0.1), [(x, x[:, :2] ** 2) for x, _ in t.batches]


def on_a_rank(t, rank):
    net, optimizer, both = start(t)
    batches = [(x[rank::2], y[rank::2]) for x, y in both]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        paste
    return net.state_dict(), "never.weight" in printed.getvalue()


def place(t):
    start(t)
    return on_ranks(lambda rank: on_a_rank(t, rank))


def reference(t):
    net, optimizer, both = start(t)
    for x, y in both:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
    t.got_gradient.clear()
    return [(net.state_dict(), True)] * 2
