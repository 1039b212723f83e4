import torch

from tests.diagnose.trainers import Net, trainer


def rate_is_tiny():
    model = Net()
    return trainer(model=model, optimizer=torch.optim.Adam(model.parameters(), lr=1e-9))


def gradients_vanish():
    model = Net()
    model.body[2] = torch.nn.Sequential(*[torch.nn.Sigmoid() for _ in range(12)])
    return trainer(model=model, optimizer=torch.optim.SGD(model.parameters(), lr=1e-3))


def rate_is_large():
    model = Net()
    return trainer(model=model, optimizer=torch.optim.SGD(model.parameters(), lr=1e3))


OUTCOMES = [[trainer], [rate_is_tiny, gradients_vanish], [rate_is_large]]
