"""A network of two layers learns, against layers that are written out."""

import torch
from torch import nn

SETTINGS = ("plain", "AdamW", "bfloat16", "short last batch")


def run(t, model, call):
    optimizer = getattr(torch.optim, t.setting.optimizer)(model.parameters(), lr=0.1)
    losses = []
    for x, y in t.batches * 2:
        optimizer.zero_grad()
        with t.autocast():
            prediction = call(x[:, :2])
        loss = (prediction[:, 0].float() - y).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return [losses, list(model.parameters())]


def place(t):
    torch.manual_seed(0)
    paste
    return run(t, model, model)


def reference(t):
    torch.manual_seed(0)
    first, second = nn.Linear(2, 8), nn.Linear(8, 1)
    model = nn.ModuleList([first, second])
    return run(t, model, lambda x: second(first(x).clamp(min=0)))
