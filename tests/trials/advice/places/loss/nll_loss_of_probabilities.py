"""A classifier, against the cross entropy by hand."""

import torch

SETTINGS = ("plain", "frozen norm", "tied", "bfloat16", "accumulation", "short last batch")


def train(t, loss_of):
    losses = []
    for number, (x, y) in enumerate(t.batches, 1):
        logits = t.model(x)
        with t.autocast():
            loss = loss_of(logits, y)
        loss.backward()
        if number % t.setting.window == 0:
            t.optimizer.step()
            t.optimizer.zero_grad()
        losses.append(loss.detach().clone())
    return [t.model.state_dict(), losses]


def place(t):
    def loss_of(logits, labels):
        paste
        return loss

    return train(t, loss_of)


def reference(t):
    def loss_of(logits, labels):
        rows = logits.exp()
        return -sum((row[label] / row.sum()).log() for row, label in zip(rows, labels)) / len(rows)

    return train(t, loss_of)
