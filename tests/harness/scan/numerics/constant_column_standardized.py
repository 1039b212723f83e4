import numpy as np
import torch


def table(rows, later):
    x = torch.tensor(rows)
    mean, std = x.mean(dim=0), x.std(dim=0)
    x = (x - mean) / std  # finds constant_column_standardized
    return x, (later - mean) / std


class Normalizer:
    def fit_transform(self, x):
        self.mu = np.mean(x, axis=0, keepdims=True)
        self.sd = np.std(x, axis=0, keepdims=True)
        return (x - self.mu) / self.sd  # finds constant_column_standardized


def guards(x):
    std = x.std(0)
    std[std == 0] = 1
    return (x - x.mean(0)) / std


def clamps(x):
    std = x.std(0)
    std = std.clamp(min=1e-6)
    return (x - x.mean(0)) / std


def adds(x):
    return (x - x.mean(0)) / (x.std(0) + 1e-8)


def rows(x):
    return (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True)


def whole(x):
    return (x - x.mean()) / x.std()
