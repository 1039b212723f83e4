"""A partly frozen model; the same gradients clipped by hand."""

import torch

SETTINGS = ("plain", "frozen norm", "tied", "dropout", "short last batch")


def start(t):
    t.model.body.requires_grad_(False)

    def criterion(output, y):
        return 100 * t.loss(output, y)

    return t.model, t.batches, criterion


def place(t):
    model, batches, criterion = start(t)
    paste
    return model.state_dict()


def reference(t):
    model, batches, criterion = start(t)
    for x, y in batches:
        model.zero_grad()
        criterion(model(x), y).backward()
        trained = [p for p in model.parameters() if p.grad is not None]
        norm = sum(p.grad.double().square().sum() for p in trained).sqrt()
        with torch.no_grad():
            for p in trained:
                p -= 0.1 * (p.grad / norm.clamp(min=1)).float()
    return model.state_dict()
