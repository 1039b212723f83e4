# SPDX-License-Identifier: BSD-3-Clause
"""Clips or skips bad steps, names the first non-finite value, and takes snapshots to restore.

Vendor this file: its only dependency is torch 1.13 or newer. It fixes the failures in
repros/numerics whose `fix` key names a function in this file. For the effect of clip_grad_norm_ on
inf and NaN, see https://github.com/pytorch/pytorch/issues/46849

>>> model = torch.nn.Linear(1, 1)
>>> optimizer = torch.optim.AdamW(model.parameters())
>>> good = Snapshot(model, optimizer)  # taken again whenever validation improves
>>> for x in [torch.zeros(2, 1), torch.tensor([[3.0], [math.inf]])]:
...     optimizer.zero_grad()
...     error, total = (model(x) - x).abs(), model(x).abs() + x.abs()
...     apply_where(total > 0, torch.div, 2 * error, total).mean().backward()
...     if clip_or_skip(optimizer, max_norm=1.0).skipped:
...         print(find_nonfinite(model, x))
...         good.restore()
input 0: 1 of 2 values are inf
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import math
import random
import re
import sys
from typing import Any, Callable, ContextManager, Iterable, Iterator, NamedTuple

import torch

__all__ = ["Snapshot", "StepResult", "apply_where", "clip_or_skip", "find_nonfinite"]

_TORCH = tuple(int(part) for part in re.findall(r"\d+", torch.__version__)[:2])
# Devices where a read stalls, and whose optimizers can decide instead. MPS has no float64, and
# before torch 2.13, its optimizers step on NaN (pytorch#186360).
_DECIDING = ("cuda",)
_INF = ("inf", "-inf")


class StepResult(NamedTuple):
    """Two 0-d tensors on the gradients' device. Reading either tensor waits for the device."""

    # The total 2-norm before clipping: inf if it overflows, inf or nan if the step was skipped.
    norm: torch.Tensor
    skipped: torch.Tensor


def clip_or_skip(optimizer: torch.optim.Optimizer, max_norm: float) -> StepResult:
    """Clips all gradients to a total norm of max_norm and takes a step, or skips the step.

    - Finite gradients of all parameter groups are clipped together in place, as by clip_grad_norm_.
      They are not cleared, and they do not change if their norm is at most max_norm.
    - If their norm overflows, clip_grad_norm_ sets them to zero. Here, they keep their direction,
      and their norm becomes at most max_norm. (On MPS, which has no subnormal numbers, the largest
      gradients become zero.)
    - If any gradient contains inf or NaN, the step is skipped, so weights, moments and step counts
      do not change.

    Each call reads from the device once, or twice if the norm is not finite. step() is not called
    if the step is skipped.

    On CUDA, from torch 2.4 on, a fused optimizer from torch.optim decides on the device, and
    nothing is read. (This does not apply to subclasses, wrappers and SGD with dampening.) In that
    case:

    - step() is always called and scales the gradients, so hooks that run before step() see the
      gradients before they are scaled.
    - Norms above 3e38 * max_norm count as inf.

    With DTensors (FSDP2), either all ranks step or none do, and a norm that overflows counts as
    inf. Use clip_or_skip() for float32 or bfloat16. A GradScaler skips steps itself.

    Args:
        max_norm: a positive number. With inf, nothing is clipped, but steps are still skipped.

    Raises:
        ValueError: max_norm is not positive, or no parameter has a gradient that contains a value.
        TypeError: the optimizer is LBFGS, or has parameters of FSDP1.

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
    if isinstance(optimizer, torch.optim.LBFGS):
        name = type(optimizer).__name__
        raise TypeError(f"{name} computes gradients within its step: check the loss in its closure")
    gradients = _gradients(optimizer)
    groups = _groups(gradients)
    if _decides_on_device(optimizer):
        return _step_on_device(optimizer, groups, max_norm)
    norm = _norm(groups, 2.0)
    if math.isfinite(length := norm.item()):
        if length > max_norm:
            _scale(groups, max_norm / norm)
        optimizer.step()
        return StepResult(norm, torch.zeros_like(norm, dtype=torch.bool))
    # A rank may have no elements of a DTensor, and an empty tensor has no largest element.
    largest = norm if _sharded(groups) else _norm(groups, math.inf)
    skipped = ~largest.isfinite()
    if not skipped:
        # If the norm overflows, largest * sqrt(n) bounds it without a scaled-down copy of all
        # gradients. The two divisions are separate, because the product of the divisors overflows
        # too.
        bound = max_norm / largest / math.sqrt(sum(gradient.numel() for gradient in gradients))
        _scale(groups, bound.clamp(max=1.0))
        optimizer.step()
    return StepResult(norm, skipped)


def _decides_on_device(optimizer: torch.optim.Optimizer) -> bool:
    # Attributes that are set on a wrapper never reach its optimizer. Loading the state of an
    # optimizer that is not fused unfuses the groups. SGD with dampening initializes its momentum to
    # the undamped gradient, which a buffer created here cannot replace. float64 norms have been
    # available since torch 2.4.
    return (
        type(optimizer).__module__.startswith("torch.optim.")
        and _TORCH >= (2, 4)
        and all(group.get("fused") for group in optimizer.param_groups)
        and not any(group.get("dampening") for group in optimizer.param_groups)
        and all(parameter.device.type in _DECIDING for parameter, _ in _with_gradients(optimizer))
    )


def _step_on_device(
    optimizer: Any, groups: list[list[torch.Tensor]], max_norm: float
) -> StepResult:
    """Gives the optimizer's kernel the same inputs as a GradScaler: a divisor and a skip flag."""
    # The norm of float32 numbers cannot overflow in float64, so one pass over the gradients
    # distinguishes inf from a large norm. Torch 2.14 and 2.15 do not support this norm for
    # DTensors.
    norm = _norm(groups, 2.0) if _sharded(groups) else _norm(groups, 2.0, torch.float64)
    divisor = (norm / max_norm).clamp(min=1.0).float()
    skipped = ~(divisor < math.inf)  # also true for NaN
    for parameter, group in _with_gradients(optimizer):
        # If the first step were skipped, SGD would keep uninitialized memory as its momentum. With
        # a buffer of zeros, the first momentum is the gradient, just as without a buffer.
        state = optimizer.state[parameter]
        if group.get("momentum") and state.get("momentum_buffer") is None:
            state["momentum_buffer"] = torch.zeros_like(parameter)
    optimizer.grad_scale, optimizer.found_inf = divisor, skipped.float()
    try:
        optimizer.step()
    finally:
        del optimizer.grad_scale, optimizer.found_inf
    largest = torch.float64 if any(g[0].dtype == torch.float64 for g in groups) else torch.float32
    return StepResult(torch.where(skipped, norm * math.inf, norm).to(largest), skipped)


def _sharded(groups: list[list[torch.Tensor]]) -> bool:
    return any(hasattr(gradient, "to_local") for group in groups for gradient in group)


def _wide(dtype: torch.dtype) -> torch.dtype:
    return torch.promote_types(dtype, torch.float32)


@torch.no_grad()
def _gradients(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    found = []
    for parameter, _ in _with_gradients(optimizer):
        if getattr(parameter, "_fsdp_flattened", False):
            # Each rank would see only its part of the norm.
            raise TypeError("parameters of FSDP1: call its clip_grad_norm_(), then step()")
        if parameter.grad.is_sparse:
            parameter.grad = parameter.grad.coalesce()
        elif parameter.grad.stride() != parameter.stride():
            # Fused optimizers assume that a parameter and its gradient have the same memory layout
            # (on CUDA, they raise an error otherwise: pytorch#106951).
            parameter.grad = torch.empty_like(parameter).copy_(parameter.grad)
        gradient = parameter.grad._values() if parameter.grad.is_sparse else parameter.grad
        if gradient.numel():
            found.append(torch.view_as_real(gradient) if gradient.is_complex() else gradient)
    if not found:
        raise ValueError(
            "the parameters of the optimizer have no gradient with a value in it: "
            "was backward() called?"
        )
    return found


def _with_gradients(optimizer: torch.optim.Optimizer) -> Iterator[tuple[Any, dict[str, Any]]]:
    return (
        (parameter, group)
        for group in optimizer.param_groups
        for parameter in group["params"]
        if parameter.grad is not None
    )


def _groups(tensors: list[torch.Tensor]) -> list[list[torch.Tensor]]:
    """Groups tensors by device, dtype and (for DTensors) mesh. One call can process each group."""
    groups: dict[Any, list[torch.Tensor]] = {}
    for tensor in tensors:
        key = tensor.device, tensor.dtype, getattr(tensor, "device_mesh", None)
        groups.setdefault(key, []).append(tensor)
    return list(groups.values())


@torch.no_grad()
def _norm(groups: list[list[torch.Tensor]], order: float, *dtype: torch.dtype) -> torch.Tensor:
    """The norm over all groups, in float32 or better: a 0-d tensor on the first group's device."""
    norms = []
    for group in groups:
        parts = torch.stack(torch._foreach_norm(group, order, *dtype))
        norm = torch.linalg.vector_norm(parts.to(_wide(parts.dtype)), order)
        norm = norm.full_tensor() if hasattr(norm, "full_tensor") else norm
        norms.append(norm.to(groups[0][0].device))
    return norms[0] if len(norms) == 1 else torch.linalg.vector_norm(torch.stack(norms), order)


@torch.no_grad()
def _scale(groups: list[list[torch.Tensor]], factor: torch.Tensor) -> None:
    # The factor is a tensor because, for float16 gradients, the CPU would round a Python number to
    # float16. Before torch 2.1, the CPU rounds a tensor too, and CUDA still does.
    for group in groups:
        here, narrow = factor.to(group[0].device), (torch.float16, torch.bfloat16)
        exact = group[0].device.type == "cpu" or group[0].dtype not in narrow
        if _TORCH >= (2, 1) and exact:
            torch._foreach_mul_(group, here)
        else:
            for gradient in group:
                local = gradient.to_local() if hasattr(gradient, "to_local") else gradient
                local.mul_(here.reshape([1] * local.dim()))  # a 0-d factor would be rounded first


class _Finding(NamedTuple):
    text: str
    meant: bool = False  # possibly intended: only -inf, as in masks


def find_nonfinite(model: torch.nn.Module, *inputs: Any, **named_inputs: Any) -> str | None:
    """Names the first non-finite value, in the order in which inf and NaN spread, or returns None.

    It checks:

    - the inputs (tensors, numbers and arrays, also in dicts, lists, tuples and dataclasses)
    - the parameters and buffers
    - the output of every module in one forward pass, if inputs are given
    - the gradients, starting with the last parameter

    Inputs and outputs may contain -inf, as in masks, and buffers may contain inf or -inf. If the
    output of a module or a gradient contains NaN or inf, the text first names each earlier input or
    output with -inf, such as a mask that hides all keys, or log(0).

    The forward pass uses copies of all inputs that can be copied, and builds no graph. From torch
    2.3 on, if gradients are enabled and a parameter requires a gradient, encoders do not use their
    fast path in this pass. If your forward pass runs in no_grad(), call find_nonfinite() in
    no_grad() too. Compiled modules run uncompiled (before torch 2.6, the modules inside them are
    not checked). Afterwards, the buffers are restored, and so are the random states of Python, and
    of torch on the CPU and on the CUDA devices of the parameters.

    If ranks share a model, all of them have to call this function, and each rank checks its own
    part of a DTensor. Use it only for diagnosis, because it reads from the device many times.

    Raises:
        Exception: any exception that the model raises, unless a value was found that explains it.

    >>> model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    >>> model[1].running_mean[0] = float("nan")
    >>> find_nonfinite(model)
    "buffer '1.running_mean': 1 of 2 values are nan"
    """
    given: dict[Any, Any] = {**dict(enumerate(inputs)), **named_inputs}
    entering = list(_looked_at((f"input {place}", value) for place, value in _leaves(given)))
    kept = [
        _Finding(f"{place}: {problem}")
        for place, value, meant in _values(model)
        if (problem := _problem(value, meant))
    ]
    gradients = [
        _Finding(f"gradient of {name!r}: {problem}")
        for name, parameter in reversed(list(model.named_parameters()))
        if parameter.grad is not None and (problem := _problem(parameter.grad))
    ]
    outputs: list[_Finding] = []
    if given:  # even after a finding, because other ranks may be waiting in the pass
        explained = bool(kept or gradients or not all(finding.meant for finding in entering))
        _find_bad_outputs(outputs, explained, model, inputs, named_inputs)
    for finding in (*entering, *kept):  # neither can be caused by a -inf
        if not finding.meant:
            return finding.text
    said = []
    for finding in (*entering, *outputs, *gradients):
        said.append(finding.text)
        if not finding.meant:
            return "; ".join(said)
    return None


def _looked_at(values: Iterable[tuple[str, Any]]) -> Iterator[_Finding]:
    for place, value in values:
        if problem := _problem(value):
            yield _Finding(f"{place}: {problem}", meant=_problem(value, ("-inf",)) is None)


def _find_bad_outputs(
    found: list[_Finding],
    explained: bool,
    model: torch.nn.Module,
    inputs: tuple[Any, ...],
    named_inputs: dict[str, Any],
) -> None:
    """Appends findings to `found` instead of raising, because the model may catch exceptions."""

    def hook(name: str) -> Callable[..., None]:
        def check(module: torch.nn.Module, _: Any, output: Any) -> None:
            said = f"output of module {name!r} ({type(module).__name__})"
            found.extend(_looked_at((f"{said} {p}".rstrip(), v) for p, v in _leaves(output)))

        return check

    def own(value: Any) -> Any:
        try:
            return _copied(value)
        except (TypeError, RuntimeError):  # a lock in an object, or a tensor with a graph
            return value

    modules = list(model.modules())
    originals = [dict(module._buffers) for module in modules]
    handles = [module.register_forward_hook(hook(name)) for name, module in model.named_modules()]
    on_gpus = {tensor.device.index for tensor in model.parameters() if tensor.device.type == "cuda"}
    gpus = sorted(on_gpus)
    state = random.getstate()
    for module, copies in zip(modules, _copied(originals)):
        module._buffers.update(copies)
    try:
        with _fast_path_of(model), torch.no_grad(), torch.random.fork_rng(gpus), _uncompiled():
            model(*map(own, inputs), **{name: own(value) for name, value in named_inputs.items()})
    except Exception:
        if not explained and all(finding.meant for finding in found):
            raise
    finally:
        for handle in handles:
            handle.remove()
        for module, buffers in zip(modules, originals):
            module._buffers.clear()
            module._buffers.update(buffers)
        random.setstate(state)
        # Before torch 2.11, autocast would give the next training forward weights without a graph.
        torch.clear_autocast_cache()


@contextlib.contextmanager
def _fast_path_of(model: torch.nn.Module) -> Iterator[None]:
    """A context in which encoders choose their path as if the pass had a graph."""
    mha: Any = getattr(torch.backends, "mha", None)
    trains = torch.is_grad_enabled() and any(each.requires_grad for each in model.parameters())
    if not (trains and hasattr(mha, "set_fastpath_enabled")):
        yield
        return
    enabled = mha.get_fastpath_enabled()
    mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        mha.set_fastpath_enabled(enabled)


def _uncompiled() -> ContextManager[Any]:
    """A context without torch.compile, because compiled graphs do not call new hooks."""
    if _TORCH >= (2, 6) and "torch._dynamo" in sys.modules:
        return torch.compiler.set_stance("force_eager")
    return contextlib.nullcontext()


def _values(model: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor, tuple[str, ...]]]:
    """Yields the place and value of each parameter and buffer, and the infinities allowed in it."""
    for name, parameter in model.named_parameters():
        yield f"parameter {name!r}", parameter, ()
    for name, buffer in model.named_buffers():
        yield f"buffer {name!r}", buffer, _INF


def _leaves(value: Any, place: str = "", above: tuple[int, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yields the path and value of each tensor, float and complex number, and array of numbers."""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    inside: Iterable[tuple[str, Any]] = ()
    if isinstance(value, (torch.Tensor, float, complex)) or kind in ("f", "c"):
        yield place, value
    elif isinstance(value, (list, tuple)):
        inside = ((f"{place}[{number}]", inner) for number, inner in enumerate(value))
    elif hasattr(value, "items"):
        inside = ((f"{place}[{n!r}]" if place else str(n), inner) for n, inner in value.items())
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value) if hasattr(value, field.name)]
        inside = ((f"{place}.{name}".lstrip("."), getattr(value, name)) for name in names)
    if id(value) not in above:  # a container may contain itself
        for there, inner in inside:
            yield from _leaves(inner, there, (*above, id(value)))


def _problem(value: Any, meant: tuple[str, ...] = ()) -> str | None:
    """Describes how many values are not finite, or returns None if all of them are in `meant`."""
    if hasattr(value, "astype"):
        # Torch accepts neither long doubles nor arrays with a different byte order. The counts are
        # the same for real numbers as for complex numbers.
        value = value.astype("c16")
    tensor = torch.as_tensor(value)
    if torch.nn.parameter.is_lazy(tensor) or tensor.is_meta:
        return None
    if not (tensor.is_floating_point() or tensor.is_complex()):
        return None
    if hasattr(tensor, "to_local"):
        tensor = tensor.to_local()
    if tensor.is_sparse:
        tensor = tensor.coalesce()
    if tensor.is_nested or tensor.layout != torch.strided:
        tensor = tensor.values()
    if tensor.element_size() == 1:
        tensor = tensor.float()  # float8 cannot be summed
    # One pass without a copy, because a finite sum has only finite terms. Otherwise, count the
    # values.
    if bool(tensor.sum().isfinite()):
        return None
    counts = {"nan": int(tensor.isnan().sum()), "inf": int(tensor.isinf().sum())}
    counts["-inf"] = int((tensor == -math.inf).sum())
    counts["inf"] -= counts["-inf"]
    if not any(count for kind, count in counts.items() if kind not in meant):
        return None
    return " and ".join(
        f"{count} of {tensor.numel()} values are {kind}" for kind, count in counts.items() if count
    )


def _copied(value: Any, device: Any = None) -> Any:
    """A deep copy with its tensors on `device`. Copying the copy restores the original devices."""
    memo: dict[int, Any] = {}  # deepcopy() alone rejects tensors with a graph
    for _, leaf in _leaves(value):
        if isinstance(leaf, torch.Tensor) and id(leaf) not in memo:
            place = device or getattr(leaf, "_home", leaf.device)
            part = leaf.detach()
            if _expanded(leaf):
                part = part[tuple(slice(None if step else 1) for step in leaf.stride())]
            copied = part.to(place, copy=True)
            memo[id(leaf)] = copied = copied.expand(leaf.shape) if _expanded(leaf) else copied
            copied.requires_grad_(leaf.requires_grad)
            if device:
                copied._home = leaf.device
    return copy.deepcopy(value, memo)


def _expanded(value: Any) -> bool:
    """True if elements of the tensor share memory, so torch cannot write to it."""
    if not torch.is_tensor(value) or value.is_nested or value.layout != torch.strided:
        return False
    return any(not step and size > 1 for step, size in zip(value.stride(), value.shape))


def _into(there: Any, value: Any) -> Any:
    """The value, in the existing tensor if possible, because other code may refer to this tensor."""
    if not (torch.is_tensor(there) and torch.is_tensor(value) and there.shape == value.shape):
        return value
    if there.is_inference() or _expanded(there):
        return value
    return there.copy_(value)


class Snapshot:
    """A copy of a model, its optimizer, and other objects with a state_dict(), to restore later.

    A state_dict() contains references to tensors, and training continues to write to these tensors.
    If only the weights are restored, a NaN in the optimizer's moments returns to the weights with
    the next step.

    Args:
        parts: objects such as a model, an optimizer, a scheduler, an EMA or a GradScaler. All
            buffers of a model are kept.
        device: the device for the copies, such as "cpu". By default, each copy stays on the device
            of its original.

    Raises:
        ValueError: a value is not finite or is on the meta device, so restoring it would be
            useless. Buffers and Python numbers may be inf.
        TypeError: a part has no load_state_dict(), or no parts are given.

    >>> model = torch.nn.Linear(1, 1)
    >>> good = Snapshot(model)
    >>> _ = torch.nn.init.constant_(model.weight, float("nan"))
    >>> good.restore()
    >>> find_nonfinite(model) is None
    True
    """

    def __init__(self, *parts: Any, device: torch.device | str | None = None) -> None:
        if not parts or not all(hasattr(part, "load_state_dict") for part in parts):
            kinds = ", ".join(type(part).__name__ for part in parts) or "nothing"
            raise TypeError(f"a snapshot of {kinds}: expected parts that have load_state_dict()")
        self._device, self._kept = device, []
        for part in parts:
            state = part.state_dict()
            values: Iterable[tuple[str, Any, tuple[str, ...]]]
            values = ((p, v, () if torch.is_tensor(v) else _INF) for p, v in _leaves(state))
            if isinstance(part, torch.nn.Module):
                values = _values(part)
            for place, value, meant in values:
                meta = getattr(value, "is_meta", False)
                if problem := "on the meta device" if meta else _problem(value, meant):
                    kind = type(part).__name__
                    raise ValueError(f"no snapshot of a broken {kind}: {place}: {problem}")
            self._kept.append(_keep(part, device))

    @torch.no_grad()
    def restore(self) -> None:
        """Restores all values and sets gradients to None. It can be called any number of times.

        Either everything is restored or nothing is. If a part, such as a model with a new layer, no
        longer accepts its values, all parts return to their values before the call, and the error
        is raised. During the call, a second copy is kept on the same device as the first.

        Buffers, moments and the lr (if it is a tensor) keep the same tensor objects, because a CUDA
        graph may refer to them.
        """
        now = [_keep(part, self._device) for part, _, _ in self._kept]
        try:
            for kept in self._kept:
                _put(*kept)
        except BaseException:
            for kept in now:
                with contextlib.suppress(Exception):  # the part that failed to load may fail again
                    _put(*kept)
            raise
        for part, _, _ in self._kept:
            groups = getattr(part, "param_groups", [])
            parameters = [parameter for group in groups for parameter in group["params"]]
            if isinstance(part, torch.nn.Module):
                parameters = list(part.parameters())
            for parameter in parameters:
                parameter.grad = None


def _keep(part: Any, device: Any) -> tuple[Any, list[torch.nn.Module], Any]:
    """The part, its modules, and copies of its state and of its modules' buffers."""
    modules = list(part.modules()) if isinstance(part, torch.nn.Module) else []
    # A state_dict lacks some buffers and cannot record that a buffer is None.
    buffers = [dict(module._buffers) for module in modules]
    return part, modules, _copied((part.state_dict(), buffers), device)


def _put(part: Any, modules: list[torch.nn.Module], kept: Any) -> None:
    state, buffers = _copied(kept)
    for module, values in zip(modules, buffers):
        values.update({name: _into(module._buffers.get(name), v) for name, v in values.items()})
        module._buffers.clear()
        module._buffers.update(values)
        for name, value in values.items():
            if _expanded(value):  # load_state_dict() writes to this buffer
                module._buffers[name] = value.contiguous()
    groups = [dict(group) for group in getattr(part, "param_groups", [])]
    moments = {key: dict(of_one) for key, of_one in _moments(part).items()}
    part.load_state_dict(state)
    for module, values in zip(modules, buffers):
        module._buffers.update(values)
    for group, before in zip(getattr(part, "param_groups", []), groups):
        group.update({name: _into(before.get(name), value) for name, value in group.items()})
    for key, of_one in _moments(part).items():
        # Loading has cast the moments to the dtype of their parameter.
        before = moments.get(key, {})
        of_one.update({name: _into(before.get(name), v) for name, v in state["state"][key].items()})


def _moments(part: Any) -> dict[Any, dict[str, Any]]:
    """The state in an optimizer's state_dict(), keyed by parameter number."""
    found: dict[Any, dict[str, Any]] = {}
    if hasattr(part, "param_groups"):
        found = part.state_dict().get("state", {})
    return found


def apply_where(
    mask: torch.Tensor,
    function: Callable[..., torch.Tensor],
    *inputs: torch.Tensor,
    otherwise: float = 0.0,
    safe: float = 1.0,
) -> torch.Tensor:
    """Returns function(*inputs) where mask is True and `otherwise` elsewhere, with finite
    gradients.

    In backward(), torch.where(mask, function(x), otherwise) can pass 0 * inf = NaN back through the
    function where the mask is False. Here, the function gets `safe` in those places instead, a
    value for which the function and its derivative are finite.

    Args:
        mask: a bool tensor that can be broadcast with the inputs.

    Raises:
        TypeError: mask is not bool.

    >>> x = torch.tensor([0.0, 4.0], requires_grad=True)
    >>> apply_where(x > 0, torch.sqrt, x).sum().backward()
    >>> x.grad
    tensor([0.0000, 0.2500])
    """
    if mask.dtype != torch.bool:
        raise TypeError(f"mask is {mask.dtype}; expected torch.bool")
    result = function(*(torch.where(mask, x, torch.full_like(x, safe)) for x in inputs))
    return torch.where(mask, result, torch.full_like(result, otherwise))
