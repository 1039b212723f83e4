import torch
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler


def run(device, per_row):
    labels = (torch.arange(100) % 10 == 0).long()
    weights = 1 / labels.bincount(minlength=2)
    sampler = WeightedRandomSampler(weights[labels] if per_row else weights, len(labels))
    for _ in DataLoader(TensorDataset(torch.randn(100, 2), labels), 10, sampler=sampler):
        pass


def reproduce(device):
    run(device, per_row=False)


def control(device):
    run(device, per_row=True)
