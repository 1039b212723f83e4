import torch
from torch import nn
from torchvision import models


def fine_tunes(loader, criterion):
    model = models.resnet18(weights="DEFAULT")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    model.fc = nn.Linear(512, 3)  # finds replaced_layer_does_not_learn
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def replaces_in_time(loader, criterion):
    model = models.resnet18(weights="DEFAULT")
    model.fc = nn.Linear(512, 3)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    for x, y in loader:
        criterion(model(x), y).backward()
        optimizer.step()


def adds_a_group(loader, criterion):
    model = models.resnet18(weights="DEFAULT")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    optimizer.add_param_group({"params": model.fc.parameters(), "lr": 1e-3})
    model.fc = nn.Linear(512, 3)
    for x, y in loader:
        criterion(model(x), y).backward()
        optimizer.step()


def builds_it_again(loader, criterion):
    model = models.resnet18(weights="DEFAULT")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    optimizer = None
    model.fc = nn.Linear(512, 3)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    for x, y in loader:
        criterion(model(x), y).backward()
        optimizer.step()


def counts(loader, criterion):
    model = models.resnet18(weights="DEFAULT")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    model.steps = 0
    model.criterion = nn.CrossEntropyLoss()
    for x, y in loader:
        criterion(model(x), y).backward()
        optimizer.step()


def replaces_a_part_of_a_part(loader, criterion):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    net.encoder.layers[-1] = nn.Linear(8, 8).cuda()  # finds replaced_layer_does_not_learn
    for x, y in loader:
        criterion(net(x), y).backward()
        optimizer.step()
