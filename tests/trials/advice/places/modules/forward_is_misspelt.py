"""A model, and a model that consists of two."""

from torch import nn

SETTINGS = ("plain",)


class Net(nn.Module):
    paste


def place(t):
    return [nn.Sequential(Net(), Net())(x) for x, _ in t.batches]


def reference(t):
    return [x + 2 for x, _ in t.batches]
