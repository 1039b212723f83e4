"""Three layers are trained, and loaded from a file of three layers."""

import torch
from torch.nn import Linear, ModuleList

SETTINGS = ("plain", "AdamW")


def train(t, layers):
    optimizer = getattr(torch.optim, t.setting.optimizer)(layers.parameters(), lr=0.1)
    for x, y in t.batches:
        optimizer.zero_grad()
        x = x[:, :2]
        for layer in layers:
            x = layer(x)
        t.loss(x, y % 2).backward()
        optimizer.step()
    state = {key: value.clone() for key, value in layers.state_dict().items()}
    layers.load_state_dict(
        {key: torch.full_like(value, float(key[0])) for key, value in state.items()}
    )
    return [state, dict(layers.state_dict())]


def place(t):
    torch.manual_seed(0)
    paste
    return train(t, layers)


def reference(t):
    torch.manual_seed(0)
    one, two, three = Linear(2, 2), Linear(2, 2), Linear(2, 2)
    return train(t, ModuleList([one, two, three]))
