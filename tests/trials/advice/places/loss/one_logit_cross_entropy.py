"""A binary classifier with one output and labels [N, 1]."""

import torch
from torch.nn.functional import cross_entropy  # noqa: F401  (the wrong line calls it)

SETTINGS = ("plain", "AdamW", "tied", "dropout", "bfloat16", "short last batch")
TOLERANCE = 1e-2


def train(t, loss_of):
    losses = []
    for x, y in t.batches:
        t.optimizer.zero_grad()
        with t.autocast():
            loss = loss_of(t.model(x)[:, :1], (y > 1).float()[:, None])
        loss.backward()
        t.optimizer.step()
        losses.append(loss.detach().float())
    return losses


def place(t):
    def loss_of(logits, labels):
        paste
        return loss

    return train(t, loss_of)


def reference(t):
    def loss_of(logits, labels):
        p = logits.double().sigmoid()
        return -torch.where(labels > 0, p, 1 - p).log().mean().float()

    return train(t, loss_of)
