"""Gradients that pass through float16, from a loss that is summed over the batch, and one of 2e-11,
against a scale that is halved by hand.
"""

import torch

SETTINGS = ("plain", "tied", "frozen norm", "short last batch")


def start(t):
    t.model.small = torch.nn.Parameter(torch.zeros(1))

    def criterion(output, y):
        small = t.model.small.half().float().sum() * 2e-11
        return t.loss(output.half().float(), y, reduction="sum") * 2 + small

    trained = [p for p in t.model.parameters() if p.requires_grad]
    t.optimizer = torch.optim.Adam(trained, lr=0.01, eps=1e-15)
    return t.model, t.optimizer, criterion, t.batches * 4


def place(t):
    model, optimizer, criterion, loader = start(t)
    device, steps = "cpu", 0
    paste
    return [steps, model.state_dict()]


def reference(t):
    model, optimizer, criterion, loader = start(t)
    scale, steps = 65536.0, 0
    for x, y in loader:
        optimizer.zero_grad()
        (criterion(model(x), y) * scale).backward()
        gradients = [p.grad for p in model.parameters() if p.grad is not None]
        if all(g.isfinite().all() for g in gradients):
            for g in gradients:
                g /= scale
            optimizer.step()
            steps += 1
        else:
            scale /= 2
    return [steps, model.state_dict()]
