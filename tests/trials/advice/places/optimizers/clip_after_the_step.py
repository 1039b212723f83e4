"""A network with large gradients, against gradients that are scaled by hand."""

import torch

SETTINGS = ("plain", "tied", "frozen norm", "dropout", "bfloat16", "short last batch")


def run(t, update):
    losses = []
    for number, (x, y) in enumerate(t.batches * 2):
        t.optimizer.zero_grad()
        with t.autocast():
            logits = t.model(x)
        loss = t.loss(logits.float(), y) * 10 ** (number % 3)
        update(loss)
        losses.append(loss.item())
    return [losses, t.model.state_dict()]


def place(t):
    model, optimizer = t.model, t.optimizer

    def update(loss):
        paste

    return run(t, update)


def reference(t):
    def update(loss):
        loss.backward()
        grads = [p.grad for p in t.model.parameters() if p.grad is not None]
        norm = sum(grad.square().sum() for grad in grads).sqrt()
        for grad in grads:
            grad /= max(norm, 1.0)
        t.optimizer.step()

    return run(t, update)
