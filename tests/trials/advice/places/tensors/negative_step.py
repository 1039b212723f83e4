"""Discounted returns that are computed backwards, and then weight a loss."""

import torch

SETTINGS = ("plain", "AdamW", "short last batch")


def train(t, reverse):
    losses = []
    for x, y in t.batches:
        outputs = t.model(x)
        values = outputs.max(1).values
        loss = t.loss(outputs, y) + (reverse(values) * torch.arange(len(x))).sum()
        t.optimizer.zero_grad()
        loss.backward()
        t.optimizer.step()
        losses.append(loss.detach())
    return losses


def place(t):
    def reverse(returns):
        paste
        return returns

    return train(t, reverse)


def reference(t):
    return train(t, lambda returns: torch.stack(list(returns)[::-1]))
