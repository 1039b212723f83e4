# ruff: noqa
import torch
import torch.nn as nn


def cells(kind):
    nn.RNN(2, 3, 1, "relu")  # finds positional_nonlinearity_becomes_bias
    torch.nn.RNN(2, 3, 2, "tanh", batch_first=True)  # finds positional_nonlinearity_becomes_bias
    nn.RNN(2, 3, 1, nonlinearity="relu")
    nn.RNN(2, 3, 1, True)
    nn.RNN(2, 3, 1, kind)
    nn.RNNCell(2, 3, True, "relu")
    RNN(2, 3, 1, "relu")


class RNN(nn.Module):
    pass
