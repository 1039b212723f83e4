import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class RMSELoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.mse = nn.MSELoss()

    def forward(self, prediction, target):
        return torch.sqrt(self.mse(prediction, target))  # finds sqrt_at_zero


class Scale(nn.Module):
    def forward(self, x):
        norm = x.pow(2).sum(dim=1, keepdim=True).sqrt() + 1e-10  # finds sqrt_at_zero
        safe = (x.pow(2).sum(dim=1, keepdim=True) + 1e-10).sqrt()
        with torch.no_grad():
            length = (x**2).sum().sqrt()
        return x / norm / safe, length, (x**2).mean().sqrt().item()

    def radius(self, x):
        return x.square().mean().sqrt()


def contrastive_loss(a, b, same):
    squared = torch.sum((a - b) ** 2, dim=1)
    distance = squared**0.5  # finds sqrt_at_zero
    return same * distance + (1 - same) * torch.sqrt(squared + 1e-8)


def trains(model, x, y):
    loss = F.mse_loss(model(x), y).sqrt()  # finds sqrt_at_zero
    loss.backward()
    rmse = torch.sqrt(F.mse_loss(model(x), y))
    print(rmse, math.sqrt(np.mean((x - y) ** 2)), np.sqrt(np.sum(x**2)))


def sum_of_losses(losses, n):
    return torch.sqrt(losses.sum()), math.sqrt(n), losses.mean() ** 2


class Neighbors(nn.Module):
    def forward(self, features, relative_pos):
        distance = torch.sqrt(torch.sum(relative_pos**2, dim=1, keepdim=True))
        return torch.cat([features, distance], dim=1)
