"""A network with dropout that keeps three quarters, against masks drawn by hand."""

import torch
from torch import nn

SETTINGS = ("plain", "AdamW", "short last batch")


def run(t, drop):
    torch.manual_seed(0)
    first, last = nn.Linear(6, 64), nn.Linear(64, 4)
    optimizer = getattr(torch.optim, t.setting.optimizer)(
        [*first.parameters(), *last.parameters()], lr=0.05
    )
    losses = []
    for x, y in t.batches * 2:
        optimizer.zero_grad()
        loss = t.loss(last(drop(first(x).relu())), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return [losses, first.state_dict(), last.state_dict()]


def place(t):
    keep_prob = 0.75
    paste
    return run(t, dropout)


def reference(t):
    def drop(values):
        return values * torch.empty_like(values).bernoulli_(0.75) / 0.75

    return run(t, drop)
