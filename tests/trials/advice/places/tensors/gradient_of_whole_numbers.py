"""Two coefficients that start at whole numbers and are trained beside the model."""

import torch

SETTINGS = ("plain", "AdamW", "accumulation")


def train(t, x):
    t.groups.append({"params": [x], "lr": 0.2})
    for number, (inputs, y) in enumerate(t.batches):
        loss = t.loss(t.model(inputs) * x[0] + x[1], y) + (x**3).sum()
        loss.backward()
        if (number + 1) % t.setting.window == 0:
            t.optimizer.step()
            t.optimizer.zero_grad()
    return [x.detach(), x.is_leaf, t.model.state_dict()]


def place(t):
    def read(values):
        paste
        return x

    return train(t, read([1, 2]))


def reference(t):
    x = torch.linspace(1, 2, 2)
    x.requires_grad = True
    return train(t, x)
