"""Two heads; each rank trains one or both, compared with one process that has all rows."""

import torch
from torch.nn.parallel import DistributedDataParallel  # noqa: F401

from tests.trials.advice.trainers import on_ranks

SETTINGS = ("two ranks", "AdamW")


class Heads(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(6, 4)
        self.heads = torch.nn.ModuleList(torch.nn.Linear(4, 2) for _ in range(3))
        self.used = (0, 1)

    def forward(self, x):
        hidden = self.body(x).tanh()
        return [self.heads[one](hidden) for one in self.used]


def start(t):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = t.model = t.watched(Heads())
    kind = getattr(torch.optim, t.setting.optimizer)
    return net, kind(net.parameters(), lr=0.1), [(x, x[:, :2]) for x, _ in t.batches]


def on_a_rank(t, rank):
    net, optimizer, both = start(t)
    batches = []

    def rows():
        for number, (x, y) in enumerate(both):
            net.used = (rank, 2) if number == 3 else (1, 0)  # in one step a head for each rank
            yield x[rank::2], y[rank::2]

    batches = rows()
    paste
    return net.state_dict()


def place(t):
    start(t)
    return on_ranks(lambda rank: on_a_rank(t, rank))


def reference(t):
    net, optimizer, both = start(t)
    for number, (x, y) in enumerate(both):
        optimizer.zero_grad()
        for rank in range(2):
            net.used = (rank,) if number == 3 else (1,)
            torch.nn.functional.mse_loss(net(x[rank::2])[0], y[rank::2]).div(2).backward()
        optimizer.step()
    net.used = (0, 1)
    t.got_gradient.clear()
    return [net.state_dict()] * 2
