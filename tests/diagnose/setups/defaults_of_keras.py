import torch

from tests.diagnose.trainers import Net, trainer


def _like_keras(net):
    for module in net.modules():
        if isinstance(module, torch.nn.Linear):
            torch.nn.init.zeros_(module.bias)
        if isinstance(module, torch.nn.BatchNorm1d):
            module.eps, module.momentum = 1e-3, 0.01
    return net


def _adam(net, eps=1e-7):
    return trainer(model=net, optimizer=torch.optim.Adam(net.parameters(), eps=eps))


def like_keras():
    return _adam(_like_keras(Net()))


def another_epsilon():
    return _adam(_like_keras(Net()), eps=1e-8)


def time_comes_first():
    return _adam(_like_keras(torch.nn.Sequential(torch.nn.LSTM(8, 4))))


OUTCOMES = [[like_keras], [trainer, another_epsilon, time_comes_first]]
