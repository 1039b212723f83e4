import torch
from torch.utils.data import random_split


def main(rows, model, optimizer, criterion):
    train, val = random_split(rows, [80, 20])
    for x, y in train:
        criterion(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()
    return val
