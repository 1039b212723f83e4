"""Windows of two batches and a short last window, with some unlabelled rows.

In float16, the loss of many tokens.
"""

import math

import torch
from torch.nn.functional import cross_entropy

SETTINGS = ("plain", "AdamW", "bfloat16", "float16", "short last batch")
TOLERANCE = 1e-2


class Scores(torch.nn.Linear):
    """Without batch normalization, so that a window can be one batch."""


def train(t, accumulate):
    t.model = t.watched(Scores(6, 4))
    t.groups = [{"params": [p], "lr": 0.1} for p in t.model.parameters()]
    rows = [
        (x, y.masked_fill(torch.arange(len(y)) < n, -100)) for n, (x, y) in enumerate(t.batches)
    ]
    steps = []
    for start in (0, 2, 4):  # the last window is one batch, without a label
        t.optimizer.zero_grad()
        with t.autocast():
            loss = accumulate(t.model, rows[start : start + 2])
        t.optimizer.step()
        steps += [bool(loss.isfinite()), *(p.detach().clone() for p in t.model.parameters())]
    return steps


def place(t):
    def accumulate(model, batches):
        paste
        return loss.detach().float()

    if t.setting.dtype is torch.float16:
        many = torch.zeros(65536, 4, dtype=torch.float16, requires_grad=True)
        labels = torch.zeros(65536, dtype=torch.int64)
        return accumulate(torch.nn.Identity(), [(many, labels)])
    return train(t, accumulate)


def reference(t):
    def accumulate(model, batches):
        x, labels = (torch.cat(column) for column in zip(*batches))
        known = labels != -100
        loss = cross_entropy(model(x)[known], labels[known], reduction="sum") / max(known.sum(), 1)
        loss.backward()
        return loss

    if t.setting.dtype is torch.float16:
        return torch.tensor(math.log(4))
    return train(t, accumulate)
