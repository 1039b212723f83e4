"""A complex weight that is fitted in double precision, and copied, compared with two real ones."""

import copy

import torch

SETTINGS = ("plain",)
TARGET = (0.3, -0.5)
ONE = torch.ones(1, dtype=torch.float64)


def place(t):
    device, seen = "cpu", []
    paste
    model.double()
    for _ in range(20):
        optimizer.zero_grad()
        (model(ONE) - complex(*TARGET)).abs().square().sum().backward()
        optimizer.step()
        seen.append(torch.view_as_real(model(ONE).detach()).squeeze(0))
    return seen, torch.view_as_real(copy.deepcopy(model)(ONE).detach()).squeeze(0)


def reference(t):
    parts = [torch.zeros((), dtype=torch.float64, requires_grad=True) for _ in range(2)]
    optimizer, seen = torch.optim.NAdam(parts, foreach=False), []
    for _ in range(20):
        optimizer.zero_grad()
        sum((part - goal).square() for part, goal in zip(parts, TARGET)).backward()
        optimizer.step()
        seen.append(torch.stack(parts).detach())
    return seen, seen[-1]
