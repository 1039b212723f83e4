import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, x):
        return F.softmax(self.layer(x), dim=1)


class Logs(nn.Module):
    def forward(self, x):
        return F.log_softmax(x, dim=1)


def trains(loader):
    model, criterion = Net(), nn.NLLLoss()
    for x, y in loader:
        loss = criterion(model(x), y)  # finds nll_loss_of_probabilities
        loss.backward()


def computes(logits, y):
    probabilities = torch.softmax(logits, 1)
    return F.nll_loss(probabilities, y)  # finds nll_loss_of_probabilities


def takes_the_logarithm(logits, y):
    model = Logs()
    return F.nll_loss(F.log_softmax(logits, 1), y), F.nll_loss(model(logits), y)
