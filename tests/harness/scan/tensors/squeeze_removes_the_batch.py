import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        x = self.avgpool(self.features(x))
        x = x.squeeze()  # finds squeeze_removes_the_batch
        return self.fc(x), self.pool(x).squeeze(-1), self.conv(x).squeeze()


class Parts(nn.Module):
    def forward(self, x):
        return torch.squeeze(self.pool(x))  # finds squeeze_removes_the_batch


def train(model, loader, criterion):
    for x, y in loader:
        output = model(x).squeeze()  # finds squeeze_removes_the_batch
        loss = criterion(output, y)
        loss.backward()
        loss = criterion(model(x).squeeze(1), y)
        shown = model(x).squeeze()
        print(shown)


def one_image(model, criterion, x, y):
    output = model(x).squeeze()
    return criterion(output, y)


def pooled(pool, x):
    return pool(x).squeeze()


def learns(online, target, states, actions, optimizer):
    values = online(states).gather(1, actions.unsqueeze(1)).squeeze()  # finds squeeze_removes_the_batch
    loss = (values - target).square().mean()
    loss.backward()
    optimizer.step()


def acts(online, states, actions):
    return online(states).gather(1, actions).squeeze()


class Scorer(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.embed = torch.nn.Embedding(9, size)
        self.hidden = torch.nn.Conv2d(size, size, 1)
        self.last = torch.nn.Linear(size, 1)
        self.weights = torch.nn.Parameter(torch.zeros(1, size))

    def forward(self, x):
        features = self.hidden(x)
        features = features.squeeze()  # finds squeeze_removes_the_batch
        weights = self.weights.squeeze()
        index = self.embed(x).squeeze()
        return self.last(features * weights + index).squeeze()  # finds squeeze_removes_the_batch

    def predict(self, x):
        return self.last(x).squeeze()
