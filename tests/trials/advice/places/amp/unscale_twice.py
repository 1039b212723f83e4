"""Windows of two batches, clipped, two epochs; the last window of an epoch is shorter.

The scale is low, so that gradients that were not cleared count.
"""

import torch

SETTINGS = ("plain", "AdamW", "tied", "frozen norm", "dropout", "short last batch")
WINDOW = 2


def share(loss, i, loader):
    return loss / min(WINDOW, len(loader) - i // WINDOW * WINDOW)


def place(t):
    model, optimizer, loader = t.model, t.optimizer, t.batches
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0)
    for _ in range(2):
        for i, (x, y) in enumerate(loader):
            loss = share(t.loss(model(x), y), i, loader)
            paste
    return [model.state_dict(), scaler.get_scale()]


def reference(t):
    loader = t.batches
    for _ in range(2):
        for i, (x, y) in enumerate(loader):
            share(t.loss(t.model(x), y), i, loader).backward()
            if i % WINDOW == WINDOW - 1 or i == len(loader) - 1:
                torch.nn.utils.clip_grad_norm_(t.model.parameters(), 1.0)
                t.optimizer.step()
                t.optimizer.zero_grad()
    return [t.model.state_dict(), 2.0]
