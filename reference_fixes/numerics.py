# SPDX-License-Identifier: BSD-3-Clause
"""Steps that are clipped or skipped but never poisoned, a detector of the first bad value, and snapshots by value.

Vendor this file: it needs torch 1.13 or newer and nothing else. Cures the reproducers in repros/numerics.
What clip_grad_norm_ does to inf and NaN: https://github.com/pytorch/pytorch/issues/46849
"""

from __future__ import annotations

import copy
import math
import re
from typing import Any, Callable, Iterator, NamedTuple

import torch

__all__ = ["BestState", "Snapshot", "StepResult", "apply_where", "clip_or_skip", "find_nonfinite"]

_TORCH = tuple(int(part) for part in re.findall(r"\d+", torch.__version__)[:2])


class StepResult(NamedTuple):
    """Both on the gradients' device: reading them waits for it, so do that every now and then."""

    norm: (
        torch.Tensor
    )  # total 2-norm before clipping; inf where it overflows, nan or inf where the step was skipped
    skipped: torch.Tensor  # bool


def clip_or_skip(optimizer: torch.optim.Optimizer, max_norm: float) -> StepResult:
    """optimizer.step() with all gradients scaled down to a total norm of max_norm, or no step at all.

    - Finite gradients are clipped as by clip_grad_norm_, and left alone when they are short enough.
    - Finite gradients whose norm overflows keep their direction; clip_grad_norm_ would make them all zero. (A fused
      optimizer then takes a somewhat shorter step: the norm is replaced by a bound.)
    - With any inf or NaN nothing is stepped: weights, moments and step counts stay as they are.

    Costs one pass over the gradients, and a second one only where something is clipped. A fused optimizer decides on the
    device (in the way GradScaler makes it), at the price of both passes in every step; any other has to be told by the
    host, which costs one read from the device per step. For float32 or bfloat16 training; under a GradScaler the
    scaler skips. Gradients are scaled in place and not cleared.

    Args:
        max_norm: positive; inf clips nothing and only skips.

    Raises:
        ValueError: max_norm is not positive, or no parameter has a gradient with a value in it.

    >>> weight = torch.nn.Parameter(torch.zeros(2))
    >>> optimizer = torch.optim.SGD([weight], lr=1.0)
    >>> weight.grad = torch.tensor([float("inf"), 3.0])
    >>> clip_or_skip(optimizer, max_norm=1.0).skipped
    tensor(True)
    >>> weight.grad = torch.tensor([4.0, 3.0])
    >>> clip_or_skip(optimizer, max_norm=1.0).norm
    tensor(5.)
    >>> weight.data
    tensor([-0.8000, -0.6000])
    """
    if not max_norm > 0:
        raise ValueError(f"max_norm={max_norm!r}: expected a positive number")
    gradients = _gradients(optimizer)
    if not gradients:
        raise ValueError(
            "the parameters of the optimizer have no gradient with a value in it: was backward() called?"
        )
    norm = _norm(gradients, 2.0)
    if getattr(optimizer, "_step_supports_amp_scaling", False) and not any(
        group.get("dampening") for group in optimizer.param_groups
    ):
        return _step_on_device(optimizer, gradients, norm, max_norm)
    length = norm.item()
    if not math.isfinite(length):
        largest = _norm(gradients, math.inf).item()
        if not math.isfinite(largest):
            return StepResult(norm, torch.ones_like(norm, dtype=torch.bool))
        wide = [
            gradient.to(torch.promote_types(gradient.dtype, torch.float32)) / largest
            for gradient in gradients
        ]
        length = largest * _norm(wide, 2.0).item()  # a product of Python's floats does not overflow
    if length > max_norm:
        _scale(gradients, norm.new_full((), max_norm / length))
    optimizer.step()
    return StepResult(norm, torch.zeros_like(norm, dtype=torch.bool))


def _step_on_device(
    optimizer: Any, gradients: list[torch.Tensor], norm: torch.Tensor, max_norm: float
) -> StepResult:
    largest = _norm(gradients, math.inf)
    skipped = ~largest.isfinite()
    # Where the norm overflows, largest * sqrt(n) stands in for it: a bound from above that needs no further pass. Divided
    # by one factor after the other, because their product overflows too.
    coefficient = torch.where(
        norm.isfinite(), max_norm / norm, max_norm / largest / _root_of_size(gradients)
    )
    _scale(gradients, torch.where(skipped, torch.ones_like(norm), coefficient.clamp(max=1.0)))
    optimizer.grad_scale, optimizer.found_inf = None, skipped.float()
    for parameter, group in _with_gradients(optimizer):
        # Skipped in its first step, SGD would keep memory that nothing was written to as its momentum. It starts as the
        # first gradient, which is what momentum * 0 + gradient makes of zeros.
        if (
            group.get("momentum")
            and "dampening" in group
            and "momentum_buffer" not in optimizer.state[parameter]
        ):
            optimizer.state[parameter]["momentum_buffer"] = torch.zeros_like(parameter).detach()
    try:
        optimizer.step()
    finally:
        del optimizer.grad_scale, optimizer.found_inf
    return StepResult(norm, skipped)


def _gradients(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    found = []
    for parameter, _ in _with_gradients(optimizer):
        if parameter.grad.is_sparse:
            parameter.grad = parameter.grad.coalesce()
        elif parameter.grad.stride() != parameter.stride():
            # Fused optimizers walk over both as if they were laid out alike (or refuse, on CUDA: pytorch#106951).
            parameter.grad = torch.empty_like(parameter).detach().copy_(parameter.grad)
        gradient = parameter.grad._values() if parameter.grad.is_sparse else parameter.grad
        found.append(torch.view_as_real(gradient) if gradient.is_complex() else gradient)
    return [gradient for gradient in found if gradient.numel()]


def _with_gradients(optimizer: torch.optim.Optimizer) -> Iterator[tuple[Any, dict[str, Any]]]:
    return (
        (parameter, group)
        for group in optimizer.param_groups
        for parameter in group["params"]
        if parameter.grad is not None
    )


def _by_device(tensors: list[torch.Tensor]) -> Iterator[list[torch.Tensor]]:
    for device in {tensor.device: None for tensor in tensors}:
        yield [tensor for tensor in tensors if tensor.device == device]


def _norm(gradients: list[torch.Tensor], order: float) -> torch.Tensor:
    """The norm over all gradients in float32 or better, as a 0-d tensor on the first one's device."""
    home = gradients[0].device
    parts = [part for group in _by_device(gradients) for part in torch._foreach_norm(group, order)]
    norms = torch.stack(
        [
            part.to(home) if part.dtype == torch.float64 else part.to(home, torch.float32)
            for part in parts
        ]
    )
    return torch.linalg.vector_norm(norms, order)


def _scale(gradients: list[torch.Tensor], factor: torch.Tensor) -> None:
    # A tensor and no Python number, which the CPU would round to float16 together with float16 gradients (and before 2.1 it
    # rounds the tensor too).
    for group in _by_device(gradients):
        if _TORCH >= (2, 1):
            torch._foreach_mul_(group, factor.to(group[0].device))
        else:
            for gradient in group:
                wide = gradient.to(torch.promote_types(gradient.dtype, torch.float32))
                gradient.copy_(wide * factor.to(gradient.device))


def _root_of_size(gradients: list[torch.Tensor]) -> float:
    return math.sqrt(sum(gradient.numel() for gradient in gradients))


def find_nonfinite(model: torch.nn.Module, *inputs: Any, **named_inputs: Any) -> str | None:
    """Names the first thing that is not finite, in the order in which trouble travels, or returns None.

    Looks at the inputs (nested in dicts, lists and tuples), the parameters, the buffers, the gradients, and then, when
    inputs are given, at the output of every module of one forward pass. The pass leaves no trace: no graph, buffers and
    random state restored. A buffer may hold inf (attention masks do), but no NaN. For diagnosis: it reads from the
    device many times.

    >>> model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    >>> model[1].running_mean[0] = float("nan")
    >>> find_nonfinite(model)
    "buffer '1.running_mean': 1 of 2 values are nan"
    """
    for place, tensor in _fields({f"input {number}": value for number, value in enumerate(inputs)}):
        if problem := _problem(tensor):
            return f"{place}: {problem}"
    for place, tensor in _fields(named_inputs):
        if problem := _problem(tensor):
            return f"input {place}: {problem}"
    for name, parameter in model.named_parameters():
        if problem := _problem(parameter):
            return f"parameter {name!r}: {problem}"
    for name, buffer in model.named_buffers():
        if problem := _problem(buffer, allow_inf=True):
            return f"buffer {name!r}: {problem}"
    for name, parameter in model.named_parameters():
        if parameter.grad is not None and (problem := _problem(parameter.grad)):
            return f"gradient of {name!r}: {problem}"
    return _first_bad_output(model, inputs, named_inputs) if inputs or named_inputs else None


class _Found(Exception):
    pass


def _first_bad_output(
    model: torch.nn.Module, inputs: tuple[Any, ...], named_inputs: dict[str, Any]
) -> str | None:
    def hook(name: str) -> Callable[..., None]:
        def check(module: torch.nn.Module, _: Any, output: Any) -> None:
            for place, tensor in _fields(output):
                if problem := _problem(tensor):
                    raise _Found(
                        f"output of module {name!r} ({type(module).__name__}){place and ' ' + place}: {problem}"
                    )

        return check

    handles = [module.register_forward_hook(hook(name)) for name, module in model.named_modules()]
    buffers = [(buffer, buffer.clone()) for buffer in model.buffers()]
    devices = sorted(
        {tensor.device.index or 0 for tensor in model.parameters() if tensor.device.type == "cuda"}
    )
    try:
        with torch.no_grad(), torch.random.fork_rng(devices):
            model(*inputs, **named_inputs)
    except _Found as found:
        return str(found)
    finally:
        for handle in handles:
            handle.remove()
        with torch.no_grad():
            for buffer, before in buffers:
                buffer.copy_(before)
    return None


def _fields(value: Any, place: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    """Every tensor inside, with the path to it; numbers and NumPy arrays count as tensors."""
    if isinstance(value, torch.Tensor):
        yield place, value
    elif isinstance(value, (float, complex)) or getattr(
        getattr(value, "dtype", None), "kind", ""
    ) in ("f", "c"):
        yield place, torch.as_tensor(value)
    elif isinstance(value, (list, tuple)):
        for number, inner in enumerate(value):
            yield from _fields(inner, f"{place}[{number}]")
    elif hasattr(value, "items"):
        for name, inner in value.items():
            yield from _fields(inner, f"{place}[{name!r}]" if place else str(name))


def _problem(tensor: torch.Tensor, allow_inf: bool = False) -> str | None:
    if tensor.is_sparse:
        tensor = tensor.coalesce().values()
    if not (tensor.is_floating_point() or tensor.is_complex()):
        return None
    if bool(
        tensor.sum().isfinite()
    ):  # one pass without a copy; a finite sum has finite parts, an overflowing one is looked at closely
        return None
    nan, inf = int(tensor.isnan().sum()), int(tensor.isinf().sum())
    if not nan and (allow_inf or not inf):
        return None
    return " and ".join(
        f"{count} of {tensor.numel()} values are {kind}"
        for count, kind in ((nan, "nan"), (inf, "inf"))
        if count
    )


class Snapshot:
    """A copy by value of a model (all buffers included) and of an optimizer, to go back to any number of times.

    state_dict() alone is a set of references that training goes on writing into, and weights without the optimizer's
    moments bring a NaN back with the next step.

    Raises ValueError when something in it is already not finite (buffers may hold inf): that is nothing to go back to.

    >>> model = torch.nn.Linear(1, 1)
    >>> good = Snapshot(model)
    >>> _ = torch.nn.init.constant_(model.weight, float("nan"))
    >>> good.restore(model)
    >>> find_nonfinite(model) is None
    True
    """

    def __init__(
        self, model: torch.nn.Module, optimizer: torch.optim.Optimizer | None = None
    ) -> None:
        for name, parameter in model.named_parameters():
            if problem := _problem(parameter):
                raise ValueError(f"no snapshot of a broken model: parameter {name!r}: {problem}")
        for name, buffer in model.named_buffers():
            if problem := _problem(buffer, allow_inf=True):
                raise ValueError(f"no snapshot of a broken model: buffer {name!r}: {problem}")
        self.model = copy.deepcopy(model.state_dict())
        # Buffers registered with persistent=False are not in the state dict.
        self.buffers = {
            name: buffer.detach().clone()
            for name, buffer in model.named_buffers()
            if name not in self.model
        }
        self.optimizer = copy.deepcopy(optimizer.state_dict()) if optimizer else None
        for place, tensor in _fields(self.optimizer["state"] if self.optimizer else {}):
            if problem := _problem(tensor):
                raise ValueError(f"no snapshot of a broken optimizer: state {place}: {problem}")

    def restore(
        self, model: torch.nn.Module, optimizer: torch.optim.Optimizer | None = None
    ) -> None:
        """Writes the values back. Raises ValueError when the snapshot has an optimizer and none is given, or vice versa."""
        if (optimizer is None) != (self.optimizer is None):
            held, given = (
                ("no optimizer", "one") if self.optimizer is None else ("an optimizer", "none")
            )
            raise ValueError(
                f"the snapshot holds {held} and restore() was given {given}: moments and weights belong together"
            )
        model.load_state_dict(self.model)
        with torch.no_grad():
            for name, buffer in model.named_buffers():
                if name in self.buffers:
                    buffer.copy_(self.buffers[name])
        if optimizer is not None:
            # load_state_dict keeps references to what it is given (pytorch#196083): give it a copy
            optimizer.load_state_dict(copy.deepcopy(self.optimizer))


class BestState:
    """Keeps a Snapshot of the best epoch. A metric that is not finite raises instead of counting as "no improvement".

    >>> model = torch.nn.Linear(1, 1)
    >>> best = BestState(model)
    >>> [best.update(loss) for loss in (0.5, 0.7, 0.4)]
    [True, False, True]
    >>> best.metric
    0.4
    """

    def __init__(
        self,
        model: torch.nn.Module,
        optimizer: torch.optim.Optimizer | None = None,
        mode: str = "min",
    ) -> None:
        if mode not in ("min", "max"):
            raise ValueError(f"mode={mode!r}: expected 'min' or 'max'")
        self.watched, self.mode = (model, optimizer), mode
        self.metric = math.inf if mode == "min" else -math.inf
        self.updates = 0
        self.snapshot: Snapshot | None = None

    def update(self, metric: float) -> bool:
        """Takes a snapshot when the metric is the best so far; says whether. Raises ValueError when it is not finite."""
        self.updates += 1
        metric = float(metric)
        if not math.isfinite(metric):
            raise ValueError(
                f"metric {metric} at update {self.updates}: not finite is not 'no improvement'; see find_nonfinite"
            )
        better = metric < self.metric if self.mode == "min" else metric > self.metric
        if better:
            self.metric, self.snapshot = metric, Snapshot(*self.watched)
        return better

    def restore(self) -> None:
        """Back to the best epoch. Raises ValueError when there was none."""
        if self.snapshot is None:
            raise ValueError("nothing to restore: update() was never called")
        self.snapshot.restore(*self.watched)


def apply_where(
    mask: torch.Tensor,
    function: Callable[..., torch.Tensor],
    *inputs: torch.Tensor,
    otherwise: float = 0.0,
    safe: float = 1.0,
) -> torch.Tensor:
    """function(*inputs) where mask is true and `otherwise` elsewhere, with finite gradients on both sides.

    torch.where(mask, function(x), otherwise) passes 0 * inf = NaN back through function where the mask is false. Here the
    function sees `safe` in those places instead, a value at which it and its derivative are finite.

    >>> x = torch.tensor([0.0, 4.0], requires_grad=True)
    >>> apply_where(x > 0, torch.sqrt, x).sum().backward()
    >>> x.grad
    tensor([0.0000, 0.2500])
    """
    if mask.dtype != torch.bool:
        raise TypeError(f"mask is {mask.dtype}; expected torch.bool")
    result = function(*(torch.where(mask, x, torch.full_like(x, safe)) for x in inputs))
    return torch.where(mask, result, torch.full_like(result, otherwise))
