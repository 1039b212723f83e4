import torch
from torch import nn
from models import Net


class Layers(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model.forward(x)


def predicts(x):
    return Net().eval().forward(x)


def trains(model, other, x):
    layers = Layers(model)
    y = layers.forward(x)  # finds forward_called_by_name
    return torch.cat([y, model.forward(x), other.forward(x)])  # finds forward_called_by_name
