"""Distillation from a teacher, of which one target is 0."""

import torch
from torch.nn.functional import kl_div  # noqa: F401  (the lines call it)

SETTINGS = ("plain", "AdamW", "tied", "dropout", "bfloat16", "short last batch")
TOLERANCE = 1e-2


def train(t, loss_of):
    losses = []
    for x, y in t.batches:
        target = (x[:, :4] / 2).softmax(1).masked_fill(torch.arange(4) == 3, 0.0)
        target = target / target.sum(1, keepdim=True)
        t.optimizer.zero_grad()
        with t.autocast():
            loss = loss_of(t.model(x).float(), target)
        loss.backward()
        t.optimizer.step()
        losses.append(loss.detach().float())
    return losses


def place(t):
    def loss_of(logits, target):
        paste
        return loss

    return train(t, loss_of)


def reference(t):
    def loss_of(logits, target):
        return sum(
            p * (p.log() - q.log()) / len(target)
            for row, goal in zip(logits.softmax(1), target)
            for q, p in zip(row[:3], goal[:3])
        )

    return train(t, loss_of)
