"""A network with a scalar for its outputs, against a division by the number.

The scalar is a constant, then a parameter, then in bfloat16.
"""

import torch

SETTINGS = ("plain", "AdamW", "tied", "short last batch")


def train(t, temperature):
    temperature = torch.nn.Parameter(temperature)
    t.optimizer.add_param_group({"params": [temperature]})
    for x, y in t.batches:
        t.optimizer.zero_grad()
        t.loss(t.model(x)[:, :2] / temperature, y % 2).backward()
        t.optimizer.step()
    return [t.model.state_dict(), temperature]


def place(t):
    logits = t.batches[0][0][:, :2].clone()
    paste
    half = logits.bfloat16() / temperature
    return [temperature.numel(), logits / temperature, half.double(), train(t, temperature)]


def reference(t):
    logits = t.batches[0][0][:, :2].clone()
    return [1, logits / 2, (logits.bfloat16() / 2).double(), train(t, torch.full((), 2.0))]
