"""Gradients in a validation, between the steps of a training."""

import torch  # noqa: F401  (the lines use it)

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
        validate(t.model, x)
        t.model.train()
        gradients += [p.grad.clone() for p in t.model.parameters() if p.grad is not None]
    return [gradients, t.model.state_dict()]


def place(t):
    def validate(model, x):
        paste

    return train(t, validate)


def reference(t):
    return train(t, lambda model, x: model(x).sum().backward())
