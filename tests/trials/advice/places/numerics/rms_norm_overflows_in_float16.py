"""Rows of float16 activations of all sizes, and the gradients of activations and weight."""

import torch

SETTINGS = ("plain",)
REQUIRES = ">=2.4"
TOLERANCE = 5e-3


def seen(t, normalize):
    rows = torch.cat([x for x, _ in t.batches]) * torch.logspace(-1, 4, 20).unsqueeze(1)
    x = rows.clamp(-60000, 60000).half().requires_grad_()
    weight = torch.linspace(0.5, 1.5, 6).half().requires_grad_()
    y = normalize(x, weight)
    y.float().square().mean(0).sum().backward()
    return [y, str(y.dtype), x.grad, weight.grad]


def place(t):
    def normalize(x, weight):
        paste
        return y

    return seen(t, normalize)


def reference(t):
    def normalize(x, weight):
        wide = x.double()
        root = (wide.square().mean(-1, keepdim=True) + torch.finfo(torch.float32).eps).sqrt()
        return (wide / root * weight.double()).to(x.dtype)

    return seen(t, normalize)
