"""Gradients through a shuffle of the channels of images and of sequences, against an index."""

import torch

SETTINGS = ("plain",)


def train(shuffle):
    seen = []
    for shape in ((2, 6, 3, 3), (3, 4, 5)):
        net = torch.nn.Conv2d(6, 6, 1) if len(shape) == 4 else torch.nn.Conv1d(4, 4, 1)
        y = shuffle(net(torch.randn(shape)))
        (y * torch.randn(shape)).sum().backward()
        seen += [y, net.weight.grad]
    return seen


def place(t):
    def shuffle(x):
        paste
        return y

    return train(shuffle)


def reference(t):
    def shuffle(x):
        half = x.shape[1] // 2
        order = [n + group * half for n in range(half) for group in range(2)]
        return x[:, order]

    return train(shuffle)
