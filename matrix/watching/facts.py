"""What several checks need to know: the optimizers, the models, and what happens to gradients."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

import torch

from .check import Check
from .events import Backward, Call, Clip, version

ROOTS = 32  # models that are remembered
SEEN_GRADIENTS = 256  # gradients per optimizer whose changes are noticed
TRACE = 200  # letters of a trace that are kept


class Gradients:
    """What has happened to the gradients of one optimizer, as a string of letters.

    s: the optimizer stepped, or GradScaler skipped its step; o: another optimizer stepped;
    b: backward() added to the gradients; B: the same, with a loss that a GradScaler has scaled;
    u: unscale_(); c: they were cleared; m: the program changed or replaced them.
    """

    def __init__(self, optimizer: torch.optim.Optimizer, late: bool = False) -> None:
        self.optimizer = weakref.ref(optimizer)
        self.late = late  # True if the optimizer was made before the run
        self.trace = ""
        self.steps = 0
        self.scaled_steps = 0  # `steps` after the last scaler.step()
        self.last = self._look()

    @property
    def since_step(self) -> str:
        """The trace after the last step of this optimizer."""
        return self.trace[self.trace.rfind("s") + 1 :]

    def add(self, letter: str) -> None:
        self.trace = (self.trace + letter)[-TRACE:]

    def notice(self, letter: str = "") -> bool:
        """True if the gradients have changed since the last look.

        Adds the letter of this change. Without a letter, the program made the change.
        """
        now = self._look()
        changed = now != self.last
        if letter == "c" and any(new == old != (0, 0) for new, old in zip(now, self.last)):
            letter = "m"  # the gradients of some parameters only
        self.last = now
        if changed:
            self.add(letter or ("m" if any(each for each, _ in now) else "c"))
        return changed

    def ignore(self) -> None:
        """Takes the gradients as they are, without a letter."""
        self.last = self._look()

    def _look(self) -> list[tuple[int, int]]:
        """The identity and the version of each gradient."""
        optimizer = self.optimizer()
        look: list[tuple[int, int]] = []
        for parameter in parameters(optimizer) if optimizer is not None else ():
            gradient = parameter.grad
            look.append((0, 0) if gradient is None else (id(gradient), version(gradient)))
            if len(look) >= SEEN_GRADIENTS:
                break
        return look


class Facts(Check):
    """The facts of a run. It is told about each event before the checks are."""

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self.gradients: dict[int, Gradients] = {}  # by id(optimizer)
        self.scalers: Any = weakref.WeakSet()
        self._roots: list[weakref.ReferenceType[torch.nn.Module]] = []
        self._scaled: dict[int, weakref.ReferenceType[torch.Tensor]] = {}
        self._names: dict[int, str] = {}

    # What checks ask for

    def optimizers(self) -> Iterator[torch.optim.Optimizer]:
        """The optimizers that still exist, in the order in which they were made."""
        for each in list(self.gradients.values()):
            optimizer = each.optimizer()
            if optimizer is not None:
                yield optimizer

    def of(self, optimizer: torch.optim.Optimizer) -> Gradients:
        """The gradients of the optimizer, or of the optimizer that it wraps."""
        optimizer = unwrapped(optimizer)
        known = self.gradients.get(id(optimizer))
        if known is None or known.optimizer() is not optimizer:
            known = self.gradients[id(optimizer)] = Gradients(optimizer, late=True)
        return known

    def optimizers_of(self, tensors: list[torch.Tensor]) -> list[torch.optim.Optimizer]:
        """The optimizers that have at least one of the tensors as a parameter."""
        ids = {id(tensor) for tensor in tensors}
        return [each for each in self.optimizers() if any(id(p) in ids for p in parameters(each))]

    def roots(self) -> list[torch.nn.Module]:
        """The modules that the program itself calls, such as its models and losses."""
        return [root for root in (reference() for reference in self._roots) if root is not None]

    def models(self) -> list[torch.nn.Module]:
        """The roots that have parameters."""
        return [root for root in self.roots() if next(root.parameters(), None) is not None]

    def name_of(self, part: Any) -> str:
        """The name of a parameter or a module in its model, or a description."""
        name = self._names.get(id(part))
        if name is None:
            self._read_names()
            name = self._names.get(id(part))
        if isinstance(part, torch.nn.Module):
            kind = type(part).__name__
            return f"{name} ({kind})" if name else f"the {kind}"
        return name or f"a parameter of shape {tuple(part.shape)}"

    def is_scaled(self, tensor: torch.Tensor) -> bool:
        """True if the tensor is a result of GradScaler.scale()."""
        reference = self._scaled.get(id(tensor))
        return reference is not None and reference() is tensor

    # What the hooks tell

    def scaled(self, tensors: list[torch.Tensor]) -> None:
        self._scaled = {key: ref for key, ref in self._scaled.items() if ref() is not None}
        self._scaled.update((id(tensor), weakref.ref(tensor)) for tensor in tensors)

    def add_root(self, module: torch.nn.Module) -> None:
        self._roots = [reference for reference in self._roots if reference() is not None]
        if len(self._roots) < ROOTS and all(each() is not module for each in self._roots):
            self._roots.append(weakref.ref(module))
            self._names.clear()

    def optimizer_made(self, optimizer: torch.optim.Optimizer) -> None:
        self.gradients = {k: v for k, v in self.gradients.items() if v.optimizer() is not None}
        self.gradients[id(optimizer)] = Gradients(optimizer)

    def before_backward(self, backward: Backward) -> None:
        backward.scaled = bool(backward.tensors) and all(map(self.is_scaled, backward.tensors))
        for gradients in self._live():
            gradients.notice()

    def backward_returned(self, backward: Backward) -> None:
        """In every step, before the checks' after_backward()."""
        for gradients in self._live():
            gradients.notice("B" if backward.scaled else "b")

    def cleared(self, owner: Any) -> None:
        for gradients in self._live():
            gradients.notice("c")

    def clipped(self, clip: Clip) -> None:
        for gradients in self._live():
            gradients.notice()

    def clip_returned(self) -> None:
        for gradients in self._live():
            gradients.ignore()

    def unscaled(self, scaler: Any, optimizer: torch.optim.Optimizer) -> None:
        gradients = self.of(optimizer)
        gradients.notice()
        gradients.add("u")

    def unscale_returned(self, optimizer: torch.optim.Optimizer) -> None:
        self.of(optimizer).ignore()

    def scaler_made(self, scaler: Any, enabled: bool) -> None:
        self.scalers.add(scaler)

    def scaler_stepped(self, scaler: Any, optimizer: Any, stepped: bool) -> None:
        if not stepped:  # the window of this step is over
            self.of(optimizer).add("s")

    def each_step(self, optimizer: torch.optim.Optimizer) -> None:
        self.of(optimizer).notice()

    def step_returned(self, optimizer: torch.optim.Optimizer) -> None:
        """In every step, before the checks' after_step()."""
        gradients = self.of(optimizer)
        gradients.ignore()
        gradients.steps += 1
        for each in self._live():
            each.add("s" if each is gradients else "o")

    def called(self, call: Call) -> None:
        if not call.parents:
            self.add_root(call.module)

    def _live(self) -> list[Gradients]:
        return [each for each in self.gradients.values() if each.optimizer() is not None]

    def _read_names(self) -> None:
        self._names = {}
        for root in self.roots():
            for name, module in root.named_modules():
                self._names.setdefault(id(module), name)
                for key, parameter in module.named_parameters(recurse=False):
                    self._names.setdefault(id(parameter), f"{name}.{key}" if name else key)


def unwrapped(optimizer: Any) -> Any:
    """The optimizer that Lightning or accelerate has wrapped, or the optimizer itself."""
    while isinstance(inner := getattr(optimizer, "optimizer", None), torch.optim.Optimizer):
        optimizer = inner
    return optimizer


def parameters(optimizer: torch.optim.Optimizer) -> Iterator[torch.Tensor]:
    """The parameters of all groups."""
    for group in optimizer.param_groups:
        yield from group["params"]
