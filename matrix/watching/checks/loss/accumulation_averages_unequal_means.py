from __future__ import annotations

import re
from functools import partial
from typing import Any

import torch

from ...check import Check
from ...events import Backward, Function, node_name
from ...run import Run


class AccumulationAveragesUnequalMeans(Check):
    level = "warning"
    change = "Divide the sum of the losses by the number of labels in all accumulated batches"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.calls = 0  # of a loss that is a mean, since the last backward()
        # Labels that count, and others, in this step, by the line of the loss and its classes.
        self.counts: dict[Any, list[tuple[float, float]]] = {}
        self.last: Any = None  # the key of the last loss

    def function(self, function: Function) -> str | None:
        of = function.arguments
        if function.name not in ("cross_entropy", "nll_loss") or not function.grad:
            return None
        if of["reduction"] == "mean" and not of["target"].is_floating_point():
            self.calls += 1
            ignored = (of["target"] == of["ignore_index"]).sum()
            labels = of["target"].numel()
            self.last = *self.run.place(), of["input"].shape[1:2]
            counts = self.counts.setdefault(self.last, [])
            self.ask(ignored, lambda number: counts.append((labels - number, number)))
        return None

    def before_backward(self, backward: Backward) -> str | None:
        calls, self.calls = self.calls, 0
        if calls != 1 or len(backward.tensors) != 1:
            return None
        loss = backward.tensors[0]
        if self._is_mean(loss.grad_fn) and self._is_accumulated(backward):
            self.ask(loss, partial(self._judge, self.counts.get(self.last, [])))
        return None

    def each_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        self.counts = {}
        return None

    def _is_mean(self, node: Any) -> bool:
        while node is not None and node_name(node) in ("DivBackward", "MulBackward"):
            nodes = [each for each, _ in node.next_functions if each is not None]
            node = nodes[0] if len(nodes) == 1 else None
        return node is not None and node_name(node).startswith("NllLoss")

    def _is_accumulated(self, backward: Backward) -> bool:
        optimizers = self.run.facts.optimizers_of(backward.leaves)
        if optimizers:
            traces = [self.run.facts.of(each).since_step for each in optimizers]
            return any(re.search("[bB][^c]*$", trace) for trace in traces)
        return any(leaf.grad is not None for leaf in backward.leaves)

    def _judge(self, counts: list[tuple[float, float]], loss: float) -> str | None:
        if len(counts) > 1:
            (before, ignored), (now, also_ignored) = counts[-2:]
            del counts[:-1]
            if ignored + also_ignored and max(before, now) > 1.1 * min(before, now) > 0:
                return f"gradients of means over {before:.0f} and {now:.0f} labels were added up"
        return None
