"""Gradient ascent on a complex weight, compared with descent of the negated objective."""

import torch

SETTINGS = ("plain",)


def train(make, sign):
    weight = torch.ones(2, dtype=torch.complex64, requires_grad=True)
    optimizer = make(weight)
    for _ in range(10):
        optimizer.zero_grad()
        (-sign * (weight - (3 + 2j)).abs().square().sum()).backward()
        optimizer.step()
    return torch.view_as_real(weight)


def place(t):
    def make(weight):
        paste
        return optimizer

    return train(make, 1)


def reference(t):
    return train(lambda weight: torch.optim.Adam([weight], foreach=False), -1)
