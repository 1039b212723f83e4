"""A body that is thawed after two batches, compared with SGD with momentum written out."""

import torch

SETTINGS = ("plain", "tied", "frozen norm", "dropout", "short last batch")
REQUIRES = ">=2.4"


def train(t, step):
    for number, (x, y) in enumerate(t.batches):
        t.model.body.requires_grad_(number >= 2)
        t.model.zero_grad()
        t.loss(t.model(x), y).backward()
        step()
    return t.model.state_dict()


def place(t):
    model = t.model
    paste
    return train(t, lambda: optimizer.step())


def reference(t):
    momentum = {}

    def step():
        with torch.no_grad():
            for parameter in t.model.parameters():
                if parameter.grad is not None:
                    before = momentum.get(parameter, torch.zeros_like(parameter))
                    momentum[parameter] = 0.9 * before + parameter.grad
                    parameter -= 0.1 * momentum[parameter]

    return train(t, step)
