"""Here gradients are cleared without zero_grad(): missing_zero_grad has to find nothing."""

import torch


def fit(model, loader):
    optimizer = torch.optim.Adam(model.parameters())
    for x in loader:
        for p in model.parameters():
            p.grad = None
        model(x).sum().backward()
        optimizer.step()
