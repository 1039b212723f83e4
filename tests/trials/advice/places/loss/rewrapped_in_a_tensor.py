"""A loop with two parameter groups; the same by the gradients of autograd.grad()."""

import torch

SETTINGS = ("plain", "AdamW", "tied", "frozen norm", "dropout", "accumulation", "bfloat16")


def train(t, backward):
    for number, (x, y) in enumerate(t.batches, 1):
        with t.autocast():
            backward(t.model, t.loss, x, y)
        if number % t.setting.window == 0:
            t.optimizer.step()
            t.optimizer.zero_grad()
    return t.model.state_dict()


def place(t):
    def backward(model, criterion, x, y):
        paste

    return train(t, backward)


def reference(t):
    def backward(model, criterion, x, y):
        trained = {name: p for name, p in model.named_parameters() if p.requires_grad}
        gradients = torch.autograd.grad(criterion(model(x), y), list(trained.values()))
        for p, gradient in zip(trained.values(), gradients):
            p.grad = gradient if p.grad is None else p.grad + gradient
        t.got_gradient |= trained.keys()

    return train(t, backward)
