"""Stochastic depth in a checkpointed network, compared with the same without checkpointing."""

import random

import torch
from torch.utils.checkpoint import checkpoint

SETTINGS = ("plain", "AdamW", "dropout", "tied", "bfloat16", "accumulation")


def train(t, make_block, save):
    layer = torch.nn.Linear(8, 8)
    with torch.no_grad():
        layer.weight.fill_(0.1)
        layer.bias.zero_()
    block = make_block(layer)
    for i, (x, y) in enumerate(t.batches * 4):
        with t.autocast():
            hidden = save(block, t.model.dropout(t.model.body(x)))
            loss = t.loss(t.model.head(save(block, hidden)), y)
        loss.backward()
        if (i + 1) % t.setting.window == 0:
            t.optimizer.step()
            t.optimizer.zero_grad()
    return [t.model.state_dict(), layer.weight.grad]


def place(t):
    def make_block(layer):
        paste
        return block

    return train(t, make_block, lambda block, x: checkpoint(block, x, use_reentrant=False))


def reference(t):
    def make_block(layer):
        return lambda x: torch.tanh(layer(x)) if torch.rand(()).item() < 0.5 else x

    return train(t, make_block, lambda block, x: block(x))
