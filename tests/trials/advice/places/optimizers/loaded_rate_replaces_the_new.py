"""A run is resumed with a smaller rate, against SGD with momentum by hand."""

import copy

import torch

SETTINGS = ("plain", "tied", "frozen norm", "dropout", "short last batch")


def first_half(t):
    optimizer = torch.optim.SGD(t.model.parameters(), lr=0.1, momentum=0.9)
    train(t, t.batches[:3], optimizer.step)
    return optimizer


def train(t, batches, update):
    for x, y in batches:
        for parameter in t.model.parameters():
            parameter.grad = None
        t.loss(t.model(x), y).backward()
        update()


def place(t):
    model, checkpoint = t.model, {"optimizer": copy.deepcopy(first_half(t).state_dict())}
    paste
    train(t, t.batches[3:], optimizer.step)
    return model.state_dict()


def reference(t):
    old = first_half(t)
    momentum = {p: old.state[p]["momentum_buffer"].clone() for p in old.state}

    def update():
        with torch.no_grad():
            for parameter, buffer in momentum.items():
                buffer.mul_(0.9).add_(parameter.grad)
                parameter -= 0.01 * buffer

    train(t, t.batches[3:], update)
    return t.model.state_dict()
