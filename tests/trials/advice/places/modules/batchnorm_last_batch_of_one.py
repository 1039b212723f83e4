"""Two epochs over datasets of four sizes, the batches cut by hand in the reference."""

import torch
from torch.utils.data import DataLoader, TensorDataset

SETTINGS = ("plain", "AdamW")
SIZES = (9, 8, 7, 3)


def train(t, batches):
    for _ in range(2):
        for x, y in batches:
            t.optimizer.zero_grad()
            t.loss(t.model(x), y).backward()
            t.optimizer.step()


def data(t, size):
    return tuple(torch.cat(part)[:size] for part in zip(*t.batches))


def place(t):
    for size in SIZES:
        dataset = TensorDataset(*data(t, size))
        paste
        train(t, list(loader))
    return t.model.state_dict()


def reference(t):
    for size in SIZES:
        x, y = data(t, size)
        batches = [*zip(x.split(4), y.split(4))]
        train(t, [batch for batch in batches if len(batch[0]) > 1])
    return t.model.state_dict()
