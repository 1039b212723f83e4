"""The outputs of each step are collected for a plot, and the training goes on."""

import torch  # noqa: F401

SETTINGS = ("plain", "AdamW", "dropout")


def train(t, as_array):
    arrays = []
    for x, y in t.batches:
        t.optimizer.zero_grad()
        output = t.model(x)
        arrays.append(as_array(output))
        t.loss(output, y).backward()
        t.optimizer.step()
    return arrays


def place(t):
    def as_array(output):
        paste
        return scores.tolist()

    return train(t, as_array)


def reference(t):
    return train(t, lambda output: output.tolist())
