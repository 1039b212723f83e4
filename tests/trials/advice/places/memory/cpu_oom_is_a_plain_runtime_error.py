"""A loop that leaves out the batches that do not fit, and stops for every other error.

One batch fails in its forward, the next within its backward, the third in Python.
"""

import torch

SETTINGS = ("plain", "AdamW", "dropout", "accumulation")


def fill(*seen):
    torch.empty(2**50)


def train(t, attempt):
    optimizer, losses = t.optimizer, []
    fails = {1: "forward", 2: "backward", 3: "Python"}

    def prepare(layer, args, output):
        if fails.get(len(losses)) == "backward":
            output.register_hook(fill)

    def step(batch):
        x, y = batch
        loss = t.loss(t.model(x), y)
        if fails.get(len(losses)) == "forward":
            fill()
        if fails.get(len(losses)) == "Python":
            bytearray(2**60)
        (loss / t.setting.window).backward()
        return loss

    t.model.body.register_forward_hook(prepare)
    for i, batch in enumerate(t.batches):
        loss = attempt(step, batch, optimizer, i in fails)
        losses.append(loss if loss is None else loss.item())
        if (i + 1) % t.setting.window == 0 and loss is not None:
            optimizer.step()
            optimizer.zero_grad()
    try:
        attempt(step, (torch.ones(4, 5), t.batches[0][1]), optimizer, False)
    except RuntimeError:
        return [losses, t.model.state_dict()]


def place(t):
    def attempt(step, batch, optimizer, fails):
        paste
        return loss

    return train(t, attempt)


def reference(t):
    def attempt(step, batch, optimizer, fails):
        if not fails:
            return step(batch)
        t.model(batch[0])  # moves the statistics and the random numbers
        for p in t.model.parameters():
            p.grad = None

    return train(t, attempt)
