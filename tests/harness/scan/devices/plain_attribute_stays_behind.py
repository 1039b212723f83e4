import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.mask = torch.tril(torch.ones(size, size))  # finds plain_attribute_stays_behind
        self.scale = torch.tensor(0.5)
        self.positions = torch.arange(size)
        self.used = torch.zeros(size)
        self.moved = torch.ones(size)
        self.table = torch.ones(size, device="cuda")
        self.weights = [torch.ones(size)]
        self.counts = torch.zeros(size)
        self.register_buffer("bias", torch.zeros(size))
        self.proj = nn.Linear(size, size)

    def forward(self, x):
        x = self.proj(x * self.mask) * self.scale + self.moved.to(x.device) * self.table
        self.used += 1
        self.counts[0] += x.sum().item()
        return x[:, self.positions] + self.bias, self.used / self.used.sum()


class Positions(nn.Module):
    def __init__(self, length):
        super().__init__()
        self.encoding = torch.zeros(length, 8)  # finds plain_attribute_stays_behind

    def forward(self, x):
        return torch.add(x, self.encoding)


class Grid:
    def __init__(self):
        self.mask = torch.ones(3)

    def forward(self, x):
        return x * self.mask


class Moves(nn.Module):
    def __init__(self):
        super().__init__()
        self.mask = torch.ones(3)

    def to(self, device):
        self.mask = self.mask.to(device)
        return super().to(device)

    def forward(self, x):
        return x * self.mask


model = nn.Sequential(Attention(3), Positions(3), Moves(), Grid()).to("cuda")
