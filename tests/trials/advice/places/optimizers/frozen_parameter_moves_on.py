"""A layer frozen for two batches and thawed again; the optimizer does not hold it meanwhile."""

import torch

SETTINGS = ("plain", "AdamW", "tensor lr", "dropout", "frozen norm")


def train(t, freeze, thaw):
    seen = []
    for number, (x, y) in enumerate(t.batches):
        if number == 2:
            freeze(t.model.body, t.optimizer)
        else:
            t.optimizer.zero_grad()
        if number == 4:
            thaw(t.model.body, t.optimizer)
        t.loss(t.model(x), y).backward()
        t.optimizer.step()
        seen.append({name: p.detach().clone() for name, p in t.model.named_parameters()})
    return seen


def place(t):
    def freeze(backbone, optimizer):
        paste

    return train(t, freeze, lambda backbone, optimizer: backbone.requires_grad_(True))


def reference(t):
    held = []

    def freeze(backbone, optimizer):
        held.extend(optimizer.param_groups[0]["params"])
        optimizer.param_groups[0]["params"] = []
        optimizer.zero_grad()

    def thaw(backbone, optimizer):
        optimizer.param_groups[0]["params"] = held
        optimizer.zero_grad()

    return train(t, freeze, thaw)
