# ruff: noqa
import torch
import torch.nn as nn
from torch.nn import ModuleList, Sequential
from .blocks import Block, Identity, Mish, Rearrange


class Gate(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(x)


def stacks(n, layer):
    ModuleList([nn.Linear(2, 2)] * n)  # finds multiplied_list_shares_one_layer
    Sequential(Block(1), *([Block(2)] * (n - 1)))  # finds multiplied_list_shares_one_layer
    layers = 3 * [nn.LSTM(2, 2), nn.ReLU()]  # finds multiplied_list_shares_one_layer
    nn.ModuleList(layers)
    share_layers = n > 3
    if share_layers:
        nn.ModuleList([nn.Linear(2, 2)] * n)
    nn.ModuleList([nn.ReLU()] * n)
    nn.ModuleList([Identity()] * n)
    nn.ModuleList([Gate()] * n)
    Sequential(*[Mish()] * n, *[Rearrange("b c -> c b")] * n)
    nn.ModuleList([nn.Linear(2, 2)] * 1)
    nn.ModuleList([layer] * n)
    nn.ModuleList([nn.Linear(2, 2) for _ in range(n)])
    return [nn.Linear(2, 2)] * n
