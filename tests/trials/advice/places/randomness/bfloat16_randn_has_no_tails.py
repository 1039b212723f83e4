"""The tails, the spread and the dtype of the noise."""

import torch

SETTINGS = ("plain",)


def place(t):
    paste
    wide = noise.float()
    return {
        "dtype": str(noise.dtype),
        "numbers": noise.numel(),
        "mean": abs(wide.mean().item()) < 0.02,
        "spread": abs(wide.std().item() - 1) < 0.02,
        "beyond 3.5": 10 < int((wide.abs() > 3.5).sum()) < 110,
        "beyond 3.95": bool((wide.abs() > 3.95).any()),
        "above 0": abs((wide > 0).float().mean().item() - 0.5) < 0.02,
        "needs a gradient": noise.requires_grad,
    }


def reference(t):
    return {
        "dtype": str(torch.bfloat16),
        "numbers": 100_000,
        "mean": True,
        "spread": True,
        "beyond 3.5": True,
        "beyond 3.95": True,
        "above 0": True,
        "needs a gradient": False,
    }
