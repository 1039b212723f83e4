"""Actions of a policy, some at the ends of their range, against the density written out."""

import math

import torch
from torch.distributions import Beta  # noqa: F401  (the lines call it)

SETTINGS = ("plain",)


def place(t):
    seen = []
    for dtype in (torch.float32, torch.float64):
        action = torch.tensor([0.0, 0.0, 0.3, 1.0, 1.0], dtype=dtype)
        a = torch.tensor([1.0, 1.0, 2.0, 1.0, 3.0], dtype=dtype, requires_grad=True)
        b = torch.tensor([1.0, 3.0, 2.0, 1.0, 1.0], dtype=dtype, requires_grad=True)
        paste
        log_prob.sum().backward()
        finite = bool(a.grad.isfinite().all() and b.grad.isfinite().all())
        seen += [log_prob, finite, a.grad[2]]
    return seen


def reference(t):
    middle = math.log(6 * 0.3 * 0.7)
    log_prob = torch.tensor([0.0, math.log(3), middle, 0.0, math.log(3)])
    of_a = torch.tensor(math.log(0.3) + 1 / 2 + 1 / 3)  # digamma(4) - digamma(2) = 1/2 + 1/3
    return [log_prob, True, of_a] * 2
