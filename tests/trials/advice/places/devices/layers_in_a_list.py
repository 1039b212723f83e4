"""A model is moved, to the meta device for a GPU, and trained on the CPU."""

import torch
from torch import nn

SETTINGS = ("plain",)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(6, 3)
        paste

    def forward(self, x):
        x = self.head(x)
        for layer in self.layers:
            x = layer(x)
        return x


class ByHand(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(6, 3)
        self.norm = nn.LayerNorm(3)

    def forward(self, x):
        return self.norm(self.head(x))


def train(t, kind):
    torch.manual_seed(0)
    moved = kind().to("meta")(t.batches[0][0].to("meta"))
    model = kind()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in t.batches:
        optimizer.zero_grad()
        t.loss(model(x), y % 3).backward()
        optimizer.step()
    return [str(moved.device), *model.state_dict().values()]


def place(t):
    return train(t, Net)


def reference(t):
    return train(t, ByHand)
