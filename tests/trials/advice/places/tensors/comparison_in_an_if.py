"""A loop that counts the correct predictions of an epoch."""

import torch

SETTINGS = ("plain", "bfloat16", "short last batch")


def train(t, count):
    correct = 0
    for x, y in [*t.batches, *[(x[:1], y[:1]) for x, y in t.batches]]:
        with t.autocast():
            outputs = t.model(x) if len(x) > 1 else t.model(x.repeat(2, 1))[:1]
        correct = count(correct, outputs, y)
        t.optimizer.zero_grad()
        t.loss(outputs.float(), y).backward()
        t.optimizer.step()
    return [isinstance(correct, int), correct]


def place(t):
    def count(correct, outputs, labels):
        paste
        return correct

    return train(t, count)


def reference(t):
    def count(correct, outputs, labels):
        rows = zip(outputs.tolist(), labels.tolist())
        return correct + sum(row.index(max(row)) == label for row, label in rows)

    return train(t, count)
