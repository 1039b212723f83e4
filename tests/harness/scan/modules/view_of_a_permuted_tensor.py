# ruff: noqa
import torch


def views(n, other):
    x = torch.zeros(n, n, n, n)
    x.transpose(1, 2).view(n, -1)  # finds view_of_a_permuted_tensor
    x.permute(0, 2, 3, 1).view(-1)  # finds view_of_a_permuted_tensor
    y = x.transpose(-1, -2)
    y.view(-1)  # finds view_of_a_permuted_tensor
    x.permute(0, 2, 3, 1).view(n, -1, 3)
    x.permute(0, 2, 1).view(n, 3, 4, 5)
    x.transpose(1, 2).contiguous().view(n, -1)
    x.transpose(1, 2).reshape(n, -1)
    x.transpose(1, 2).transpose(1, 2).view(n, -1)
    x.transpose(0, 1).view(torch.int32)
    x.permute(n, 1, 2).view(-1)
    x.transpose(0, 999999).view(1, 2)
    x.t().view(-1)
    other.transpose(1, 2).view(n, -1)
    total = (other.permute(0, 2, 1) + x).permute(0, 2, 1)
    total.view(n, -1)
    halves = x * 0.5
    halves.transpose(1, 2).view(n, -1)  # finds view_of_a_permuted_tensor


class RaisesBeforeItsLayer(nn.Module):
    def __init__(self):
        super().init()
        self.layer = nn.Linear(2, 2)
