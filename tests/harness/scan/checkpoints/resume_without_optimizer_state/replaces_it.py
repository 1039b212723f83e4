import os

import torch


def trains(model, loader, criterion, path):
    if os.path.exists(path):
        checkpoint = torch.load(path, map_location="cpu")
        model.load_state_dict(checkpoint["model"])
        optimizer = torch.optim.Adam(model.parameters())
        optimizer.load_state_dict(checkpoint["optim"])  # finds resume_without_optimizer_state
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for x, y in loader:
        criterion(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()


def creates_it_in_each_branch(model, checkpoint):
    if checkpoint:
        optimizer = torch.optim.Adam(model.parameters())
        optimizer.load_state_dict(checkpoint["optim"])
    else:
        optimizer = torch.optim.Adam(model.parameters())
    return optimizer


def trains_each_fold(model, folds, checkpoint):
    optimizer = torch.optim.Adam(model.parameters())
    optimizer.load_state_dict(checkpoint["optim"])
    for fold in folds:
        optimizer = torch.optim.Adam(model.parameters())
        fold(model, optimizer)
