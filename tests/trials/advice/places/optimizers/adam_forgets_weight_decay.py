"""Weight decay decoupled from the step of Adam; the reference writes both out."""

import torch

SETTINGS = ("plain", "short last batch")
TOLERANCE = 1e-3


def net(t):
    layers = torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 4)
    t.model = t.watched(torch.nn.Sequential(*layers))
    return t.model


def place(t):
    model = net(t)
    paste
    for x, y in t.batches:
        optimizer.zero_grad()
        t.loss(model(x), y).backward()
        optimizer.step()
    return list(model.parameters())


def reference(t):
    moments = [[0, 0] for _ in net(t).parameters()]
    for number, (x, y) in enumerate(t.batches, start=1):
        t.model.zero_grad()
        t.loss(t.model(x), y).backward()
        for parameter, moment in zip(t.model.parameters(), moments):
            moment[0] = 0.9 * moment[0] + 0.1 * parameter.grad
            moment[1] = 0.999 * moment[1] + 0.001 * parameter.grad.square()
            first, second = moment[0] / (1 - 0.9**number), moment[1] / (1 - 0.999**number)
            step = 0.1 * first / (second.sqrt() + 1e-8)
            with torch.no_grad():
                parameter.mul_(1 - 0.1 * 0.1).sub_(step)
    return list(t.model.parameters())
