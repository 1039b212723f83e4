"""A recurrent classifier of sequences with three features, for any number of features."""

import torch
from torch.nn import LSTM

SETTINGS = ("plain", "AdamW", "short last batch")


def train(t, run):
    losses = []
    for x, y in t.batches:
        torch.manual_seed(0)
        lstm, output = run(x.view(-1, 2, 3))
        loss = t.loss(output[:, -1], y)
        loss.backward()
        losses.append([loss.detach(), [p.grad for p in lstm.parameters()]])
    return losses


def place(t):
    def run(features):
        paste
        return lstm, output

    return train(t, run)


def reference(t):
    def run(features):
        lstm = LSTM(3, 4)
        return lstm, lstm(features.transpose(0, 1))[0].transpose(0, 1)

    return train(t, run)
