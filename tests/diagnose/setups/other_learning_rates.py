import torch

from tests.diagnose.trainers import Net, trainer


def _rate(rate):
    model = Net()
    return trainer(model=model, optimizer=torch.optim.SGD(model.parameters(), lr=rate))


def fine():
    return _rate(0.5)


def too_large():
    return _rate(100)


def too_small():
    return _rate(1e-2)


def no_gradient():
    model = Net().requires_grad_(False)
    return trainer(model=model, loss_fn=lambda output, y: (output * 0).sum().requires_grad_())


OUTCOMES = [[fine], [too_large], [too_small], [no_gradient]]
