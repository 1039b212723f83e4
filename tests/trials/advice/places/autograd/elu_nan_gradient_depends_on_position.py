"""Activations, a few of which are NaN or infinite, compared with each element on its own."""

import math

import torch

SETTINGS = ("plain", "bfloat16")


def train(t, elu):
    results = []
    for size in (3, 65, 200):
        x = torch.linspace(-3, 3, size, dtype=t.setting.dtype)
        x[0], x[1], x[2] = float("inf"), -float("inf"), float("nan")
        x[-1] = float("nan")
        x.requires_grad_()
        y = elu(x)
        y.backward(torch.linspace(1, 2, size, dtype=t.setting.dtype))
        results += [y.detach().float(), x.grad.float()]
    return results


def place(t):
    def elu(x):
        paste
        return y

    return train(t, elu)


class Elu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x.new_tensor([math.expm1(v) if v < 0 else v for v in x.tolist()])

    @staticmethod
    def backward(ctx, gradient):
        return gradient * gradient.new_tensor([math.exp(v) if v < 0 else 1 for v in ctx.x.tolist()])


def reference(t):
    return train(t, Elu.apply)


TOLERANCE = 0.02
