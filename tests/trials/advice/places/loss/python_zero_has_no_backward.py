"""A model that returns a table of numbers, one of which is its loss."""

import torch

SETTINGS = ("plain", "AdamW", "tied", "dropout", "bfloat16")


def train(t, backward):
    for x, y in t.batches:
        t.optimizer.zero_grad()
        with t.autocast():
            logits = t.model(x)
            outputs = {
                "ce_loss": t.loss(logits, y),
                "accuracy": (logits.argmax(1) == y).float().mean(),
            }
        backward(outputs)
        t.optimizer.step()
    return t.model.state_dict()


def place(t):
    def backward(outputs):
        paste

    return train(t, backward)


def reference(t):
    return train(t, lambda outputs: torch.autograd.backward([next(iter(outputs.values()))]))
