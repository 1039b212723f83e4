"""A trainer that has set cuDNN up for itself; the switches are read in forward and backward."""

import torch

SETTINGS = ("plain", "AdamW", "tied", "frozen norm", "bfloat16")
NAMES = "enabled", "benchmark", "deterministic", "allow_tf32"


def read():
    return {name: getattr(torch.backends.cudnn, name) for name in NAMES}


def put(values):
    for name, value in values.items():
        setattr(torch.backends.cudnn, name, value)


def train(t, step, inside):
    seen, losses = [], []
    t.model.register_forward_hook(lambda *_: seen.append(inside()))
    t.model.head.bias.register_hook(lambda _: seen.append(inside()))
    for x, y in t.batches:
        t.optimizer.zero_grad()
        with t.autocast():
            losses.append(step(t.model, t.loss, x, y).detach().float())
        t.optimizer.step()
        seen.append(read())  # outside of the block
    return [seen, losses, t.model.state_dict()]


def place(t):
    def step(model, criterion, x, y):
        paste
        return loss

    before = read()
    put({"benchmark": True, "allow_tf32": False})
    try:
        return train(t, step, read)
    finally:
        put(before)


def reference(t):
    def step(model, criterion, x, y):
        loss = criterion(model(x), y)
        loss.backward()
        return loss

    before = read()
    put({"benchmark": True, "allow_tf32": False})
    try:
        return train(t, step, lambda: {**read(), "deterministic": True})
    finally:
        put(before)
