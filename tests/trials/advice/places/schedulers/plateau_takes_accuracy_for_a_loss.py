"""Training whose rate follows the accuracy, against a rate that is computed by hand."""

import torch

SETTINGS = ("plain", "AdamW", "tied", "dropout", "short last batch")
ACCURACIES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.7, 0.7, 0.7, 0.8, 0.8)


def trained(t, losses):
    """Yields an accuracy after each step, whose loss it adds to the losses."""
    for number, accuracy in enumerate(ACCURACIES):
        x, y = t.batches[number % 5]
        t.optimizer.zero_grad()
        loss = t.loss(t.model(x), y)
        loss.backward()
        t.optimizer.step()
        losses.append(loss.item())
        yield accuracy


def place(t):
    optimizer, losses = t.optimizer, []
    accuracies = trained(t, losses)
    paste
    return [losses, t.model.state_dict()]


def reference(t):
    best, bad, losses = 0.0, 0, []
    for accuracy in trained(t, losses):
        bad = bad + 1 if accuracy <= best else 0
        best = max(best, accuracy)
        if bad == 2:
            bad = 0
            for group in t.optimizer.param_groups:
                group["lr"] *= 0.1
    return [losses, t.model.state_dict()]
