"""A z-loss on the float16 logits of 100000 words, next to their gradient in float64."""

import torch

SETTINGS = ("plain",)
TOLERANCE = 2e-2
REQUIRES = ">=2.1"


def seen(t, function):
    offsets = torch.tensor([[0.0], [0.5], [2.0]])
    x = (offsets + torch.linspace(-0.1, 0.1, 100000)).half().requires_grad_()
    z = function(x)
    (z.float().square().mean()).backward()
    return [z.float(), str(z.dtype), x.grad.float().sum(-1)]


def place(t):
    def function(x):
        paste
        return z

    return seen(t, function)


def reference(t):
    return seen(t, lambda x: x.double().exp().sum(-1).log().half())
