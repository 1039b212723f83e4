import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 3)
        self.gate = nn.Linear(4, 1)
        self.weight = nn.Parameter(F.softmax(nn.Linear(2, 2).weight, dim=0))

    def forward(self, x):
        return F.softmax(self.head(x), dim=0)  # finds softmax_over_the_batch


class Named(Net):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
        self.softmax = nn.Softmax(dim=0)

    def forward(self, x):
        x = self.layers(x)
        out = self.softmax(x)  # finds softmax_over_the_batch
        return out


class Right(Net):
    def forward(self, x):
        attention = F.softmax(self.gate(x), dim=0)
        pooled = (attention * x).sum(0, keepdim=True)
        mixed = pooled * self.weight.softmax(0)
        return F.softmax(self.head(mixed), dim=1)


class OfOneSample(Net):
    def forward(self, x):
        x = x.view(-1)
        return F.softmax(self.head(x), dim=0)


def build():
    network = nn.Sequential(
        nn.Linear(4, 3),
        nn.Softmax(dim=0),  # finds softmax_over_the_batch
    )
    return network, nn.Sequential(nn.Linear(4, 3), nn.Softmax(dim=-1))


def image(model, x):
    return F.softmax(model(x)[0], dim=0), DataLoader(x)
