"""A trial before training, at the start and when resuming; with what is in memory for a step."""

import gc

import torch

SETTINGS = ("plain", "AdamW", "tied", "frozen norm", "tensor lr")


def state():
    optimizers = [one for one in gc.get_objects() if isinstance(one, torch.optim.Optimizer)]
    return sum(len(one.state) for one in optimizers)


def train(t, attempt):
    gc.collect()
    before, largest = state(), []
    for number, (x, y) in enumerate(t.batches[:3]):
        if number != 1:
            seen = []

            def criterion(output, labels):
                seen.append(state() - before)
                return t.loss(output, labels)

            attempt(t.model, t.optimizer, criterion, x, y)
            largest.append(seen[-1] > 0 if seen else True)
        t.optimizer.zero_grad()
        t.loss(t.model(x), y).backward()
        t.optimizer.step()
    return [largest, t.model.state_dict()]


def place(t):
    def attempt(model, optimizer, criterion, x, y):
        paste

    return train(t, attempt)


def reference(t):
    return train(t, lambda model, optimizer, criterion, x, y: None)
