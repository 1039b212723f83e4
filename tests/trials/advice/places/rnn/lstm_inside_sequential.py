"""A tagger: one class per step, from an LSTM that is called step by step in the reference."""

import torch
from torch.nn import LSTM, Linear

SETTINGS = ("plain", "AdamW", "short last batch")


def train(t, model, run):
    optimizer = getattr(torch.optim, t.setting.optimizer)(model.parameters(), lr=0.1)
    losses = []
    for x, y in t.batches:
        optimizer.zero_grad()
        output = run(x.view(-1, 2, 3))
        losses.append(t.loss(output[:, 0], y % 2) + t.loss(output[:, 1], y // 2))
        losses[-1].backward()
        optimizer.step()
    return [losses, [*model.parameters()]]


def place(t):
    torch.manual_seed(0)
    paste
    return train(t, model, model)


def reference(t):
    torch.manual_seed(0)
    parts = torch.nn.ModuleList([LSTM(3, 4, batch_first=True), Linear(4, 2)])

    def run(x):
        first, state = parts[0](x[:, :1])
        second, _ = parts[0](x[:, 1:], state)
        return torch.stack([parts[1](first[:, 0]), parts[1](second[:, 0])], 1)

    return train(t, parts, run)
