"""The norm of the gradient of another batch, looked at before training and within windows."""

import copy

import torch

SETTINGS = ("plain", "AdamW", "tied", "frozen norm", "dropout", "accumulation", "bfloat16")


def train(t, look):
    norms = []
    for i, (x, y) in enumerate(t.batches):
        norms.append(look(*t.batches[0]))
        with t.autocast():
            loss = t.loss(t.model(x), y)
        (loss / t.setting.window).backward()
        if (i + 1) % t.setting.window == 0:
            t.optimizer.step()
            t.optimizer.zero_grad()
    return [norms, t.model.state_dict(), [p.grad for p in t.model.parameters()]]


def place(t):
    model, criterion = t.model, t.loss

    def look(x, y):
        paste
        return norm.item()

    return train(t, look)


def reference(t):
    def look(x, y):
        model = copy.deepcopy(t.model)
        model.zero_grad()
        t.loss(model(x), y).backward()
        for buffer, moved in zip(t.model.buffers(), model.buffers()):
            buffer.copy_(moved)  # the pass is one
        return (
            sum(p.grad.double().square().sum() for p in model.parameters() if p.grad is not None)
            .sqrt()
            .item()
        )

    return train(t, look)
