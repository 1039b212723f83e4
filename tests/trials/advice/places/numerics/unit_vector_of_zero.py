"""Embeddings of words that are normalised, one of an unknown word; each row alone otherwise."""

import torch

SETTINGS = ("plain", "AdamW", "bfloat16", "float16")
TOLERANCE = 2e-2  # of the low precisions


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.words = torch.nn.Embedding(4, 6)
        torch.nn.init.zeros_(self.words.weight[0].data)
        self.head = torch.nn.Linear(6, 4)

    def forward(self, unit_of, y, dtype):
        return self.head(unit_of(self.words(y.view(2, -1)).to(dtype)).flatten(0, 1).float())


def train(t, unit_of):
    t.model = t.watched(Net())
    for _, y in t.batches:
        t.optimizer.zero_grad()
        output = t.model(unit_of, y, t.setting.dtype)
        t.loss(output, y).backward()
        t.optimizer.step()
    return t.model.state_dict()


def place(t):
    def unit_of(x):
        paste
        return unit

    return train(t, unit_of)


def reference(t):
    def unit_of(x):
        rows = x.float().flatten(0, 1)
        units = [row / row.square().sum().sqrt() if row.any() else row for row in rows]
        return torch.stack(units).view_as(x).to(x.dtype)

    return train(t, unit_of)
