"""A classifier whose loss is created in the training step."""

import torch
from torch import nn

SETTINGS = ("plain", "AdamW", "bfloat16", "short last batch")


def train(t, loss_of):
    losses = []
    for x, y in t.batches:
        with t.autocast():
            loss = loss_of(t.model(x), y)
        t.optimizer.zero_grad()
        loss.backward()
        t.optimizer.step()
        losses.append(loss.detach())
    return [losses, t.model.state_dict()]


def place(t):
    def loss_of(outputs, labels):
        paste
        return loss

    return train(t, loss_of)


def reference(t):
    return train(t, torch.nn.functional.cross_entropy)
