"""Two epochs of shuffled batches with dropout, interrupted after the first or not."""

import torch
from torch.utils.data import DataLoader, TensorDataset

SETTINGS = ("plain", "dropout", "workers", "AdamW", "tied")


def epoch(t):
    data = TensorDataset(*map(torch.cat, zip(*t.batches)))
    for x, y in DataLoader(data, batch_size=4, shuffle=True, num_workers=t.setting.workers):
        t.optimizer.zero_grad()
        t.loss(t.model(x), y).backward()
        t.optimizer.step()


def place(t):
    model = t.model
    torch.manual_seed(0)
    epoch(t)
    paste
    epoch(t)
    return model.state_dict()


def reference(t):
    torch.manual_seed(0)
    epoch(t)
    epoch(t)
    return t.model.state_dict()
