"""A regression on targets as NumPy makes them, float64; the loss of its two groups by hand."""

import torch  # noqa: F401  (the lines use it)

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
        if loss.dtype != prediction.dtype:
            raise TypeError(f"the loss is {loss.dtype}")
        return loss

    return train(t, step)


def reference(t):
    def step(prediction, target):
        loss = ((prediction - target.float()) ** 2).sum() / target.numel()
        loss.backward()
        return loss

    return train(t, step)
