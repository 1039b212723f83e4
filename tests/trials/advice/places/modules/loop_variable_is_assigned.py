"""An evaluation with averaged weights, against load_state_dict()."""

import copy

import torch

SETTINGS = ("plain", "tied", "frozen norm", "short last batch")


def run(t, swap):
    model, results = t.model, []
    ema = copy.deepcopy(model).requires_grad_(False)
    for x, y in t.batches:
        t.optimizer.zero_grad()
        t.loss(model(x), y).backward()
        t.optimizer.step()
        for mean, new in zip(ema.parameters(), model.parameters()):
            mean.mul_(0.5).add_(new.detach(), alpha=0.5)
    swap(model, ema)
    for x, y in t.batches:  # the optimizer must still hold the parameters
        t.optimizer.zero_grad()
        loss = t.loss(model(x), y)
        loss.backward()
        t.optimizer.step()
        results.append(loss.detach().clone())
    return [results, model.state_dict(), ema.state_dict()]


def place(t):
    def swap(model, ema):
        paste

    return run(t, swap)


def reference(t):
    def swap(model, ema):
        own = {name: value.clone() for name, value in model.named_buffers()}
        model.load_state_dict({**ema.state_dict(), **own})

    return run(t, swap)
