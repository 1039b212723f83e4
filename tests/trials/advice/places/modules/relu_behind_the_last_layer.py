"""Counts, which are never negative, are learnt from 64 starts of a small model, and far from them too."""

import torch
from torch import nn

SETTINGS = ("plain", "bfloat16")
TOLERANCE = 0.3
X = torch.tensor([[1.0], [2.0]])


def place(t):
    layer = nn.Linear(1, 64)
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.05)

    def predict(x):
        with t.autocast():
            paste
        return output.float()

    for _ in range(300):
        optimizer.zero_grad()
        output = predict(X)
        (output - X).square().mean(0).sum().backward()
        optimizer.step()
    return [output, bool((predict(-20 * X) < 0).any())]


def reference(t):
    return [X.expand(2, 64), False]
