"""A model with a loss for each output, which are averaged."""

import torch

SETTINGS = ("plain", "AdamW", "tied", "bfloat16")


def train(t, join):
    for x, y in t.batches:
        with t.autocast():
            outputs = t.model(x)
            losses = [t.loss(outputs * scale, y) for scale in (1, 2, 3)]
            loss = join(losses)
        t.optimizer.zero_grad()
        loss.backward()
        t.optimizer.step()
    return [loss.detach(), t.model.state_dict()]


def place(t):
    def join(losses):
        paste
        return loss

    return train(t, join)


def reference(t):
    return train(t, lambda losses: sum(losses) / len(losses))
