"""The outliers, the spread and the dtype of a weight."""

import torch

SETTINGS = ("plain",)


def place(t):
    paste
    wide = weight.float()
    return {
        "dtype": str(weight.dtype),
        "numbers": weight.numel(),
        "within six deviations": int((wide.abs() > 0.12).sum()) <= 2,
        "beyond two": abs((wide.abs() > 0.04).float().mean().item() - 0.0455) < 0.015,
        "mean": abs(wide.clamp(-1, 1).mean().item()) < 0.002,
    }


def reference(t):
    return {
        "dtype": str(torch.bfloat16),
        "numbers": 10_000,
        "within six deviations": True,
        "beyond two": True,
        "mean": True,
    }
