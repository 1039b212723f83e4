import os

import torch


def train(model, optimizer, folder, start_epoch):
    for epoch in range(start_epoch, 10):
        model(torch.ones(1)).backward()
        optimizer.step()
        optimizer.zero_grad()
        state = {"model": model.state_dict(), "optim": optimizer.state_dict()}
        torch.save(state, os.path.join(folder, "last.pt"))  # finds interrupted_save_loses_the_checkpoint
