"""A network with a discrete choice, against an argmax of log-probabilities with Gumbel noise."""

import torch
from torch import nn

SETTINGS = ("plain", "AdamW", "accumulation", "short last batch")


def train(t, draw):
    torch.manual_seed(0)
    t.model = t.watched(nn.ModuleList([nn.Linear(6, 3), nn.Linear(3, 4)]))
    t.groups = [{"params": list(part.parameters()), "lr": 0.1} for part in t.model]
    losses = []
    for number, (x, y) in enumerate(t.batches * 2, 1):
        loss = t.loss(t.model[1](draw(3 * t.model[0](x))), y)
        loss.backward()
        if number % t.setting.window == 0:
            t.optimizer.step()
            t.optimizer.zero_grad()
        losses.append(loss.detach().clone())
    return [losses, t.model.state_dict()]


def place(t):
    def draw(logits):
        paste
        return sample

    return train(t, draw)


def reference(t):
    def draw(logits):
        noise = -torch.empty_like(logits).exponential_().log()
        soft = (logits.log_softmax(-1) + noise).softmax(-1)
        hard = nn.functional.one_hot(soft.argmax(-1), 3).float()
        return hard + soft - soft.detach()

    return train(t, draw)
