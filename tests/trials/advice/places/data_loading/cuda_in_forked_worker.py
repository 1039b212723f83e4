"""Rows that a worker makes, and that the loop moves."""

import torch
from torch.utils.data import DataLoader, Dataset  # noqa: F401

SETTINGS = ("plain",)


class Rows(Dataset):
    def __init__(self, device):
        self.device = device

    def __len__(self):
        return 3

    def __getitem__(self, index):
        return torch.full((2,), index, device=self.device)


def place(t):
    device, read = torch.device("cpu"), []
    train = read.append
    paste
    return read


def reference(t):
    return [torch.full((1, 2), index) for index in range(3)]
