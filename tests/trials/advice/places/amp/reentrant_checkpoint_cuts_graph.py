"""A network whose first block is checkpointed, in training and in validation."""

import torch
from torch.utils.checkpoint import checkpoint

SETTINGS = ("plain", "AdamW", "tied", "dropout", "accumulation", "bfloat16")


def train(t, first):
    block, calls = torch.nn.Sequential(t.model.body, torch.nn.Tanh(), t.model.dropout), []
    block.register_forward_pre_hook(lambda *_: calls.append(1))
    for i, (x, y) in enumerate(t.batches[:4]):
        with t.autocast():
            loss = t.loss(t.model.head(first(block, x)), y)
        loss.backward()
        if (i + 1) % t.setting.window == 0:
            t.optimizer.step()
            t.optimizer.zero_grad()
    with torch.no_grad():
        last = first(block.eval(), t.batches[0][0])
    return [t.model.state_dict(), last, len(calls)]


def place(t):
    def first(block, x):
        paste
        return hidden

    return train(t, first)


def reference(t):
    return [*train(t, lambda block, x: block(x))[:2], 4 + 4 + 1]  # forward, backward, validation
