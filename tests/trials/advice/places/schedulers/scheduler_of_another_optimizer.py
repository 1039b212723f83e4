"""Training with a schedule, against rates that are written out."""

import warnings

import torch

SETTINGS = ("plain", "AdamW", "tied", "dropout", "short last batch")


def train(t, model, optimizer, after):
    losses = []
    for step, (x, y) in enumerate(t.batches):
        optimizer.zero_grad()
        loss = t.loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        after(step)
    return [losses, [group["lr"] for group in optimizer.param_groups], model.state_dict()]


def builder(t):
    def make_optimizer(model):
        groups = [{**group} for group in t.groups]
        return getattr(torch.optim, t.setting.optimizer)(groups, lr=0.1)

    return make_optimizer


def place(t):
    model, make_optimizer = t.model, builder(t)
    paste
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return train(t, model, optimizer, lambda step: scheduler.step())


def reference(t):
    optimizer = builder(t)(t.model)

    def after(step):
        for rate, group in zip((0.1, 0.05), optimizer.param_groups):
            group["lr"] = rate * 0.1 ** (step + 1)

    return train(t, t.model, optimizer, after)
