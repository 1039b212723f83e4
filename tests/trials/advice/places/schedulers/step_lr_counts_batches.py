"""Eight epochs of five batches; the learning rate of every batch, compared with the formula."""

import torch

SETTINGS = ("plain", "AdamW", "tensor lr", "short last batch")


def place(t):
    epochs, loader, rates = 8, t.batches, []
    momentum = {"momentum": 0.9} if t.setting.optimizer == "SGD" else {}
    optimizer = getattr(torch.optim, t.setting.optimizer)(t.groups, **momentum)

    def train_step(x, y):
        rates.append([float(group["lr"]) for group in optimizer.param_groups])
        optimizer.zero_grad()
        t.loss(t.model(x), y).backward()
        optimizer.step()

    paste
    return rates


def reference(t):
    t.model.train()
    for _ in range(8):
        for x, y in t.batches:
            t.loss(t.model(x), y).backward()  # what is observed of the model is compared too
    return [[0.1, 0.05]] * 25 + [[0.01, 0.005]] * 15
