"""The actor of SAC with a fixed critic, against the transformed distribution of torch."""

import torch
from torch import nn
from torch.distributions import Normal, TanhTransform, TransformedDistribution

SETTINGS = ("plain", "AdamW", "accumulation", "short last batch")


def train(t, act):
    torch.manual_seed(0)
    t.model = t.watched(nn.ModuleList([nn.Linear(6, 2), nn.Linear(6, 2)]))
    t.groups = [{"params": list(part.parameters()), "lr": 0.02} for part in t.model]
    losses = []
    for number, (x, _) in enumerate(t.batches, 1):
        normal = Normal(2 * t.model[0](x), nn.functional.softplus(t.model[1](x)))
        action, log_prob = act(normal)
        loss = (0.2 * log_prob.sum(1) + (action - 0.5).square().sum(1)).mean()
        loss.backward()
        if number % t.setting.window == 0:
            t.optimizer.step()
            t.optimizer.zero_grad()
        losses.append(loss.detach().clone())
    return [losses, t.model.state_dict()]


def place(t):
    def act(normal):
        paste
        return action, log_prob

    return train(t, act)


def reference(t):
    def act(normal):
        squashed = TransformedDistribution(normal, TanhTransform(cache_size=1))
        action = squashed.rsample()
        return action, squashed.log_prob(action)

    return train(t, act)
