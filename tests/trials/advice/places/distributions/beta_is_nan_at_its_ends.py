"""Actions of a policy, some at the ends of their range, compared with the density written out.

The gradients at the ends are those a step of the dtype away, where the logarithm is finite.
"""

import math

import torch
from torch.distributions import Beta  # noqa: F401  (the lines call it)

SETTINGS = ("plain",)
TOLERANCE = 1e-5
DTYPES = (torch.float32, torch.float64)


def place(t):
    seen = []
    for dtype in DTYPES:
        action = torch.tensor([0.0, 0.0, 0.3, 1.0, 1.0], dtype=dtype)
        a = torch.tensor([1.0, 1.0, 2.0, 1.0, 3.0], dtype=dtype, requires_grad=True)
        b = torch.tensor([1.0, 3.0, 2.0, 1.0, 1.0], dtype=dtype, requires_grad=True)
        paste
        log_prob.sum().backward()
        seen += [log_prob, a.grad, b.grad]
    return seen


def reference(t):
    seen = []
    for dtype in DTYPES:
        low, high = math.log(torch.finfo(dtype).eps), 0.0
        # digamma(a + b) - digamma(a) is the sum of 1 / n for n from a to a + b - 1.
        of_a = [low + 1, low + 11 / 6, math.log(0.3) + 5 / 6, high + 1, high + 1 / 3]
        of_b = [high + 1, high + 1 / 3, math.log(0.7) + 5 / 6, low + 1, low + 11 / 6]
        log_prob = [0.0, math.log(3), math.log(6 * 0.3 * 0.7), 0.0, math.log(3)]
        seen += [torch.tensor(each, dtype=dtype) for each in (log_prob, of_a, of_b)]
    return seen
