from __future__ import annotations

import weakref
from typing import Any

import torch

from ...check import Check
from ...events import Backward, Call, version
from ...facts import parameters
from ...run import Run

INPUTS = 1000  # of modules that are remembered per step
LOOKS = 6  # of which the last is at step 16 or later


class OneHorizonOfFour(Check):
    level = "note"
    change = "Add its loss to the total, and raise an error if no weight has the name of a loss"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.siblings: dict[Any, list[Any]] = {}  # modules that were called with the same input
        self.missed: dict[int, tuple[Any, str]] = {}  # those that no backward() has reached
        self.steps: dict[int, int] = {}  # the looks at which they had no gradient
        self.reached: Any = weakref.WeakSet()  # modules that had a gradient at any time

    def called(self, call: Call) -> str | None:
        value, output = call.input, call.output
        if not call.grad or not isinstance(value, torch.Tensor) or not value.numel():
            return None
        if value.layout != torch.strided or value.is_inference() or len(self.siblings) > INPUTS:
            return None
        if isinstance(output, torch.Tensor) and output.grad_fn is not None:
            if any(parameter.requires_grad for parameter in call.module.parameters()):
                key = (value.data_ptr(), tuple(value.shape), version(value), type(call.module))
                known = self.siblings.setdefault(key, [])
                if all(each() is not call.module for each in known) and len(known) < 16:
                    known.append(weakref.ref(call.module))
        return None

    def after_backward(self, backward: Backward) -> str | None:
        reached = {id(leaf) for leaf in backward.leaves}
        for known in [each for each in self.siblings.values() if len(each) > 1]:
            modules = [module for module in (each() for each in known) if module is not None]
            hits = [any(id(p) in reached for p in module.parameters()) for module in modules]
            for module, hit in zip(modules, hits):
                if hit:
                    self._reach(module)
                elif (
                    module not in self.reached
                    and any(hits)
                    and all(p.grad is None for p in module.parameters())
                ):
                    name = self.run.facts.name_of(module)
                    self.missed[id(module)] = weakref.ref(module), name
                    if not self.run.facts.gradients:  # the program has no optimizer
                        return self._message(name)
        return None

    def each_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        for reference, _ in list(self.missed.values()):
            module = reference()
            if module is not None and any(p.grad is not None for p in module.parameters()):
                self._reach(module)
        return None

    def after_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        self.siblings = {}
        own = {id(parameter) for parameter in parameters(optimizer)}
        for key, (reference, name) in list(self.missed.items()):
            module = reference()
            if module is None:
                del self.missed[key]
            elif all(id(p) in own for p in module.parameters()):
                self.steps[key] = self.steps.get(key, 0) + 1
                if self.steps[key] == LOOKS:
                    return self._message(name)
        return None

    def _reach(self, module: torch.nn.Module) -> None:
        self.reached.add(module)
        self.missed.pop(id(module), None)

    def _message(self, name: str) -> str:
        return f"{name} gets no gradient, unlike another module that is called with the same input"
