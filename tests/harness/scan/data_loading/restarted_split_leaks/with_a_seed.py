import torch
from torch.utils.data import random_split


def main(rows, model, optimizer, criterion, args):
    torch.manual_seed(args.number)
    train, val = random_split(rows, [80, 20])
    if args.resume:
        checkpoint = torch.load(args.resume, map_location="cpu")
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
    for x, y in train:
        criterion(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()
    return val
