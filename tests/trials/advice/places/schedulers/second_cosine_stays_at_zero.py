"""Two phases of training, each with a cosine, against rates from the formula."""

import math

import torch

SETTINGS = ("plain", "AdamW", "tensor lr", "tied", "dropout", "short last batch")


def train(t, rates):
    losses = []
    for phase in range(2):
        set_rates = rates(phase)
        for step, (x, y) in enumerate(t.batches):
            set_rates(step)
            t.optimizer.zero_grad()
            loss = t.loss(t.model(x), y)
            loss.backward()
            t.optimizer.step()
            losses.append(loss.item())
    for group in t.optimizer.param_groups:
        group["lr"] = group["initial_lr"] = 0.1
    return [losses, t.model.state_dict()]


def place(t):
    optimizer = t.optimizer

    def rates(phase):
        if phase == 0:
            scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
        else:
            paste
        return lambda step: step and scheduler.step()

    return train(t, rates)


def reference(t):
    first = [float(group["lr"]) for group in t.optimizer.param_groups]

    def set_rates(step):
        for rate, group in zip(first, t.optimizer.param_groups):
            group["lr"] = rate * (1 + math.cos(math.pi * step / 4)) / 2

    return train(t, lambda phase: set_rates)
