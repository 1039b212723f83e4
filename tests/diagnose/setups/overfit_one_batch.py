import torch

from tests.diagnose.trainers import Net, trainer


def frozen():
    model = Net()
    model.requires_grad_(False)
    model.head.bias.requires_grad_()
    return trainer(model=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.0))


def steps_are_too_large():
    model = Net()
    return trainer(model=model, optimizer=torch.optim.SGD(model.parameters(), lr=1e4))


def rate_is_tiny():
    model = Net()
    return trainer(model=model, optimizer=torch.optim.SGD(model.parameters(), lr=1e-3))


OUTCOMES = [[trainer], [frozen], [steps_are_too_large], [rate_is_tiny]]
