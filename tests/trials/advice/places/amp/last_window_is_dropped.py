"""Three epochs of five batches in windows of two, from a DataLoader."""

import torch
from torch.utils.data import DataLoader

SETTINGS = ("plain", "AdamW", "tied", "frozen norm", "dropout", "workers")
WINDOW = 2


def place(t):
    model, optimizer, criterion = t.model, t.optimizer, t.loss
    loader = DataLoader(
        t.batches, batch_size=None, num_workers=t.setting.workers, generator=torch.Generator()
    )
    for _ in range(3):
        paste
    return [
        model.state_dict(),
        [each.grad is None or not each.grad.any() for each in model.parameters()],
    ]


def reference(t):
    for _ in range(3):
        for window in (t.batches[:2], t.batches[2:4], t.batches[4:]):
            sum(t.loss(t.model(x), y) for x, y in window).div(len(window)).backward()
            t.optimizer.step()
            t.optimizer.zero_grad()
    return [t.model.state_dict(), [True for _ in t.model.parameters()]]
