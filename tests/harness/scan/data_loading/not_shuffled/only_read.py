import torch
from torch.utils.data import DataLoader


def mean_of(loader):
    return sum(x.mean() for x in loader) / len(loader)


def statistics(rows):
    train_loader = DataLoader(rows, batch_size=8)
    return mean_of(train_loader)


def features(model, rows):
    train_loader = DataLoader(rows, batch_size=8)
    found = []
    with torch.no_grad():
        for x in train_loader:
            found.append(model(x))
    return torch.cat(found)


def learns(model, optimizer, rows):
    train_loader = DataLoader(rows, batch_size=8)  # finds not_shuffled
    for epoch in range(9):
        for x in train_loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()


def learns_from_all(model, optimizer, rows):
    train_loader = DataLoader(rows, batch_size=len(rows))
    for x in train_loader:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
