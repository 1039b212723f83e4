"""A classifier of bags of words, compared with sums of rows of the table."""

import torch
from torch.nn import EmbeddingBag  # noqa: F401  (the lines build one)

SETTINGS = ("plain", "short last batch")


def rows(y):
    return torch.stack([y, (y + 1) % 4, (y * 3) % 4], dim=1)


def place(t):
    device, seen = "cpu", []
    for _, y in t.batches:
        indices = rows(y)
        paste
        t.loss(bags, y).backward()
        seen += [bags, bag.weight.grad]
    return seen


def reference(t):
    seen = []
    for _, y in t.batches:
        table = torch.nn.Embedding(4, 4)
        bags = table(rows(y)).sum(1)
        t.loss(bags, y).backward()
        seen += [bags, table.weight.grad]
    return seen
