import torch
from torch import nn


class Down(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(8, 8, 3, padding=1))

    def forward(self, x):
        return self.layers(x)


class Up(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Upsample(scale_factor=2)

    def forward(self, x, skip):
        return torch.cat([self.up(x), skip], dim=1)  # finds unet_of_an_odd_size
