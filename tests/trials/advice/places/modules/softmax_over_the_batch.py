"""The probabilities of samples in batches of any size, alone and in sequences."""

import torch

SETTINGS = ("plain", "short last batch")


def inputs(t):
    batches = [t.model.eval()(x) for x, _ in t.batches]
    return [*batches, batches[0][:1], torch.stack(batches[:2]), batches[0][0]]


def place(t):
    found = []
    for logits in inputs(t):
        paste
        found.append(probabilities)
    return found


def reference(t):
    found = []
    for logits in inputs(t):
        rows = [row.exp() / row.exp().sum() for row in logits.reshape(-1, 4)]
        found.append(torch.stack(rows).reshape(logits.shape))
    return found
