"""The brightness of images, learnt one image at a time, for two epochs."""

import torch
from torch.nn import AdaptiveAvgPool2d, BatchNorm2d, GroupNorm, Sequential

SETTINGS = ("plain",)


def images(t):
    return [(x[:1, :4, None, None] * torch.ones(3, 3), x[:1, :4].mean()) for x, _ in t.batches]


def step(optimizer, output, y):
    optimizer.zero_grad()
    (output.mean() - y).square().backward()
    optimizer.step()


def place(t):
    paste
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        for x, y in images(t):
            step(optimizer, model(x), y)
    model.eval()
    return [model(x).flatten() for x, _ in images(t)]


def reference(t):
    weight, bias = torch.ones(4, requires_grad=True), torch.zeros(4, requires_grad=True)
    optimizer = torch.optim.SGD([weight, bias], lr=0.1)
    for _ in range(2):
        for x, y in images(t):
            step(optimizer, x.mean((2, 3)) * weight + bias, y)
    return [(x.mean((2, 3)) * weight + bias).flatten() for x, _ in images(t)]
