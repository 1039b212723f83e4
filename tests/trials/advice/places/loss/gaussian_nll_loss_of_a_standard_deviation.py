"""A regression with a predicted standard deviation, against the log_prob of Normal."""

import torch
from torch import nn

SETTINGS = ("plain", "AdamW", "bfloat16", "accumulation", "short last batch")


def train(t, loss_of):
    torch.manual_seed(0)
    t.model = t.watched(nn.ModuleList([nn.Linear(6, 4), nn.Linear(6, 4)]))
    t.groups = [{"params": list(part.parameters()), "lr": 0.02} for part in t.model]
    losses = []
    for number, (x, _) in enumerate(t.batches, 1):
        with t.autocast():
            mean, spread = t.model[0](x), t.model[1](x)
        std = nn.functional.softplus(spread.float()) + 0.1
        loss = loss_of(mean.float(), 3 * x[:, :4], std)
        loss.backward()
        if number % t.setting.window == 0:
            t.optimizer.step()
            t.optimizer.zero_grad()
        losses.append(loss.detach().clone())
    return [losses, t.model.state_dict()]


def place(t):
    def loss_of(mean, target, std):
        paste
        return loss

    return train(t, loss_of)


def reference(t):
    constant = torch.tensor(2 * torch.pi).log() / 2

    def loss_of(mean, target, std):
        return -torch.distributions.Normal(mean, std).log_prob(target).mean() - constant

    return train(t, loss_of)
