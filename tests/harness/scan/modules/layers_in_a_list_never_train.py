# ruff: noqa
import torch
import torch.nn as nn
from torch.nn import Linear
from .blocks import Block


class Listed(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.layers = [nn.Linear(2, 2) for _ in range(depth)]  # finds layers_in_a_list_never_train
        self.heads = {"a": Linear(2, 1)}  # finds layers_in_a_list_never_train
        self.late = []  # finds layers_in_a_list_never_train
        for _ in range(depth):
            layer = nn.Sequential(nn.Conv2d(2, 2, 3), nn.ReLU())
            self.late.append(layer)
        self.blocks = [Listed(0), Listed(0)]  # finds layers_in_a_list_never_train
        self.first = nn.Linear(2, 2)
        self.order = [self.first]
        self.functions = [nn.ReLU(), nn.Tanh()]
        self.unused = [nn.Linear(2, 2)]
        self.foreign = [Block(2)]

    def forward(self, x):
        for layer in self.layers + self.late + self.blocks + self.order + self.foreign:
            x = layer(x)
        for function in self.functions:
            x = function(x)
        return self.heads["a"](x)


class Kept(Listed):
    def __init__(self):
        super().__init__(1)
        layers = []
        layers.append(nn.Linear(2, 2))
        self.layers = layers  # finds layers_in_a_list_never_train

    def forward(self, x):
        return self.layers[0](x)


class Registered(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(2, 2), nn.Linear(2, 2)]
        self.net = nn.Sequential(*self.layers)
        parts = []
        parts.append(nn.Linear(2, 2))
        self.parts = nn.ModuleList(parts)

    def forward(self, x):
        return self.net(x) + self.layers[0](x) + self.parts[0](x)


class Added(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = []
        for number in range(3):
            layer = nn.Linear(2, 2)
            self.add_module(f"layer{number}", layer)
            self.layers.append(layer)

    def forward(self, x):
        return self.layers[0](x)


class InAContainerOfItsOwn(nn.Module):
    def __init__(self):
        super().__init__()
        layers = []
        layers.append(nn.Linear(2, 2))
        self.layers = layers
        self.block = Block(layers)

    def forward(self, x):
        return self.block(x) + self.layers[0](x)


class Student(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.teacher = [Listed(1)]

    def forward(self, x):
        with torch.no_grad():
            wanted = self.teacher[0](x)
        return self.layer(x), wanted


class Hidden(nn.Module):
    def __init__(self):
        super().__init__()
        self.filter = [nn.Conv1d(1, 1, 3)]
        self.filter[0].requires_grad_(False)

    def forward(self, x):
        return self.filter[0](x)


class Plain:
    def __init__(self):
        self.layers = [nn.Linear(2, 2)]

    def run(self, x):
        return self.layers[0](x)
