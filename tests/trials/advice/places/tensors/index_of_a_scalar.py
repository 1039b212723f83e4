"""A training loop that sums the loss for its log."""

import torch

SETTINGS = ("plain", "AdamW", "bfloat16")


def train(t, add):
    total = 0.0
    for x, y in t.batches:
        t.optimizer.zero_grad()
        with t.autocast():
            loss = t.loss(t.model(x), y)
        loss.backward()
        t.optimizer.step()
        total = add(total, loss)
    return [isinstance(total, float), total, t.model.state_dict()]


def place(t):
    def add(total, loss):
        paste
        return total

    return train(t, add)


def reference(t):
    return train(t, lambda total, loss: total + torch.stack([loss.detach()]).tolist()[0])
