"""Noise of two generators in different states, and its distribution."""

import torch

SETTINGS = ("plain",)


def place(t):
    found = []
    for seed in (27024, 51983):
        generator = torch.Generator().manual_seed(seed)
        paste
        found.append(noise)
    both = torch.cat(found)
    return {
        "equal": torch.equal(*found),
        "shape": list(noise.shape),
        "above 0": bool((both > 0).all()),
        "mean": abs(both.mean().item() - 1) < 0.15,
        "median": abs(both.median().item() - 0.693) < 0.15,
        "above 3": abs((both > 3).float().mean().item() - 0.0498) < 0.03,
    }


def reference(t):
    return {
        "equal": False,
        "shape": [1000],
        "above 0": True,
        "mean": True,
        "median": True,
        "above 3": True,
    }
