import torch
from torch import nn


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder1 = nn.Conv2d(1, 8, 3, padding=1)
        self.pool1 = nn.MaxPool2d(2)
        self.encoder2 = nn.Conv2d(8, 16, 3, padding=1)
        self.upconv1 = nn.ConvTranspose2d(16, 8, kernel_size=2, stride=2)
        self.decoder1 = nn.Conv2d(16, 8, 3, padding=1)
        self.last = nn.ConvTranspose2d(8, 8, 2, 2)

    def forward(self, x):
        first = self.encoder1(x)
        both = torch.cat([x, x], dim=1)
        second = self.encoder2(self.pool1(first))
        up = self.upconv1(second)
        x = torch.cat((up, first), dim=1)  # finds unet_of_an_odd_size
        x = self.decoder1(x)
        return torch.cat([self.last(x), both], 1)
