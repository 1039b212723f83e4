"""Training whose rate follows the accuracy, against a rate that is computed by hand."""

import torch

SETTINGS = ("plain", "AdamW", "tied", "dropout", "short last batch")
ACCURACIES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.7, 0.7, 0.7, 0.8, 0.8)


def train(t, lower):
    losses = []
    for number, accuracy in enumerate(ACCURACIES):
        x, y = t.batches[number % 5]
        t.optimizer.zero_grad()
        loss = t.loss(t.model(x), y)
        loss.backward()
        t.optimizer.step()
        losses.append(loss.item())
        lower(accuracy)
    return [losses, t.model.state_dict()]


def place(t):
    optimizer = t.optimizer
    paste
    return train(t, scheduler.step)


def reference(t):
    best, bad = 0.0, 0

    def lower(accuracy):
        nonlocal best, bad
        bad = bad + 1 if accuracy <= best else 0
        best = max(best, accuracy)
        if bad == 2:
            bad = 0
            for group in t.optimizer.param_groups:
                group["lr"] *= 0.1

    return train(t, lower)
