import os

import torch


def train(model, optimizer, start_epoch):
    for epoch in range(start_epoch, 10):
        model(torch.ones(1)).backward()
        optimizer.step()
        optimizer.zero_grad()
        torch.save({"model": model.state_dict(), "epoch": epoch}, "last.new")
        os.replace("last.new", "last.pt")
