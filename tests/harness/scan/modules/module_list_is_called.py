# ruff: noqa
import torch
import torch.nn as nn
from torch.nn import ModuleList
from .blocks import Block


class Called(nn.Module):
    def __init__(self, deep):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2)])
        self.net = nn.Sequential(nn.Linear(2, 2))
        self.mid = nn.ModuleList([nn.Linear(2, 2)])
        self.head = nn.ModuleList() if deep else nn.Linear(2, 2)
        self.tail = nn.Linear(2, 2)
        if deep:
            self.tail = nn.ModuleList([nn.Linear(2, 2)])

    def forward(self, x):
        x = self.layers(x)  # finds module_list_is_called
        x = self.layers[0](x)
        return self.tail(self.head(self.mid(self.net(x))))

    def inference(self, x):
        return self.layers(x)


def convert(model):
    model.mid = Block(2)
    layers = ModuleList([nn.Linear(2, 2)])
    print(len(layers))
    return layers(torch.ones(2))  # finds module_list_is_called
