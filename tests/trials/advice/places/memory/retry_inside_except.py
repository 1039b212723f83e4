"""Prediction with a model that fits three rows; another error has to come through."""

import weakref

import torch

SETTINGS = ("plain", "tied", "bfloat16", "short last batch")


def predict(t, run):
    alive, held = [], []

    def model(batch):
        held.append(sum(one() is not None for one in alive))
        alive.clear()
        with torch.no_grad(), t.autocast():
            hidden = t.model(batch)
        alive.append(weakref.ref(hidden))
        if len(batch) > 3:
            torch.empty(2**50)
        return hidden.float().square()

    t.model.eval()
    outputs = [run(model, batch) for batch, _ in t.batches]
    try:
        run(model, torch.ones(2, 5))
    except RuntimeError:
        outputs.append(torch.zeros(1, 4))
    return [torch.cat(outputs), max(held)]


def place(t):
    def run(model, batch):
        paste
        result = output.clone()
        return result

    return predict(t, run)


def reference(t):
    with t.autocast():
        outputs = [t.model.eval()(row[None]).float().square() for x, _ in t.batches for row in x]
    return [torch.cat([*outputs, torch.zeros(1, 4)]).detach(), 0]
