"""Gradients that are too small for float16 on the way back, compared with float32."""

import torch

SETTINGS = ("plain", "tied", "frozen norm")
TOLERANCE = 0.02


def gradients(t, step, dtype):
    t.optimizer.zero_grad()
    for x, y in t.batches:
        step((t.model(x) * 1e-5).to(dtype).float() @ torch.ones(4, 1), y)
    return [parameter.grad * 1e5 for parameter in t.model.parameters() if parameter.requires_grad]


def place(t):
    model, optimizer, device = t.model, t.optimizer, torch.device("cpu")
    paste

    def step(outputs, y):
        scaler.scale((outputs.flatten() * y).mean() * 1e-8).backward()

    gradients(t, step, torch.float16)
    scaler.unscale_(optimizer)
    return [one.grad * 1e13 for one in model.parameters() if one.requires_grad]


def reference(t):
    def step(outputs, y):
        ((outputs.flatten() * y).mean() * 1e-8).backward()

    return [one * 1e8 for one in gradients(t, step, torch.float32)]
