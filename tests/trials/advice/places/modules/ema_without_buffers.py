"""An average over a training run, kept in a table by hand in the reference."""

import copy

import torch

SETTINGS = ("plain", "AdamW", "tied", "frozen norm", "dropout", "bfloat16")


def train(t, update):
    for _ in range(2):
        for x, y in t.batches:
            t.optimizer.zero_grad()
            with t.autocast():
                loss = t.loss(t.model(x), y)
            loss.backward()
            t.optimizer.step()
            update()


def place(t):
    model, ema = t.model, copy.deepcopy(t.model).requires_grad_(False)

    def update():
        paste

    train(t, update)
    return [ema.eval()(x) for x, _ in t.batches]


def reference(t):
    means = {name: p.detach().clone() for name, p in t.model.named_parameters()}

    def update():
        for name, p in t.model.named_parameters():
            means[name] = 0.9 * means[name] + 0.1 * p.detach()

    train(t, update)
    ema = copy.deepcopy(t.model).eval()
    with torch.no_grad():
        for name, p in ema.named_parameters():
            p.copy_(means[name])
    return [ema(x) for x, _ in t.batches]
