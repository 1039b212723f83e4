"""A loop with two parameter groups, compared with the same without a scaler."""

import torch

SETTINGS = ("plain", "AdamW", "tied", "frozen norm", "dropout")


def train(t, step):
    for x, y in t.batches:
        t.optimizer.zero_grad()
        step(t.loss(t.model(x), y))
    return t.model.state_dict()


def place(t):
    model, optimizer = t.model, t.optimizer
    scaler = torch.amp.GradScaler("cpu")

    def step(loss):
        paste

    return train(t, step)


def reference(t):
    def step(loss):
        loss.backward()
        t.optimizer.step()

    return train(t, step)
