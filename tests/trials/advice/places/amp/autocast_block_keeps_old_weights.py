"""A classifier under autocast, against a model whose Linear weights are cast anew in each step."""

import torch

SETTINGS = ("plain", "AdamW", "tied", "frozen norm", "short last batch")
TOLERANCE = 3e-2


def start(t):
    return t.model, t.optimizer, t.loss, t.batches * 3, "cpu"


def result(t):
    t.model.eval()
    return [t.model.state_dict(), [t.model(x) for x, _ in t.batches]]


def place(t):
    model, optimizer, criterion, loader, device = start(t)
    paste
    return result(t)


def reference(t):
    model, optimizer, criterion, loader, device = start(t)
    for x, y in loader:
        with torch.autocast(device, torch.bfloat16, cache_enabled=False):
            prediction = model(x)
        optimizer.zero_grad()
        criterion(prediction.float(), y).backward()
        optimizer.step()
    return result(t)
