"""A warmup with two groups, whose rates are divided by ten after the second batch."""

import torch

SETTINGS = ("plain", "AdamW", "tensor lr", "tied", "short last batch")


def factor(step):
    return (step + 1) / 4


def train(t, rates):
    losses = []
    for number, (x, y) in enumerate(t.batches * 2):
        rates(number)
        t.optimizer.zero_grad()
        loss = t.loss(t.model(x), y)
        loss.backward()
        t.optimizer.step()
        losses.append(loss.item())
    used = [float(group["lr"]) for group in t.optimizer.param_groups]
    for group in t.optimizer.param_groups:
        group["lr"] = group["initial_lr"] = 0.1
    return [losses, used, t.model.state_dict()]


def place(t):
    optimizer = t.optimizer
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)

    def rates(number):
        if number == 2:
            paste
        elif number:
            scheduler.step()

    return train(t, rates)


def reference(t):
    first = [float(group["lr"]) for group in t.optimizer.param_groups]

    def rates(number):
        for rate, group in zip(first, t.optimizer.param_groups):
            group["lr"] = rate * factor(number) * (0.1 if number >= 2 else 1)

    return train(t, rates)
