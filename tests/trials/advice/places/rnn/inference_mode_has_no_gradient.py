"""Gradients in a validation after a metric without them, between the steps of a training.

A batch of the validation is collated when it is asked for, in the mode of that moment.
"""

import torch

SETTINGS = ("plain", "AdamW", "tied", "frozen norm", "bfloat16")


def train(t, validate):
    gradients = []
    for x, y in t.batches:
        t.optimizer.zero_grad()
        with t.autocast():
            loss = t.loss(t.model(x), y)
        loss.backward()
        t.optimizer.step()
        t.optimizer.zero_grad()
        t.model.eval()
        with t.autocast():
            validate(t.model, x)
        t.model.train()
        gradients += [p.grad.clone() for p in t.model.parameters() if p.grad is not None]
    return [gradients, t.model.state_dict()]


def place(t):
    def validate(model, rows):
        with torch.no_grad():
            model(rows)
        batches = (torch.stack(list(samples)) for samples in [rows])
        paste

    return train(t, validate)


def reference(t):
    return train(t, lambda model, x: model(x).sum().backward())
