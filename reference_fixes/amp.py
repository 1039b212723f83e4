# SPDX-License-Identifier: BSD-3-Clause
"""Mixed precision that is decided once per device, and gradient accumulation with correct weights.

Vendor this file: its only dependency is torch 1.13 or newer. It fixes the failures in repros/amp
whose `fix` key names a function in this file. The order of the calls is explained at
https://pytorch.org/docs/stable/notes/amp_examples.html

>>> model = torch.nn.Linear(2, 1)
>>> optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
>>> loader = [torch.ones(4, 2)] * 6
>>> precision = choose_precision("cpu")
>>> scaler = make_grad_scaler(precision)
>>> for window in windows(loader, 4):  # 4 batches, then 2
...     optimizer.zero_grad()
...     for batch, share, last in window:
...         with precision.autocast():
...             loss = model(batch).square().mean()
...         scaler.scale(loss * share).backward()
...     applied = optimizer_step(optimizer, scaler, max_norm=1.0)
"""

from __future__ import annotations

import contextlib
import math
import operator
import platform
import re
from collections import deque
from itertools import islice
from typing import Any, Callable, ContextManager, Iterable, Iterator, NamedTuple

import torch

__all__ = [
    "Precision",
    "ScaleCollapsed",
    "choose_precision",
    "load_scaler_state",
    "make_grad_scaler",
    "optimizer_step",
    "windows",
]

_TORCH = tuple(int(part) for part in re.findall(r"\d+", torch.__version__)[:2])


class ScaleCollapsed(RuntimeError):
    """A step was skipped at a loss scale so low that the scale cannot be the cause."""


class Precision(NamedTuple):
    """The result of choose_precision()."""

    device: str  # "cpu", "cuda" or "mps"
    dtype: torch.dtype  # float32 means no autocast
    scaler: bool  # True if gradients would underflow without a GradScaler
    reason: str

    def autocast(self) -> ContextManager[Any]:
        """Returns a context for the forward pass and loss. With float32, autocast is disabled."""
        if self.dtype != torch.float32:
            # Before torch 2.11, a weight that is cast under no_grad() stays in the cache without a
            # graph (pytorch#112583).
            return torch.autocast(self.device, self.dtype, cache_enabled=_TORCH >= (2, 11))
        if self.device == "mps" and _TORCH < (2, 5):
            # Before torch 2.5, autocast raises an error for MPS, so there is nothing to disable.
            return contextlib.nullcontext()
        return torch.autocast(self.device, enabled=False)


def choose_precision(device: torch.device | str, dtype: torch.dtype | None = None) -> Precision:
    """Chooses the precision for training on a device, and gives the reason.

    Args:
        device: the device of the model.
        dtype: float32, bfloat16 or float16, to request that dtype. The default is bfloat16 or
            float16 on CUDA, and float32 elsewhere.

    Raises:
        ValueError: the device is not available, or this torch release cannot train in that dtype on
            the device. Neither the device nor the dtype is silently replaced.

    >>> choose_precision("cpu").dtype
    torch.float32
    >>> choose_precision("cpu", torch.bfloat16).scaler  # has float32's range: no underflow
    False
    """
    kind = torch.device(device).type
    if kind not in ("cpu", "cuda", "mps"):
        raise ValueError(f"device {str(device)!r}: expected cpu, cuda or mps")
    if dtype not in (None, torch.float32, torch.bfloat16, torch.float16):
        raise ValueError(
            f"dtype {dtype}: expected None, torch.float32, torch.bfloat16 or torch.float16"
        )
    backend = {"cuda": torch.cuda, "mps": torch.backends.mps}.get(kind)
    if backend and not backend.is_available():
        raise ValueError(f"device {str(device)!r}: {backend.__name__}.is_available() is False")
    if dtype == torch.float32:
        return Precision(kind, dtype, False, "float32 was asked for")
    if dtype is None and kind != "cuda":
        reason = f"{kind}: low precision is seldom faster here; ask for a dtype to have it"
        return Precision(kind, torch.float32, False, reason)
    obstacle = _obstacle(kind, dtype or torch.bfloat16, device)
    if dtype is None:
        if obstacle:
            reason = f"no bfloat16: {obstacle}; float16 needs a GradScaler"
            return Precision(kind, torch.float16, True, reason)
        reason = "bfloat16 has the range of float32, so it needs no GradScaler"
        return Precision(kind, torch.bfloat16, False, reason)
    if obstacle:
        raise ValueError(f"{dtype} on {kind}: {obstacle}")
    reason = f"{dtype} was asked for, and {kind} can train in it"
    return Precision(kind, dtype, dtype == torch.float16, reason)


def _obstacle(kind: str, dtype: torch.dtype, device: torch.device | str) -> str | None:
    """Returns why this dtype cannot be used, or None. Sources: pytorch#142397, pytorch#139390."""
    if kind == "cuda":
        capability = torch.cuda.get_device_capability(device)
        if dtype == torch.bfloat16 and capability < (8, 0):
            return f"this GPU has compute capability {capability}, bfloat16 needs (8, 0)"
        return None
    # On the CPU, autocast supports float16 since torch 2.2, and GradScaler since 2.3. On MPS,
    # unscale_() requests float64 before 2.8.
    needed = {
        ("cpu", torch.float16): (2, 3),
        ("mps", torch.float16): (2, 8),
        ("mps", torch.bfloat16): (2, 6),
    }.get((kind, dtype))
    if needed and needed > _TORCH:
        return f"needs torch {needed[0]}.{needed[1]}, this is {torch.__version__}"
    macos = platform.mac_ver()[0]
    if (kind, dtype) == ("mps", torch.bfloat16) and int(macos.split(".")[0]) < 14:
        return f"needs macOS 14, this is {macos}"
    return None


def make_grad_scaler(precision: Precision, **options: Any) -> Any:
    """Creates a GradScaler in every torch release. It is enabled only if the precision needs it.

    By contrast, torch.amp.GradScaler("cpu") is enabled by default, and torch.amp.GradScaler() is
    for CUDA.

    Args:
        options: further arguments for GradScaler, such as init_scale.

    >>> make_grad_scaler(choose_precision("cpu")).is_enabled()
    False
    """
    if _TORCH >= (2, 3):
        return torch.amp.GradScaler(precision.device, enabled=precision.scaler, **options)
    return torch.cuda.amp.GradScaler(enabled=precision.scaler, **options)


def load_scaler_state(scaler: Any, state: dict[str, Any]) -> bool:
    """Loads a saved scaler state. Returns False if the state is empty or the scaler is disabled.

    The saved state of a disabled scaler is {}, which an enabled scaler refuses to load.
    """
    if not state or not scaler.is_enabled():
        return False
    scaler.load_state_dict(state)
    return True


def windows(
    batches: Iterable[Any],
    size: int,
    weight: Callable[[Any], float] | None = None,
    *,
    group: torch.distributed.ProcessGroup | None = None,
) -> Iterator[Iterator[tuple[Any, float, bool]]]:
    """Splits the batches of an epoch into windows of `size` batches, one window per optimizer step.

    Each window can be iterated over once, and yields (batch, share, last). Multiply the mean loss
    of a batch by its share before backward(), but log the loss itself. The shares of a window sum
    to 1. `last` is True for the last batch of a window, the only batch for which
    DistributedDataParallel has to synchronize. The last window of an epoch may be shorter.

    If `batches` has a length and no weight is given, batches are drawn one at a time. Otherwise,
    each window is drawn ahead of time, and up to `size` batches are kept in memory in addition to
    the current batch. In this case, move batches to the device inside the loop, and do not use a
    loader that reuses its buffers. Windows are also drawn ahead from iterators, including the
    counted() batches of a ResumableBatches, and from loaders of an IterableDataset, whose length is
    only an estimate. A drawn batch counts as received by the loop, so a checkpoint is correct only
    between two windows.

    Args:
        weight: a function that returns the weight of a batch in its window, such as its number of
            samples or tokens. By default, all batches have the same weight. Batches of weight 0 are
            skipped, and so are windows in which every batch has weight 0.
        group: the process group of DistributedDataParallel, such as torch.distributed.group.WORLD.
            Each batch is then weighted relative to the batches of all processes. The mean gradient
            over the processes equals the gradient of a single process with all batches, and the sum
            of the shares averages 1 over the processes. The host waits while the processes exchange
            one number per window. A process whose window has weight 0 receives its last batch with
            a share of 0, because the other processes wait for its backward(). The loss of this
            batch has to be finite. Without a group, all processes contribute equally to every step,
            regardless of the weights of their batches.

    Raises:
        TypeError: the group is not a ProcessGroup that this process belongs to.
        ValueError: size is not a positive integer; a weight is negative or not finite; there are no
            batches, or fewer than len() reported; or a process of the group has fewer windows than
            another process.

    >>> [[share for _, share, _ in window] for window in windows("abcdef", 4)]
    [[0.25, 0.25, 0.25, 0.25], [0.5, 0.5]]
    >>> [(batch, share, last) for batch, share, last in next(windows(["a", "bbb"], 2, weight=len))]
    [('a', 0.25, False), ('bbb', 0.75, True)]
    """
    try:
        number = 0 if isinstance(size, bool) else operator.index(size)
    except TypeError:
        number = 0
    if number < 1:
        raise ValueError(f"size={size!r}: expected a whole number of batches, 1 or more")
    if not (group is None or isinstance(group, torch.distributed.ProcessGroup)):
        raise TypeError(f"group={group!r}: expected a ProcessGroup that this process belongs to")
    source = iter(batches)
    guess = isinstance(getattr(batches, "dataset", None), torch.utils.data.IterableDataset)
    if weight is None and source is not batches and not guess:
        with contextlib.suppress(TypeError, NotImplementedError):
            return _in_turn(source, number, len(batches), group)  # type: ignore[arg-type]
    return _ahead(source, number, weight, group)


def _in_turn(
    source: Iterator[Any], size: int, length: int, group: Any
) -> Iterator[Iterator[tuple[Any, float, bool]]]:
    for start in range(0, length, size):
        count = min(size, length - start)
        part, left = islice(source, count), deque[Any]()
        yield _members(part, left, count, 1 / _over_ranks(count, group), length)
        left.extend(part)  # batches that the loop has not drawn yet
    yield from _ahead(source, size, None, group, length)  # any batches beyond the length


def _members(
    part: Iterator[Any], left: deque[Any], count: int, share: float, length: int
) -> Iterator[tuple[Any, float, bool]]:
    for number in range(1, count + 1):
        try:
            yield (left.popleft() if left else next(part)), share, number == count
        except StopIteration:
            raise ValueError(
                f"len(batches) is {length}, but fewer came, and the shares go by that length; "
                "iter(batches) in its place is not asked for one"
            ) from None


def _ahead(
    source: Iterator[Any],
    size: int,
    weight: Callable[[Any], float] | None,
    group: Any,
    count: int = 0,
) -> Iterator[Iterator[tuple[Any, float, bool]]]:
    # Drawing past the last batch of a ResumableBatches would end its epoch before the last window.
    while drawn := list(islice(source, min(size, getattr(source, "left", None) or size))):
        weights = [1.0 if weight is None else float(weight(batch)) for batch in drawn]
        total = sum(weights)
        if not (min(weights) >= 0 and total < math.inf):
            raise ValueError(
                f"weights of the batches {count} to {count + len(drawn) - 1}: {weights}; expected "
                "finite numbers, none below 0"
            )
        count += len(drawn)
        total = _over_ranks(total, group)
        held = deque((batch, part / total) for batch, part in zip(drawn, weights) if part)
        if total and not held:
            held.append((drawn[-1], 0.0))
        del drawn  # from here on, only `held` refers to the batches
        if held:
            yield _held(held)
    _over_ranks(None, group)
    if not count and not getattr(source, "resumed", False):  # a resumed epoch may be over
        raise ValueError(
            "no batches: the loader is empty (drop_last with fewer rows than a batch, an empty "
            "split?) or an iterator that is used up"
        )


def _held(held: deque[tuple[Any, float]]) -> Iterator[tuple[Any, float, bool]]:
    while held:
        yield (*held.popleft(), not held)


def _over_ranks(weight: float | None, group: Any) -> float:
    """Returns a window's mean weight over the processes. None means that this process is done."""
    if group is None:
        return weight or 0.0
    device = "cuda" if torch.distributed.get_backend(group) == "nccl" else "cpu"
    sums = torch.tensor([weight or 0.0, weight is not None], dtype=torch.float64, device=device)
    torch.distributed.all_reduce(sums, group=group)
    total, there = sums.tolist()
    ranks = torch.distributed.get_world_size(group)
    if there not in (0, ranks):
        raise ValueError(
            f"{there:.0f} of {ranks} processes have a window, the others have no more: expected as "
            "many in each"
        )
    return total / ranks


def optimizer_step(
    optimizer: torch.optim.Optimizer | Iterable[torch.optim.Optimizer],
    scaler: Any = None,
    *,
    max_norm: float | None = None,
    before_step: Callable[[], object] | None = None,
    min_scale: float = 2.0**-10,
) -> bool:
    """Unscales and clips gradients, then steps and updates the scale. Returns True if it stepped.

    The step is skipped if the scaler finds an infinite or NaN gradient, or if max_norm is given and
    the gradient norm is not finite. The host waits for the device only if a scaler is enabled or
    max_norm is given.

    Gradients are not cleared, so call zero_grad() before the next backward(). If before_step or the
    step raises an error, the scale is still updated. With a scaler, the gradients have then already
    been unscaled: call zero_grad() and backward() before you retry. A retry without these calls
    raises an error, unless something has written to the gradients in the meantime. Any backward(),
    even in scratch_gradients(), writes to the gradients of
    DistributedDataParallel(gradient_as_bucket_view=True).

    Args:
        optimizer: an optimizer, or all optimizers that step after the same backward(). Either all
            of them step or none do.
        scaler: the GradScaler that scaled every loss; None or a disabled scaler if the losses are
            not scaled.
        max_norm: the maximum total norm of the gradients of all optimizers. With inf, nothing is
            clipped, but steps are still skipped.
        before_step: a function that is called after unscaling and before clipping, to check or log
            the gradients. It is not called for a step that the scaler skips.
        min_scale: if a step is skipped at a scale below this value, the scale cannot be the cause.
            With a scale of 0, no parameter is changed.

    Raises:
        TypeError: `optimizer`, or an item in it, is not an optimizer.
        ValueError: no parameter has a gradient, a parameter occurs twice, an optimizer is LBFGS, or
            a number is not positive.
        RuntimeError: the gradients are left over from a call that raised an error; or another
            optimizer has stepped with this scaler and may have changed the scale, and this thread
            has computed nothing with gradients since then (detected in torch 2.3 and newer).
        ScaleCollapsed: a step was skipped and the scale is now below min_scale.

    >>> weight = torch.nn.Parameter(torch.zeros(2))
    >>> optimizer = torch.optim.SGD([weight], lr=1.0)
    >>> weight.grad = torch.tensor([3.0, 4.0])
    >>> optimizer_step(optimizer, max_norm=1.0), weight.data
    (True, tensor([-0.6000, -0.8000]))
    >>> weight.grad = torch.tensor([float("inf"), 4.0])
    >>> optimizer_step(optimizer, max_norm=1.0), weight.data
    (False, tensor([-0.6000, -0.8000]))
    """
    if max_norm is not None and not max_norm > 0:
        raise ValueError(f"max_norm={max_norm!r}: expected a positive number or None")
    if not 0 < min_scale < math.inf:
        raise ValueError(f"min_scale={min_scale!r}: expected a positive, finite number")
    several = isinstance(optimizer, Iterable) and not hasattr(optimizer, "param_groups")
    optimizers: list[Any] = list(optimizer) if several else [optimizer]
    for each in optimizers:
        if not hasattr(each, "param_groups"):
            raise TypeError(f"expected an optimizer or several, got {type(each).__name__} {each!r}")
        if isinstance(each, torch.optim.LBFGS):
            raise ValueError("LBFGS computes the loss itself, repeatedly: call its step(closure)")
    groups = [group for each in optimizers for group in each.param_groups]
    parameters = [
        parameter for group in groups for parameter in group["params"] if parameter.grad is not None
    ]
    names = ", ".join(type(each).__name__ for each in optimizers) or "an empty list"
    if not parameters:
        raise ValueError(f"{names}: no parameter has a gradient; was backward() called?")
    if len(set(parameters)) < len(parameters):
        raise ValueError(f"{names}: a parameter is there twice, and would be unscaled twice")
    scaler = scaler if scaler is not None and scaler.is_enabled() else None
    if scaler is not None:
        _check_that_they_are_scaled(scaler, names, optimizers, parameters)
    unscaled = False
    try:
        if scaler is not None:
            for each in optimizers:
                scaler.unscale_(each)
                unscaled = True
        applied = scaler is None or _finite(scaler, optimizers)
        if applied and before_step is not None:
            before_step()
        if applied and max_norm is not None:
            applied = math.isfinite(torch.nn.utils.clip_grad_norm_(parameters, max_norm))
        if applied:
            # Do not use scaler.step() here: if the skip is decided on the device, fused SGD keeps
            # uninitialized memory as its momentum, and the step hooks of any fused optimizer run.
            for each in optimizers:
                each.step()
    except BaseException:
        for parameter in parameters if unscaled else ():
            if parameter.grad is not None:
                parameter.grad._left_unscaled = parameter.grad._version
        raise
    finally:
        if unscaled:
            scaler.update()
            scaler._last_step = (_graphs(), {id(each) for each in optimizers})
    if scaler is not None and not applied and scaler.get_scale() < min_scale:
        raise ScaleCollapsed(
            f"a step was skipped, and the loss scale is {scaler.get_scale():g}, below "
            f"min_scale={min_scale:g}: so low that the gradients are infinite or NaN whatever the "
            "scale, so look for inf or NaN in the data or the model"
        )
    return applied


def _check_that_they_are_scaled(
    scaler: Any, names: str, optimizers: list[Any], parameters: list[torch.Tensor]
) -> None:
    """Raises an error if the gradients are already unscaled, or if their scale is outdated."""
    for parameter in parameters:
        # Both zero_grad() and backward() replace the gradient or increment its version.
        version = getattr(parameter.grad, "_left_unscaled", None)
        if version is not None and version == parameter.grad._version:  # type: ignore[union-attr]
            raise RuntimeError(
                f"{names}: gradients of a call that raised, which are unscaled: call zero_grad() "
                "and backward() before it is tried again"
            )
    last: tuple[int | None, set[int]] = getattr(scaler, "_last_step", (None, set()))
    graphs, stepped = last
    if graphs is not None and graphs == _graphs() and stepped.isdisjoint(map(id, optimizers)):
        raise RuntimeError(
            f"{names}: another optimizer has stepped, which updated the scale, and no loss was "
            "scaled since: give all that step after one backward() to one call, as a list"
        )


def _graphs() -> int | None:
    """Returns a number that grows with every operation that autograd records in this thread."""
    count = getattr(torch._C._autograd, "_get_sequence_nr", None)
    return None if count is None else count()


def _finite(scaler: Any, optimizers: list[Any]) -> bool:
    """True if the unscaled gradients are finite, the condition that GradScaler.step() checks."""
    found = [value for each in optimizers for value in scaler._found_inf_per_device(each).values()]
    # At a scale of 0, the scaled gradients are finite, but unscaling turns them into NaN.
    return sum(float(value) for value in found) == 0 and scaler.get_scale() > 0
