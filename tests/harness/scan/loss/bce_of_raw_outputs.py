import torch
import torch.nn.functional as F
from torch import nn


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.activation = nn.Linear(3, 1), nn.Sigmoid()

    def forward(self, x):
        return self.activation(self.linear(x))


class Raw(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(8, 8)
        self.out = nn.Linear(8, 1)

    def forward(self, x):
        x = torch.relu(self.hidden(x))
        x = self.out(x)
        return x


def raw(loader, device):
    net = Raw().to(device)
    criterion = nn.BCELoss()
    for x, y in loader:
        pred = net(x)
        criterion(pred.squeeze(1), y).backward()  # finds bce_of_raw_outputs


def raw_of_a_sequence(x, y):
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
    output = model(x).view(-1)
    return F.binary_cross_entropy(output, y)  # finds bce_of_raw_outputs


def with_the_sigmoid(x, y):
    model = Raw()
    output = torch.sigmoid(model(x))
    return F.binary_cross_entropy(output, y)


def ends_in_a_sigmoid(x, y):
    model = nn.Sequential(nn.Linear(8, 1), nn.Sigmoid())
    return F.binary_cross_entropy(model(x), y) + F.binary_cross_entropy(Gate()(x), y)


def of_a_model_from_elsewhere(model, x, y):
    return nn.BCELoss()(model(x), y)


class SigmoidInPlace(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 1)

    def forward(self, x, y):
        out = self.fc(x)
        out.sigmoid_()
        return F.binary_cross_entropy(out, y)
