"""Divergences to priors that are trained, compared with means over a fine grid in float64."""

import torch
from torch.distributions import Beta, Gamma, Uniform, kl_divergence  # noqa: F401

SETTINGS = ("plain",)
TOLERANCE = 1e-3


def train(kl_of):
    seen = []
    for kind in (Beta, Gamma):
        for first, second in ((1.0, 1.0), (2.0, 3.0), (1.0, 4.0)):
            a = torch.tensor(first, requires_grad=True)
            b = torch.tensor(second, requires_grad=True)
            kl = kl_of(kind, a, b)
            kl.backward()
            seen += [kl, a.grad, b.grad]
    return seen


def place(t):
    def kl_of(kind, a, b):
        prior = kind(a, b)
        paste
        return kl

    return train(kl_of)


def reference(t):
    grid = (torch.arange(100000, dtype=torch.float64) + 0.5) / 100000

    def kl_of(kind, a, b):
        return -kind(a.double(), b.double()).log_prob(grid).mean().float()

    return train(kl_of)
