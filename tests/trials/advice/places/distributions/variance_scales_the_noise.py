"""A variational autoencoder with its KL term, against the square root of the variance."""

import torch
from torch import nn

SETTINGS = ("plain", "AdamW", "bfloat16", "accumulation", "short last batch")


def train(t, draw):
    torch.manual_seed(0)
    t.model = t.watched(nn.ModuleList([nn.Linear(6, 16), nn.Linear(8, 6)]))
    t.groups = [{"params": list(part.parameters()), "lr": 0.05} for part in t.model]
    losses = []
    for number, (x, _) in enumerate(t.batches, 1):
        with t.autocast():
            mean, log_var = t.model[0](x).float().chunk(2, 1)
            output = t.model[1](draw(mean, log_var))
        kl = (mean.square() + log_var.exp() - 1 - log_var).mean() / 2
        loss = (output.float() - x).square().mean() + kl
        loss.backward()
        if number % t.setting.window == 0:
            t.optimizer.step()
            t.optimizer.zero_grad()
        losses.append(loss.detach().clone())
    return [losses, t.model.state_dict()]


def place(t):
    def draw(mean, log_var):
        paste
        return z

    return train(t, draw)


def reference(t):
    def draw(mean, log_var):
        return mean + log_var.exp().sqrt() * torch.randn_like(mean)

    return train(t, draw)
