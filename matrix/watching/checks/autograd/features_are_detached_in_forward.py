from __future__ import annotations

import weakref
from typing import Any

import torch

from ...check import Check
from ...events import Call, tensors
from ...facts import parameters
from ...run import Run

OUTPUTS = 1000  # of modules that are remembered


class FeaturesAreDetachedInForward(Check):
    level = "warning"
    change = "Pass on the output of the first module itself, without detach(), .data or no_grad()"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.outputs: dict[int, Any] = {}  # weak references to the modules that made them
        self.last: Any = None  # the module that was called last, and
        self.parents: Any = ()  # the modules whose forward() called it, and
        self.size = 0  # the size of its output, if that has no gradient
        self.pairs: list[tuple[Any, Any]] = []  # modules, the second with a detached output

    def called(self, call: Call) -> str | None:
        module = call.module
        if not self._is_trained(module):
            return None
        for value in tensors(call.args) if call.grad else ():
            if value.layout != torch.strided:
                continue
            maker = self.outputs.get(value.data_ptr()) if value.numel() else None
            if maker is None and call.parents == self.parents and value.numel() == self.size:
                maker = self.last  # an operation under no_grad() may be between the modules
            if maker is not None and not value.requires_grad and maker() is not module:
                self.pairs = [*self.pairs[-15:], (maker, weakref.ref(module))]
        self.last, self.parents = weakref.ref(module), call.parents or None
        detached = isinstance(call.output, torch.Tensor) and not call.output.requires_grad
        self.size = call.output.numel() if detached else 0
        if len(self.outputs) < OUTPUTS:
            for value in tensors(call.output):
                if value.is_floating_point() and value.numel() and value.layout == torch.strided:
                    self.outputs[value.data_ptr()] = weakref.ref(module)
        return None

    def before_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        pairs, own = self.pairs, {id(parameter) for parameter in parameters(optimizer)}
        self.outputs, self.pairs = {}, []
        for first, second in pairs:
            modules = first(), second()
            if None in modules or modules[0] in modules[1].modules():
                continue
            before, after = ([*module.parameters()] for module in modules)
            if any(id(p) not in own for p in before + after):
                continue
            if any(p.grad is not None or not p.requires_grad for p in before):
                continue
            if any(p.grad is not None for p in after):
                names = [self.run.facts.name_of(module) for module in modules]
                return (
                    f"{names[1]} gets a detached output of {names[0]}, so {names[0]} has no "
                    "gradient"
                )
        return None

    def _is_trained(self, module: torch.nn.Module) -> bool:
        return any(parameter.requires_grad for parameter in module.parameters())
