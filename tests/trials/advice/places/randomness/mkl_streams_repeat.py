"""Noise of generators in different states, and its distribution; the last draws a uniform 0.

The first two would repeat in float32, the next two in float64.
"""

import torch

SETTINGS = ("plain",)


def place(t):
    found = []
    for seed in (27024, 51983, 51199, 55302, 11993):
        generator = torch.Generator().manual_seed(seed)
        paste
        found.append(noise)
    numbers = torch.cat(found)
    return {
        "equal": torch.equal(*found[:2]) or torch.equal(*found[2:4]),
        "shape": list(noise.shape),
        "above 1e-9": bool((numbers > 1e-9).all()),
        "mean": abs(numbers.mean().item() - 1) < 0.15,
        "median": abs(numbers.median().item() - 0.693) < 0.15,
        "above 3": abs((numbers > 3).float().mean().item() - 0.0498) < 0.03,
    }


def reference(t):
    return {
        "equal": False,
        "shape": [1000],
        "above 1e-9": True,
        "mean": True,
        "median": True,
        "above 3": True,
    }
