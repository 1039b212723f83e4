"""A complex weight that is fitted, against two real ones."""

import torch

SETTINGS = ("plain",)
TARGET = (0.3, -0.5)


def place(t):
    device, seen = "cpu", []
    paste
    for _ in range(20):
        optimizer.zero_grad()
        (weight - complex(*TARGET)).abs().square().sum().backward()
        optimizer.step()
        seen.append(torch.stack([weight.real, weight.imag]).detach().clone())
    return seen


def reference(t):
    real, imaginary = (torch.zeros(1, requires_grad=True) for _ in range(2))
    optimizer, seen = torch.optim.NAdam([real, imaginary], foreach=False), []
    for _ in range(20):
        optimizer.zero_grad()
        ((real - TARGET[0]).square() + (imaginary - TARGET[1]).square()).sum().backward()
        optimizer.step()
        seen.append(torch.stack([real, imaginary]).detach().clone())
    return seen
