"""A network with a residual block between two layers, against a block that is written out."""

import torch
from torch import nn
from torch.nn import Linear, ReLU, Sequential

SETTINGS = ("plain", "AdamW", "bfloat16", "short last batch")


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        paste

    def forward(self, x):
        return x + self.branch(x)


class WrittenOut(nn.Module):
    def __init__(self):
        super().__init__()
        self.branch = nn.ModuleList([nn.Identity(), Linear(6, 6)])

    def forward(self, x):
        return self.branch[1](x.clamp(min=0)) + x


def run(t, kind):
    torch.manual_seed(0)
    model = nn.Sequential(Linear(6, 6), kind(), Linear(6, 4))
    optimizer = getattr(torch.optim, t.setting.optimizer)(model.parameters(), lr=0.1)
    losses = []
    for x, y in t.batches * 2:
        optimizer.zero_grad()
        with t.autocast():
            loss = t.loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return [losses, model.state_dict()]


def place(t):
    return run(t, Block)


def reference(t):
    return run(t, WrittenOut)
