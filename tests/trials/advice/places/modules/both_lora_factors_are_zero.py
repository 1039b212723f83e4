"""A frozen layer with a low-rank update, against an update that is written out."""

import torch
from torch import nn

SETTINGS = ("plain", "AdamW", "bfloat16", "accumulation", "short last batch")


def run(t, A, B):
    base = nn.Linear(6, 4).requires_grad_(False)
    kind = getattr(torch.optim, t.setting.optimizer)
    optimizer = kind([{"params": [A], "lr": 0.1}, {"params": [B], "lr": 0.05}])
    losses = []
    for number, (x, y) in enumerate(t.batches * 3, 1):
        with t.autocast():
            logits = base(x) + x @ A.T @ B.T
        loss = t.loss(logits.float(), y)
        loss.backward()
        losses.append(loss.item())
        if number % t.setting.window == 0:
            optimizer.step()
            optimizer.zero_grad()
    return [losses, A, B]


def place(t):
    torch.manual_seed(0)
    paste
    return run(t, A, B)


def reference(t):
    torch.manual_seed(0)
    bound = 6**-0.5
    A = nn.Parameter(torch.rand(2, 6) * 2 * bound - bound)
    return run(t, A, nn.Parameter(torch.zeros(4, 2)))
