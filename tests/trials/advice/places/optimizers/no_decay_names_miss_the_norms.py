"""A network with two groups of parameters, against groups that are listed by hand."""

import torch

SETTINGS = ("plain", "tied", "frozen norm", "dropout", "short last batch")


def train(t, decayed, kept):
    optimizer = torch.optim.SGD(
        [{"params": decayed, "weight_decay": 0.3}, {"params": kept, "lr": 0.05}], lr=0.1
    )
    losses = []
    for x, y in t.batches * 2:
        optimizer.zero_grad()
        loss = t.loss(t.model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return [losses, t.model.state_dict()]


def place(t):
    model = t.model
    paste
    return train(t, decayed, kept)


def reference(t):
    m = t.model
    weights = [m.body.weight, m.head.weight] + [m.tail.weight] * (not t.setting.tied)
    return train(t, weights, [m.body.bias, m.norm.weight, m.norm.bias, m.head.bias])
