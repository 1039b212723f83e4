import torch
from torch import nn


def builds(layer, model):
    weight = nn.Parameter(torch.zeros(3))
    x = torch.randn(3, requires_grad=True)
    first = torch.optim.SGD(weight, lr=0.1)  # finds parameter_outside_a_list
    second = torch.optim.Adam(x)  # finds parameter_outside_a_list
    third = torch.optim.Adam(layer.weight)  # finds parameter_outside_a_list
    return first, second, third, torch.optim.SGD([weight], lr=0.1), torch.optim.Adam(model.weights)
