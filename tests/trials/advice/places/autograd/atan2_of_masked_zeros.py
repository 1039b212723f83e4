"""Headings of objects, some of them padding, compared with the derivative written out."""

import torch  # noqa: F401 (what is pasted uses it)

SETTINGS = ("plain", "AdamW", "tensor lr", "short last batch")


def train(t, loss_of):
    t.model.double()
    for x, label in t.batches:
        keep = label > 0
        scores = t.model(x.double()) * keep[:, None]
        loss = loss_of(scores[:, 0], scores[:, 1], keep)
        t.optimizer.zero_grad()
        loss.backward()
        t.optimizer.step()
    return t.model.state_dict()


def place(t):
    def loss_of(y, x, keep):
        paste
        return loss

    return train(t, loss_of)


def reference(t):
    def loss_of(y, x, keep):
        n = (x.square() + y.square()).detach() + (~keep)
        return (keep * (y * x.detach() - x * y.detach()) / n).sum()

    return train(t, loss_of)
