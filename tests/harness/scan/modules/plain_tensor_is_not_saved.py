import torch
from torch import nn


class Relative(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.table = None
        self.table = torch.randn(size, 8)  # finds plain_tensor_is_not_saved
        self.wiring = torch.randperm(size)  # finds plain_tensor_is_not_saved
        self.weight = nn.Parameter(torch.randn(size))
        self.register_buffer("noise", torch.randn(size))
        self.example = torch.randn(1, size)
        self.state = torch.randn(size)
        self.ones = torch.ones(size)

    def forward(self, x):
        self.state = torch.randn(3)
        return x[:, self.wiring] @ self.table + self.weight + self.noise + self.state + self.ones


class Sampler:
    def __init__(self, size):
        self.order = torch.randperm(size)

    def __iter__(self):
        return iter(self.order.tolist())


def resume(model, path):
    model.load_state_dict(torch.load(path, map_location="cpu"))


class Statistics(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.moving_mean = torch.zeros(size)  # finds plain_tensor_is_not_saved
        self.running_var = torch.ones(size)
        self.hidden = torch.zeros(size)

    def forward(self, x):
        self.moving_mean = 0.9 * self.moving_mean + 0.1 * x.mean(0)
        self.running_var = self.running_var.to(x.device)
        self.hidden = self.hidden * 2
        return x - self.moving_mean
