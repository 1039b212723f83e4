import torch
from torch.utils.data import random_split


def main(rows, model, optimizer, criterion, args):
    train, val = random_split(rows, [80, 20])  # finds restarted_split_leaks
    start_epoch = 0
    if args.resume:
        checkpoint = torch.load(args.resume, map_location="cpu")
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        start_epoch = checkpoint["epoch"]
    for epoch in range(start_epoch, args.epochs):
        for x, y in train:
            criterion(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()
    return val


def three(rows):
    train, val, test = torch.utils.data.random_split(  # finds restarted_split_leaks
        rows, [60, 20, 20]
    )
    return train, val, test


def right(rows, generator):
    train, val = random_split(rows, [80, 20], generator=generator)
    part, _ = random_split(rows, [80, 20])
    return train, val, part
