"""A model that is exported after an epoch, between two steps of its training."""

import copy
import os
import tempfile

import torch

SETTINGS = ("plain", "tied", "dropout", "frozen norm")


def train(t, export):
    results = []
    for x, y in t.batches:
        t.optimizer.zero_grad()
        t.loss(t.model(x), y).backward()
        t.optimizer.step()
        if len(results) == 2:
            results.append(export(t.model)(x))
        results.append(t.model(x).detach())
    return results


def place(t):
    def export(model):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.pt")
            paste
            return served

    return [result.detach() for result in train(t, export)]


def reference(t):
    results = train(t, lambda model: copy.deepcopy(model).eval())
    return [result.detach() for result in results]
