"""Regressions to one number and to four, with NaN or inf in some rows."""

import torch

SETTINGS = ("plain", "AdamW", "accumulation", "short last batch")


def train(t, step):
    one = torch.nn.Parameter(torch.linspace(-1, 1, 6))
    four = torch.nn.Parameter(torch.linspace(-1, 1, 24).view(6, 4))
    t.groups = [{"params": [weight], "lr": 0.1} for weight in (one, four)]
    losses = []
    for number, (x, y) in enumerate(t.batches):
        bad = float("nan") if number % 2 else float("inf")
        x = x.index_fill(0, torch.tensor([number % 3]), bad) if number else x
        losses.append(step(x, y.float(), one).detach())
        losses.append(step(x, y[:, None] + torch.linspace(0, 1, 4), four).detach())
        if number % t.setting.window == 0:
            t.optimizer.step()
            t.optimizer.zero_grad()
    return [losses, one, four]


def place(t):
    def step(x, y, weight):
        paste
        return loss

    return train(t, step)


def reference(t):
    def step(x, y, weight):
        pairs = [(row, goal) for row, goal in zip(x, y) if row.isfinite().all()]
        loss = sum(((row @ weight - goal) ** 2).mean() for row, goal in pairs) / len(pairs)
        loss.backward()
        return loss

    return train(t, step)
