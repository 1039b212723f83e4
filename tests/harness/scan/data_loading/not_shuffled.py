import os
import random

from torch.utils.data import DataLoader, RandomSampler
from torch.utils.data.distributed import DistributedSampler
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
    model.eval()
    for x, y in test_loader:
        criterion(model.score(x), y)


def attacks(rows, model, criterion):
    test_loader = DataLoader(rows, batch_size=8)
    for x, y in test_loader:
        criterion(model(x), y).backward()


def adapts_at_test_time(rows, model, criterion):
    volumes = DataLoader(rows, batch_size=8)
    for x, y in volumes:
        criterion(model(x), y).backward()


def trains_on_rows_of_unknown_order(rows, model, criterion):
    train_loader = DataLoader(rows, batch_size=8)  # finds not_shuffled
    for x, y in train_loader:
        criterion(model(x), y).backward()
    train_loader = DataLoader(rows, batch_size=8)
    return evaluate(model, train_loader)


def passes_no_sampler(rows):
    train_loader = DataLoader(rows, batch_size=8, sampler=None)  # finds not_shuffled
    train_features_loader = DataLoader(rows, batch_size=8)
    return train_loader, train_features_loader


def shuffles_in_a_distributed_run_only(rows, distributed):
    sampler = DistributedSampler(rows) if distributed else None
    return DataLoader(rows, batch_size=8, sampler=sampler)  # finds not_shuffled


def shuffles_in_every_run(rows, distributed):
    sampler = DistributedSampler(rows) if distributed else RandomSampler(rows)
    return DataLoader(rows, batch_size=8, sampler=sampler)


def shuffles_without_a_sampler(rows, distributed):
    sampler = DistributedSampler(rows) if distributed else None
    return DataLoader(rows, batch_size=8, sampler=sampler, shuffle=sampler is None)


class Draws:
    def __init__(self, folder):
        self.names = os.listdir(folder)

    def __getitem__(self, index):
        return self.names[random.randint(0, 9)]


def draws_its_rows(folder):
    train_rows = DataLoader(Draws(folder), batch_size=8)
    return train_rows
