"""A trainer over rows that are sorted by class, against batches of a permutation per epoch."""

import torch
from torch.utils.data import DataLoader, TensorDataset  # noqa: F401

SETTINGS = ("plain", "AdamW", "tied", "accumulation")


def start():
    labels = torch.arange(4).repeat_interleave(50)
    x = torch.nn.functional.one_hot(labels, 6) + 0.1 * torch.randn(200, 6)
    return TensorDataset(x, labels)


def train(t, rows, batches):
    read = []
    for step, (x, y) in enumerate(batch for _ in range(10) for batch in batches()):
        (t.loss(t.model(x), y) / t.setting.window).backward()
        if step % t.setting.window == t.setting.window - 1:
            t.optimizer.step()
            t.optimizer.zero_grad()
        read.append(x)
    t.model.eval()
    accuracy = (t.model(rows.tensors[0]).argmax(1) == rows.tensors[1]).float().mean()
    t.model.train()
    return [bool(accuracy > 0.9), len(read), torch.cat(read).sum()]


def place(t):
    rows = start()
    paste
    return train(t, rows, lambda: loader)


def reference(t):
    rows = start()
    return train(t, rows, lambda: [rows[part] for part in torch.randperm(200).split(10)])
