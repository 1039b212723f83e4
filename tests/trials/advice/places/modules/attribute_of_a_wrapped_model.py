"""Only the head is trained, with and without a wrapper around the model."""

import torch

SETTINGS = ("plain", "dropout", "bfloat16")


def train(t, model, optimizer):
    for x, y in t.batches:
        with t.autocast():
            loss = t.loss(model(x).float(), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return [[*t.model.parameters()], [len(group["params"]) for group in optimizer.param_groups]]


def place(t):
    model = t.model
    paste
    return train(t, model, optimizer)


def reference(t):
    optimizer = torch.optim.SGD([t.model.head.weight, t.model.head.bias], lr=0.1)
    return train(t, t.model, optimizer)
