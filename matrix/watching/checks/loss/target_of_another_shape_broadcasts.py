from __future__ import annotations

import math

import torch

from ...check import Check
from ...events import Function


class TargetOfAnotherShapeBroadcasts(Check):
    level = "error"
    change = "Pass target.view_as(prediction)"

    def function(self, function: Function) -> str | None:
        if function.name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"):
            of = function.arguments
            sizes = [tuple(of[name].shape) for name in ("input", "target")]
            if len(sizes[0]) == len(sizes[1]):
                return None  # all pairs may be meant
            pairs = math.prod(torch.broadcast_shapes(*sizes))
            if pairs > max(map(math.prod, sizes)):
                return f"{function.name}() of {sizes[0]} and {sizes[1]} compares {pairs} pairs"
        return None
