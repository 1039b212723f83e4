"""Three steps of two micro-batches each, compared with steps with the whole batch at once."""

from collections import OrderedDict

import torch

SETTINGS = ("plain", "AdamW", "tensor lr")


def net(t):
    layers = OrderedDict(
        body=torch.nn.Linear(6, 8), act=torch.nn.Tanh(), head=torch.nn.Linear(8, 4)
    )
    t.model = t.watched(torch.nn.Sequential(layers))
    return t.model, [t.batches[0:2], t.batches[2:4], t.batches[3:5]]


def place(t):
    model, windows = net(t)
    optimizer, loss_fn = t.optimizer, t.loss
    for micro_batches in windows:
        paste
    return model.state_dict()


def reference(t):
    model, windows = net(t)
    for window in windows:
        x, y = (torch.cat(each) for each in zip(*window))
        model.zero_grad()
        t.loss(model(x), y).backward()
        t.optimizer.step()
    return model.state_dict()
