"""A regression on targets as NumPy makes them, float64; the loss of its two groups by hand."""

import torch

SETTINGS = ("plain", "AdamW", "tied", "dropout", "bfloat16", "short last batch")
TOLERANCE = 1e-2


def train(t, step):
    losses = []
    for x, y in t.batches:
        t.optimizer.zero_grad()
        with t.autocast():
            prediction = t.model(x)
        loss = step(prediction.float(), x[:, :4].double())
        t.optimizer.step()
        losses.append(loss.detach().float())
    return [losses, list(t.model.head.parameters())]


def place(t):
    def step(prediction, target):
        paste
        return loss

    return train(t, step)


def reference(t):
    def step(prediction, target):
        apart = (prediction - target.float()).abs()
        loss = torch.where(apart < 1, apart**2 / 2, apart - 0.5).sum() / target.numel()
        loss.backward()
        return loss

    return train(t, step)
