"""A model of two layers with one weight, and a table that is not in the file."""

import warnings

import torch
from torch import nn

SETTINGS = ("plain",)


class Net(nn.Module):
    def __init__(self, device=None):
        super().__init__()
        self.embedding = nn.Embedding(5, 6, device=device)
        self.norm = nn.LayerNorm(6, device=device)
        self.head = nn.Linear(6, 5, bias=False, device=device)
        self.head.weight = self.embedding.weight
        self.register_buffer("scale", torch.full((6,), 2.0, device=device), persistent=False)

    def forward(self, x):
        return self.head(self.norm(self.embedding(x) * self.scale))


def saved():
    torch.manual_seed(0)
    return Net()


def used(t, model):
    t.model = t.watched(model)
    tokens = torch.tensor([0, 3, 4])
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        t.loss(model(tokens), tokens).backward()
        optimizer.step()
    return model(tokens)


def place(t):
    state, device = saved().state_dict(), "cpu"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        paste
    return used(t, model)


def reference(t):
    return used(t, saved())
