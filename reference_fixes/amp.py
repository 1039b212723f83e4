# SPDX-License-Identifier: BSD-3-Clause
"""Mixed precision with one decision per device, and gradient accumulation that loses nothing.

Vendor this file: it needs torch 1.13 or newer and nothing else. Cures the reproducers in repros/amp.
The order of the calls: https://pytorch.org/docs/stable/notes/amp_examples.html
"""

from __future__ import annotations

import contextlib
import platform
import re
from itertools import islice
from typing import Any, Callable, ContextManager, Iterable, Iterator, NamedTuple

import torch

__all__ = [
    "Epoch",
    "Precision",
    "ScaleCollapsed",
    "choose_precision",
    "load_scaler_state",
    "make_grad_scaler",
    "train_epoch",
]

_TORCH = tuple(int(part) for part in re.findall(r"\d+", torch.__version__)[:2])


class ScaleCollapsed(RuntimeError):
    """The loss scale fell so low that every recent step must have been skipped."""


class Precision(NamedTuple):
    """What choose_precision decided; autocast() enters it."""

    device: str  # "cpu", "cuda" or "mps"
    dtype: torch.dtype  # float32 means: no autocast
    scaler: bool  # whether gradients would underflow without a GradScaler
    reason: str

    def autocast(self) -> ContextManager[Any]:
        """The block for the forward pass and the loss."""
        if self.dtype == torch.float32:
            return (
                contextlib.nullcontext()
            )  # torch.autocast("mps", enabled=False) raises before 2.5
        # Before 2.11 a weight cast under no_grad stays in the cache without its graph (pytorch#112583).
        return torch.autocast(self.device, self.dtype, cache_enabled=_TORCH >= (2, 11))


def choose_precision(device: torch.device | str, dtype: torch.dtype | None = None) -> Precision:
    """The precision to train in on this device, with the reason.

    Args:
        device: where the model is.
        dtype: None lets the device decide: bfloat16 or float16 on CUDA, float32 elsewhere. float32, bfloat16 and float16
            ask for just that.

    Raises:
        ValueError: the dtype asked for cannot be trained in on this device with this torch. Nothing is replaced silently.

    >>> choose_precision("cpu").dtype
    torch.float32
    >>> choose_precision("cpu", torch.bfloat16).scaler  # bfloat16 has float32's range: nothing underflows
    False
    """
    kind = torch.device(device).type
    if kind not in ("cpu", "cuda", "mps"):
        raise ValueError(f"device {str(device)!r}: expected cpu, cuda or mps")
    if dtype not in (None, torch.float32, torch.bfloat16, torch.float16):
        raise ValueError(
            f"dtype {dtype}: expected None, torch.float32, torch.bfloat16 or torch.float16"
        )
    if kind == "cuda" and dtype != torch.float32 and not torch.cuda.is_available():
        raise ValueError("device 'cuda' was asked for, but torch.cuda.is_available() is False")
    if dtype == torch.float32:
        return Precision(kind, dtype, False, "float32 was asked for")
    if dtype is not None:
        obstacle = _obstacle(kind, dtype, device)
        if obstacle:
            raise ValueError(f"{dtype} on {kind}: {obstacle}")
        return Precision(
            kind,
            dtype,
            dtype == torch.float16,
            f"{dtype} was asked for, and {kind} can train in it",
        )
    if kind != "cuda":
        return Precision(
            kind,
            torch.float32,
            False,
            f"{kind}: low precision is seldom faster here; ask for a dtype to have it",
        )
    obstacle = _obstacle(kind, torch.bfloat16, device)
    if obstacle:
        return Precision(
            kind, torch.float16, True, f"no bfloat16: {obstacle}; float16 needs a GradScaler"
        )
    return Precision(
        kind, torch.bfloat16, False, "bfloat16 has the range of float32, so it needs no GradScaler"
    )


def _obstacle(kind: str, dtype: torch.dtype, device: torch.device | str) -> str | None:
    """Why this dtype cannot be used, or None. Boundaries: https://github.com/pytorch/pytorch/issues/142397 and #139390."""

    def needs(release: tuple[int, int]) -> str | None:
        return (
            None
            if release <= _TORCH
            else f"needs torch {release[0]}.{release[1]}, this is {torch.__version__}"
        )

    if kind == "cuda":
        if dtype == torch.bfloat16 and torch.cuda.get_device_capability(device) < (8, 0):
            return f"this GPU has compute capability {torch.cuda.get_device_capability(device)}, bfloat16 needs (8, 0)"
        return None
    if kind == "cpu":
        return (
            needs((2, 3)) if dtype == torch.float16 else None
        )  # autocast has it from 2.2, GradScaler from 2.3
    if dtype == torch.float16:
        return needs((2, 8))  # before, GradScaler.unscale_ asks MPS for float64
    macos = int(platform.mac_ver()[0].split(".")[0] or 0)
    return needs((2, 6)) or (
        None if macos >= 14 else f"needs macOS 14, this is {platform.mac_ver()[0] or 'not macOS'}"
    )


def make_grad_scaler(precision: Precision, **options: Any) -> Any:
    """A GradScaler that is enabled exactly where the precision needs one, on every torch.

    torch.amp.GradScaler("cpu") is an enabled scaler, and torch.amp.GradScaler() belongs to CUDA: both are traps.

    >>> make_grad_scaler(choose_precision("cpu")).is_enabled()
    False
    """
    if _TORCH >= (2, 3):
        return torch.amp.GradScaler(precision.device, enabled=precision.scaler, **options)
    return torch.cuda.amp.GradScaler(enabled=precision.scaler, **options)


def load_scaler_state(scaler: Any, state: dict[str, Any]) -> bool:
    """Loads a checkpointed scaler state. Returns whether it could: a disabled scaler saved {}, which means "start anew"."""
    if not state or not scaler.is_enabled():
        return False
    scaler.load_state_dict(state)
    return True


class Epoch(NamedTuple):
    """What train_epoch did."""

    loss: float  # weighted mean over all batches, whatever the window
    steps: int  # ceil(batches / accumulate), the skipped ones included
    skipped: int  # steps that the scaler skipped because of an infinite gradient


def train_epoch(
    model: torch.nn.Module,
    batches: Iterable[Any],
    loss_fn: Callable[[torch.nn.Module, Any], torch.Tensor],
    optimizer: torch.optim.Optimizer,
    precision: Precision,
    scaler: Any = None,
    *,
    accumulate: int = 1,
    max_norm: float | None = None,
    weight: Callable[[Any], float] = lambda batch: 1.0,
    min_scale: float = 2.0**-10,
) -> Epoch:
    """One epoch: forward and loss under autocast, backward, unscale, clip, step; one step per window of batches.

    Args:
        batches: any iterable; `accumulate` batches are held at a time.
        loss_fn: (model, batch) -> the mean loss of the batch, a scalar tensor with a graph.
        scaler: from make_grad_scaler; needed when precision.scaler is true.
        accumulate: batches per step. The last window may be shorter; its gradient is the mean over *its* batches.
        max_norm: clip the unscaled gradients to this total norm.
        weight: how much a batch counts within its window and in the reported loss, such as its number of samples or tokens.
        min_scale: ScaleCollapsed is raised when the loss scale falls below; at 0 the scaler would write NaN weights.

    The model must be in training mode: train_epoch changes no mode, so that frozen submodules stay frozen. Gradients from
    before are dropped first and none is left afterwards. Without a scaler nothing waits for the device until the end.

    Raises:
        ValueError: no batches, a window without weight, a loss that is not a scalar or has no graph, wrong arguments.
        ScaleCollapsed: see min_scale.

    >>> model = torch.nn.Linear(2, 1)
    >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    >>> batches = [torch.ones(4, 2)] * 6
    >>> train_epoch(model, batches, lambda m, x: m(x).square().mean(), optimizer, choose_precision("cpu"), accumulate=4).steps
    2
    """
    if isinstance(accumulate, bool) or not isinstance(accumulate, int) or accumulate < 1:
        raise ValueError(
            f"accumulate={accumulate!r}: expected a whole number of batches, 1 or more"
        )
    if max_norm is not None and not max_norm > 0:
        raise ValueError(f"max_norm={max_norm!r}: expected a positive number or None")
    if not 0 <= min_scale < float("inf"):
        raise ValueError(f"min_scale={min_scale!r}: expected a finite number, 0 or more")
    if not model.training:
        raise ValueError(
            "the model is in eval mode: call model.train() first (something like predict() may have left it so)"
        )
    scaler = make_grad_scaler(precision) if scaler is None and not precision.scaler else scaler
    if scaler is None or scaler.is_enabled() != precision.scaler:
        state = (
            "no scaler" if scaler is None else f"a scaler with is_enabled()={scaler.is_enabled()}"
        )
        raise ValueError(
            f"{precision.dtype} on {precision.device} and {state} do not fit: use make_grad_scaler(precision)"
        )
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    losses: list[torch.Tensor] = []
    weights: list[float] = []
    steps = skipped = 0
    optimizer.zero_grad(set_to_none=True)
    for window in _windows(batches, accumulate):
        shares = [float(weight(batch)) for batch in window]
        if not 0 < sum(shares) < float("inf") or min(shares) < 0:
            numbers = f"{len(weights)} to {len(weights) + len(window) - 1}"
            raise ValueError(
                f"weights of the batches {numbers}: {shares}; expected none below 0 and a positive, finite sum"
            )
        for batch, share in zip(window, shares):
            with precision.autocast():
                loss = loss_fn(model, batch)
            _require_loss(loss, len(losses))
            scaler.scale(loss * (share / sum(shares))).backward()
            losses.append(loss.detach())
        weights += shares
        scaler.unscale_(optimizer)  # before clipping; a disabled scaler does nothing here
        if max_norm is not None:
            torch.nn.utils.clip_grad_norm_(parameters, max_norm)
        before = scaler.get_scale()
        _step(scaler, optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)
        steps += 1
        skipped += scaler.get_scale() < before  # GradScaler.step has waited for the device already
        if scaler.is_enabled() and scaler.get_scale() < min_scale:
            raise ScaleCollapsed(
                f"loss scale {scaler.get_scale():g} after step {steps} ({skipped} skipped): the gradients are infinite whatever "
                "the scale, so look for inf or NaN in the data or the model"
            )
    if not losses:
        raise ValueError(
            "no batches: the loader is empty (drop_last with fewer rows than a batch, or an empty split?)"
        )
    # on the CPU before float64, which MPS does not have
    means = torch.stack(losses).cpu().double()
    return Epoch(
        float((means * torch.tensor(weights, dtype=torch.float64)).sum() / sum(weights)),
        steps,
        skipped,
    )


def _step(scaler: Any, optimizer: torch.optim.Optimizer) -> None:
    """scaler.step(optimizer); for fused SGD, which is told to skip on the device, the scaler decides on the host instead.

    Skipped in its first step, fused SGD keeps memory that nothing was written to as its momentum.
    """
    told_on_device = isinstance(optimizer, torch.optim.SGD) and getattr(
        optimizer, "_step_supports_amp_scaling", False
    )
    if told_on_device:
        optimizer._step_supports_amp_scaling = False
    try:
        scaler.step(optimizer)
    finally:
        if told_on_device:
            optimizer._step_supports_amp_scaling = True


def _windows(batches: Iterable[Any], size: int) -> Iterator[list[Any]]:
    remaining = iter(batches)
    while True:
        window = list(islice(remaining, size))
        if not window:
            return
        yield window


def _require_loss(loss: Any, number: int) -> None:
    if not isinstance(loss, torch.Tensor) or loss.numel() != 1:
        found = f"shape {list(loss.shape)}" if isinstance(loss, torch.Tensor) else repr(loss)
        raise ValueError(f"loss of batch {number}: expected a tensor with one number, got {found}")
    if not loss.requires_grad:
        raise ValueError(
            f"loss of batch {number} has no graph: a forward under no_grad, a detach(), a loss of targets alone, or frozen parameters"
        )
