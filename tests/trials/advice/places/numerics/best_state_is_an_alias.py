"""Two more epochs after the best one, and training goes on from the best weights twice."""

import torch

SETTINGS = ("plain", "AdamW", "tied", "frozen norm", "dropout", "tensor lr")


def start(t):
    def train_epoch():
        for x, y in t.batches:
            t.optimizer.zero_grad()
            t.loss(t.model(x), y).backward()
            t.optimizer.step()

    return t.model, t.optimizer, train_epoch


def state(model):
    return {name: value.clone() for name, value in model.state_dict().items()}


def place(t):
    model, optimizer, train_epoch = start(t)
    batches, criterion = t.batches, t.loss
    train_epoch()
    paste
    results = [state(model)]
    for _ in range(2):  # what is kept serves more than once
        best.restore() if hasattr(best, "restore") else model.load_state_dict(best)
        results.append(state(model))
        train_epoch()
    return results


def reference(t):
    model, _, train_epoch = start(t)
    train_epoch()
    saved = {name: value.tolist() for name, value in model.state_dict().items()}
    train_epoch()
    after = state(model)
    train_epoch()
    return [after] + [{name: torch.tensor(value) for name, value in saved.items()}] * 2
