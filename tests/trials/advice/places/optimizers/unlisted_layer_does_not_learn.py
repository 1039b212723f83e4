"""Weight decay for the weights only, compared with SGD and AdamW with a loop over the names."""

from functools import partial
from types import SimpleNamespace

import torch

SETTINGS = ("plain", "tied", "frozen norm", "dropout", "short last batch")

# The gradient of body.bias, before a norm, is mere rounding, which AdamW would scale up.
AdamW = partial(torch.optim.AdamW, eps=1e-3)


def build(model, kind):
    torch = SimpleNamespace(optim=SimpleNamespace(SGD=kind))
    paste
    return optimizer


def place(t):
    for kind in (torch.optim.SGD, AdamW):
        optimizer = build(t.model, kind)
        for x, y in t.batches:
            optimizer.zero_grad()
            t.loss(t.model(x), y).backward()
            optimizer.step()
    return t.model.state_dict()


def reference(t):
    for x, y in t.batches:
        t.model.zero_grad()
        t.loss(t.model(x), y).backward()
        with torch.no_grad():
            for name, parameter in t.model.named_parameters():
                if parameter.requires_grad:
                    decay = 0.01 * parameter if "weight" in name else 0
                    parameter -= 0.1 * (parameter.grad + decay)
    each = [
        AdamW([parameter], lr=0.1, weight_decay=0.01 if "weight" in name else 0.0)
        for name, parameter in t.model.named_parameters()
        if parameter.requires_grad
    ]
    for x, y in t.batches:
        t.model.zero_grad()
        t.loss(t.model(x), y).backward()
        for optimizer in each:
            optimizer.step()
    return t.model.state_dict()
