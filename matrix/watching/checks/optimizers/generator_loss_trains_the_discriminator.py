from __future__ import annotations

import re

import torch

from ...check import Check


class GeneratorLossTrainsTheDiscriminator(Check):
    level = "error"
    change = "Call zero_grad() of this optimizer right before its backward()"

    def each_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        window = self.run.facts.of(optimizer).since_step.rpartition("c")[2]
        # If another step follows the last backward(), the program perhaps sums losses on purpose.
        if re.search("[bB][^m]*o[^m]*[bB][^mo]*$", window):
            return "the gradients also contain those of a loss that another optimizer has used"
        return None
