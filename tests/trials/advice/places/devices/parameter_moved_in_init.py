"""A scale is made on the meta device for a GPU, and on the CPU in training."""

import torch
from torch import nn

SETTINGS = ("plain", "AdamW")


class Net(nn.Module):
    def __init__(self, device):
        super().__init__()
        paste

    def forward(self, x):
        return x * self.weight


def train(t, model, weight):
    optimizer = getattr(torch.optim, t.setting.optimizer)([weight], lr=0.1)
    for x, y in t.batches:
        optimizer.zero_grad()
        t.loss(model(x[:, :3]), y % 3).backward()
        optimizer.step()
    return weight


def place(t):
    names = [[name, str(p.device)] for name, p in Net("meta").named_parameters()]
    model = Net("cpu")
    return [names, list(model.state_dict()), train(t, model, model.weight)]


def reference(t):
    weight = torch.ones(3, requires_grad=True)
    return [[["weight", "meta"]], ["weight"], train(t, lambda x: x * weight, weight)]
