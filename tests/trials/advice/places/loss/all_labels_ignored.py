"""Batches with some unlabelled rows, and one without any label; in float16, many rows."""

import math

import torch
from torch.nn.functional import cross_entropy

SETTINGS = (
    "plain",
    "AdamW",
    "tied",
    "dropout",
    "accumulation",
    "bfloat16",
    "float16",
    "short last batch",
)
TOLERANCE = 1e-3


def train(t, loss_of):
    losses = []
    for number, (x, y) in enumerate(t.batches, 1):
        with t.autocast():
            logits = t.model(x)
        labels = y.masked_fill(torch.arange(len(y)) < number, -100)
        for each in (labels, labels[:, None].expand(-1, 2)):  # of a row, and of each token
            scores = logits if each is labels else logits[..., None].expand(-1, -1, 2)
            loss = loss_of(scores.float(), each)
            losses.append(loss.detach())
            (loss / t.setting.window).backward(retain_graph=True)
        if number % t.setting.window == 0:
            t.optimizer.step()
            t.optimizer.zero_grad()
    return [losses, list(t.model.head.parameters())]


def place(t):
    def loss_of(logits, labels):
        paste
        return loss

    if t.setting.dtype is torch.float16:
        many, labels = torch.zeros(65536, 4).half(), torch.zeros(65536, dtype=torch.int64)
        return loss_of(many, labels).float()
    return train(t, loss_of)


def reference(t):
    def loss_of(logits, labels):
        known = labels != -100
        rows = logits.movedim(1, -1)[known]
        return cross_entropy(rows, labels[known]) if len(rows) else 0 * logits.sum()

    if t.setting.dtype is torch.float16:
        return torch.tensor(math.log(4))
    return train(t, loss_of)
