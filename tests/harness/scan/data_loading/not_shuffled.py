import os

from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder


class Files:
    def __init__(self, folder):
        self.names = sorted(os.listdir(folder))




def trains(folder, model, criterion, optimizer, sampler):
    rows = ImageFolder(folder)
    train_loader = DataLoader(rows, batch_size=8)  # finds not_shuffled
    for epoch in range(3):
        for i, (x, y) in enumerate(train_loader):
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def says_so(folder, model, criterion, optimizer):
    train_batches = DataLoader(Files(folder), batch_size=8, shuffle=False)  # finds not_shuffled
    for x, y in train_batches:
        criterion(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()


def shuffles(rows, model, criterion, sampler, args):
    first = DataLoader(rows, batch_size=8, shuffle=True)
    second = DataLoader(rows, 8, sampler=sampler)
    third = DataLoader(rows, 8, args.shuffle)
    for loader in (first, second, third):
        for x, y in loader:
            criterion(model(x), y).backward()


def validates(rows, model, criterion):
    test_loader = DataLoader(rows, batch_size=8)
    for x, y in test_loader:
        criterion(model(x), y)


def attacks(rows, model, criterion):
    test_loader = DataLoader(rows, batch_size=8)
    for x, y in test_loader:
        criterion(model(x), y).backward()


def adapts_at_test_time(rows, model, criterion):
    volumes = DataLoader(rows, batch_size=8)
    for x, y in volumes:
        criterion(model(x), y).backward()


def trains_on_rows_of_unknown_order(rows, model, criterion):
    train_loader = DataLoader(rows, batch_size=8)
    for x, y in train_loader:
        criterion(model(x), y).backward()
