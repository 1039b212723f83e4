import os

import torch


def save_checkpoint(state, folder="checkpoints", filename="last.pt"):
    torch.save(state, os.path.join(folder, filename))


def save_numbered(state, filename):
    torch.save(state, filename)


def train(model, optimizer, start_epoch):
    for epoch in range(start_epoch, 10):
        model(torch.ones(1)).backward()
        optimizer.step()
        optimizer.zero_grad()
        state = {"model": model.state_dict(), "optim": optimizer.state_dict()}
        save_numbered(state, f"{epoch}.pt")
        save_checkpoint(state)  # finds interrupted_save_loses_the_checkpoint
