"""The outliers, the spread and the dtype of a weight; the seed makes one of float32 an outlier."""

import torch

SETTINGS = ("plain",)


def place(t):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1423)
        paste
    wide = weight.float()
    return {
        "dtype": str(weight.dtype),
        "numbers": weight.numel(),
        "within six deviations": bool((wide.abs() < 0.12).all()),
        "on the end": int((wide.abs() == wide.abs().max()).sum()) < 20,
        "beyond two": abs((wide.abs() > 0.04).float().mean().item() - 0.0455) < 0.015,
        "mean": abs(wide.clamp(-1, 1).mean().item()) < 0.002,
    }


def reference(t):
    return {
        "dtype": str(torch.bfloat16),
        "numbers": 10_000,
        "within six deviations": True,
        "on the end": True,
        "beyond two": True,
        "mean": True,
    }
