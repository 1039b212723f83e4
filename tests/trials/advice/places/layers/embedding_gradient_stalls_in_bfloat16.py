"""Two tokens of which one is frequent, in batches of sequences; how often each comes is known."""

import torch

SETTINGS = ("plain",)


def sequences():
    tokens = torch.zeros(64, 128, dtype=torch.long)
    tokens[::2, 5] = 1
    return tokens


def place(t):
    tokens = sequences()
    paste
    hidden.sum().backward()
    return str(hidden.dtype), tuple(hidden.shape), embedding.weight.grad


def reference(t):
    torch.nn.Embedding(2, 1)
    times = sequences().flatten().bincount().float()
    return str(torch.bfloat16), (64, 128, 1), times.view(2, 1)
