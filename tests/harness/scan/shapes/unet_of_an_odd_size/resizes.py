import torch
import torch.nn.functional as F
from torch import nn


class Up(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = nn.MaxPool2d(2)
        self.up = nn.ConvTranspose2d(8, 8, 2, stride=2)

    def forward(self, x, skip):
        x = self.up(self.pool(x))
        return torch.cat([F.interpolate(x, skip.shape[-2:]), self.up(skip)], dim=1)
