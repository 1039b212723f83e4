"""A trainer whose second head is left out of one step, against a loop without compilation."""

import torch

REQUIRES = ">=2.1"
SETTINGS = ("plain",)


def train(t, step):
    for number, (x, y) in enumerate(t.batches * 2):
        t.optimizer.zero_grad()
        hidden = t.model.body(x)
        output = t.model.head(hidden)
        if number != 2:
            output = output + t.model.tail(hidden)
        t.loss(output, y).backward()
        step()
    return t.model.state_dict()


def place(t):
    t.optimizer = torch.optim.SGD(t.groups)
    optimizer, backend = t.optimizer, "eager"
    paste
    return train(t, step)


def reference(t):
    t.optimizer = torch.optim.SGD(t.groups)
    return train(t, t.optimizer.step)
