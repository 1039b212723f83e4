"""A Gaussian policy of two actions, learned from a teacher whose noise is small."""

import torch
from torch import nn
from torch.distributions import Normal

SETTINGS = ("plain", "AdamW", "short last batch")


def train(t, make):
    t.model = t.watched(make(6, 2))
    for parameter in t.model.mean.parameters():
        nn.init.zeros_(parameter)
    mean = list(t.model.mean.parameters())
    rest = [p for name, p in t.model.named_parameters() if not name.startswith("mean.")]
    t.groups = [{"params": mean, "lr": 1e-3}, {"params": rest, "lr": 0.02}]
    seen = []
    for _ in range(6):
        for x, y in t.batches:
            actions = 0.1 * torch.stack([y - 1.5, 1.5 - y], 1)
            policy = t.model(x)
            seen.append(policy.log_prob(actions).sum())
            t.optimizer.zero_grad()
            (-policy.log_prob(actions).mean()).backward()
            t.optimizer.step()
        seen += [policy.scale[0].clone(), policy.sample()]
    return [value.detach() for value in seen]


def place(t):
    paste
    return train(t, Policy)


class Reference(nn.Module):
    """The density written out."""

    def __init__(self, features, actions):
        super().__init__()
        self.mean = nn.Linear(features, actions)
        self.log_std = nn.Parameter(torch.ones(actions).log())

    def forward(self, x):
        mean, std = self.mean(x), torch.e**self.log_std

        class Density:
            scale = std.expand_as(mean)
            sample = Normal(mean.detach(), std.detach().expand_as(mean)).sample

            def log_prob(self, action):
                z = (action - mean) / std
                return -0.5 * z * z - std.log() - 0.5 * torch.log(torch.tensor(2 * torch.pi))

        return Density()


def reference(t):
    return train(t, Reference)
