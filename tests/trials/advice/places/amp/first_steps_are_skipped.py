"""Gradients that pass through float16, of a loss that is summed over the batch."""

import torch

SETTINGS = ("plain", "tied", "frozen norm", "short last batch")
TOLERANCE = 0.05


def train(t, dtype, step):
    for x, y in t.batches:
        t.optimizer.zero_grad()
        step(t.loss(t.model(x).to(dtype).float(), y, reduction="sum") * 0.5)
    return t.model.state_dict()


def place(t):
    device, optimizer = "cpu", t.optimizer
    paste

    def step(loss):
        scaler.scale(4 * loss).backward()
        for parameter in t.model.parameters():
            if parameter.grad is not None:
                parameter.grad /= 4
        scaler.step(optimizer)
        scaler.update()

    return train(t, torch.float16, step)


def reference(t):
    return train(t, torch.float32, lambda loss: (loss.backward(), t.optimizer.step()))
