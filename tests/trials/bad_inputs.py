"""Tests every argument of every public function of the fixes with unexpected input.

    python -m tests.trials.bad_inputs

Each cell of the table is a run. A run is "right" if the answer equals an answer computed
independently of the fix, in float64 on dense tensors. A run is an "error" if the function rejected
the input with a text that names the value, its type, dtype, shape, layout or device. Any other run
is a problem.
"""

from __future__ import annotations

import dataclasses
import math
import operator
import os
import re
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from unittest import mock

import click
import numpy
import torch
from torch import nn

from reference_fixes import (
    amp,
    attention,
    checkpoints,
    data_loading,
    loss,
    memory,
    modules,
    numerics,
    optimizers,
    randomness,
    rnn,
    schedulers,
)
from tests.trials.shared import DOCS, finish, table, write

TABLE = DOCS / "bad-inputs.md"
COMMAND = "python -m tests.trials.bad_inputs"
ROWS = [[0.5, -2.0], [3.0, 1.5]]


def quantized() -> torch.Tensor:
    return torch.quantize_per_tensor(torch.tensor(ROWS), 0.5, 0, torch.qint8)


INPUTS: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "text": lambda: "0.5 apples",
    "object": lambda: object(),
    "list": lambda: [1.0, 2.0],
    "empty list": lambda: [],
    "NumPy array": lambda: numpy.array(ROWS),
    "int": lambda: 3,
    "-1": lambda: -1,
    "0": lambda: 0,
    "True": lambda: True,
    "float": lambda: 2.5,
    "nan": lambda: math.nan,
    "inf": lambda: math.inf,
    "complex number": lambda: 1 + 2j,
    "float32": lambda: torch.tensor(ROWS),
    "float64": lambda: torch.tensor(ROWS, dtype=torch.float64),
    "float16": lambda: torch.tensor(ROWS, dtype=torch.float16),
    "bfloat16": lambda: torch.tensor(ROWS, dtype=torch.bfloat16),
    "int64": lambda: torch.tensor([[1, 2], [3, 4]]),
    "bool": lambda: torch.tensor([[True, False], [True, True]]),
    "complex64": lambda: torch.tensor([[0.5 + 1j, -2.0], [3.0, 1.5j]]),
    "0-d": lambda: torch.tensor(2.5),
    "one value": lambda: torch.tensor([2.5]),
    "empty": lambda: torch.empty(0),
    "zero-size": lambda: torch.empty(0, 3),
    "non-contiguous": lambda: torch.tensor(ROWS).t(),
    "expanded": lambda: torch.tensor([[1.0], [2.0]]).expand(2, 3),
    "sparse": lambda: torch.tensor([[0.0, -2.0], [3.0, 0.0]]).to_sparse(),
    "sparse, uncoalesced": lambda: torch.sparse_coo_tensor(
        torch.tensor([[0, 0], [1, 1]]), [-1.0, -1.0], (2, 2)
    ),
    "meta": lambda: torch.tensor(ROWS, device="meta"),
    "quantized": quantized,
    "huge": lambda: torch.full((2, 2), 3e38),
    "huge float16": lambda: torch.full((2, 2), 6e4, dtype=torch.float16),
    "tensor with nan": lambda: torch.tensor([[0.5, math.nan], [3.0, 1.5]]),
    "tensor with inf": lambda: torch.tensor([[0.5, -math.inf], [3.0, 1.5]]),
    "CPU and meta": lambda: [torch.tensor(ROWS), torch.tensor(ROWS, device="meta")],
}


class OnlyAnError(Exception):
    """Raised if there is no right answer for this input."""


@dataclasses.dataclass
class Use:
    function: str
    argument: str
    call: Callable[[Any], Any]
    right: Callable[[Any], Any]


USES: list[Use] = []


def use(
    function: str, argument: str, right: Callable[[Any], Any]
) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Registers call(value) as a use of the function.

    right(value) computes the answer independently, or raises OnlyAnError.
    """

    def register(call: Callable[[Any], Any]) -> Callable[[Any], Any]:
        USES.append(Use(function, argument, call, right))
        return call

    return register


# ---- answers computed independently ----


def whole(x: Any) -> int:
    """The value as a number of steps, 0 or more."""
    if isinstance(x, torch.Tensor) and (x.dtype.is_floating_point or x.numel() != 1):
        raise OnlyAnError
    number = operator.index(x)
    return number if number >= 0 else only_an_error(x)


def values_of(x: Any) -> torch.Tensor:
    """The numbers of a tensor, dense and in float64."""
    if not isinstance(x, torch.Tensor) or x.device.type == "meta" or x.is_quantized:
        raise OnlyAnError
    dense = (x.detach().to_dense() if x.is_sparse else x.detach()).cpu()
    return dense.to(torch.complex128 if dense.is_complex() else torch.float64)


def finite_mean(x: Any) -> torch.Tensor:
    values = values_of(x)
    if not values.numel() or not values.isfinite().all():
        raise OnlyAnError
    return values.mean()


def one_number(x: Any) -> float:
    if isinstance(x, torch.Tensor):
        if x.is_complex() or x.numel() != 1:
            raise OnlyAnError
        return float(values_of(x).reshape(()))
    if isinstance(x, (int, float)):
        return float(x)
    raise OnlyAnError


def finite_number(x: Any) -> float:
    if not math.isfinite(one_number(x)):
        raise OnlyAnError
    return one_number(x)


def positive(x: Any) -> float:
    if not one_number(x) > 0:
        raise OnlyAnError
    return one_number(x)


def itself(x: Any) -> Any:
    return x


def only_an_error(x: Any) -> Any:
    raise OnlyAnError


def cuda_index(x: Any) -> bool:
    """True if a whole number means a CUDA device, as in a CUDA build even without a GPU."""
    return (
        isinstance(x, int) and not isinstance(x, bool) and x >= 0 and torch.device(x).type == "cuda"
    )


# ---- the uses ----


class Square(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * x


def with_parameter(x: Any) -> Any:
    model = nn.Module()
    model.weight = nn.Parameter(x)
    return model


def with_gradient(x: Any) -> Any:
    model = with_parameter(torch.zeros(x.shape, dtype=x.dtype, device=x.device))
    model.weight.grad = x
    return model


def with_buffer(x: Any) -> Any:
    model = nn.Module()
    model.register_buffer("table", x)
    return model


def gradient_of_square(x: Any) -> Any:
    if isinstance(x, torch.Tensor) and x.is_floating_point() and not x.is_quantized:
        return 2 * x.detach()
    raise OnlyAnError


@use("rnn.input_gradients", "input", gradient_of_square)
def _(x: Any) -> Any:
    (gradient,) = rnn.input_gradients(Square(), x)
    assert gradient is not None
    assert gradient.shape == x.shape
    assert gradient.dtype == x.dtype
    return gradient


@use("rnn.input_gradients", "model", only_an_error)
def _(x: Any) -> Any:
    return rnn.input_gradients(x, torch.ones(2))


@use("rnn.differentiable_eval", "model", only_an_error)
def _(x: Any) -> Any:
    with rnn.differentiable_eval(x):
        return "entered"


@use("rnn.no_grad_eval", "model", only_an_error)
def _(x: Any) -> Any:
    with rnn.no_grad_eval(x):
        return "entered"


@use("rnn.restore_modes", "model", only_an_error)
def _(x: Any) -> Any:
    with rnn.restore_modes(x):
        return "entered"


def flag(x: Any) -> bool:
    """The value of the flag inside the block; None does not change the flag."""
    if x is None:
        return torch.backends.cudnn.enabled
    return x if isinstance(x, bool) else only_an_error(x)


@use("rnn.cudnn_flags", "enabled", flag)
def _(x: Any) -> Any:
    with rnn.cudnn_flags(enabled=x):
        return torch.backends.cudnn.enabled


@use(
    "amp.choose_precision",
    "device",
    lambda x: amp.choose_precision("cuda") if cuda_index(x) else only_an_error(x),
)
def _(x: Any) -> Any:
    return amp.choose_precision(x)


@use("amp.choose_precision", "dtype", lambda x: torch.float32 if x is None else only_an_error(x))
def _(x: Any) -> Any:
    return amp.choose_precision("cpu", x).dtype


@use("amp.make_grad_scaler", "precision", only_an_error)
def _(x: Any) -> Any:
    return amp.make_grad_scaler(x)


@use("amp.load_scaler_state", "state", lambda x: only_an_error(x) if x else False)
def _(x: Any) -> Any:
    scaler = amp.make_grad_scaler(amp.Precision("cpu", torch.float16, True, ""))
    return amp.load_scaler_state(scaler, x)


def windowed(batches: Any = (3.0,), size: Any = 2, **options: Any) -> list[Any]:
    """Triples: a batch, its share of the window, and whether it is the last batch of the window."""
    windows = amp.windows(batches, size, **options)
    return [item for window in windows for item in window]


def all_batches(x: Any) -> list[Any]:
    """The triples of windows that contain one batch each."""
    return [(batch, 1.0, True) for batch in x] or only_an_error(x)


@use("amp.windows", "batches", all_batches)
def _(x: Any) -> Any:
    return windowed(x, size=1)


@use("amp.windows", "size", lambda x: [(3.0, 1.0, True)] if x == 3 else only_an_error(x))
def _(x: Any) -> Any:
    return windowed(size=x)


@use(
    "amp.windows",
    "weight",
    lambda x: (
        [(3.0, 1.0, True)] * (finite_number(x) > 0) if finite_number(x) >= 0 else only_an_error(x)
    ),
)
def _(x: Any) -> Any:
    return windowed(weight=lambda batch: x)


@use("amp.windows", "group", lambda x: [(3.0, 1.0, True)] if x is None else only_an_error(x))
def _(x: Any) -> Any:
    return windowed(group=x)


def stepped(gradient: Any = (3.0, 4.0), wrap: Any = None, **options: Any) -> torch.Tensor:
    """The weights after an SGD step with this gradient, starting from zero."""
    gradient = torch.tensor(gradient) if isinstance(gradient, tuple) else gradient
    weight = nn.Parameter(torch.zeros_like(gradient).to_dense())
    weight.grad = gradient
    optimizer = torch.optim.SGD([weight], lr=1.0)
    optimizer = wrap(optimizer) if wrap else optimizer
    amp.optimizer_step(**{"optimizer": optimizer, "max_norm": math.inf, **options})
    return weight.detach()


@use("amp.optimizer_step", "optimizer", only_an_error)
def _(x: Any) -> Any:
    return stepped(optimizer=x)


@use(
    "amp.optimizer_step",
    "scaler",
    lambda x: torch.tensor([-3.0, -4.0]) if x is None else only_an_error(x),
)
def _(x: Any) -> Any:
    return stepped(scaler=x)


@use(
    "amp.optimizer_step",
    "max_norm",
    lambda x: -torch.tensor([3.0, 4.0]) * min(1.0, math.inf if x is None else positive(x) / 5),
)
def _(x: Any) -> Any:
    return stepped(max_norm=x)


@use(
    "amp.optimizer_step",
    "min_scale",
    lambda x: torch.tensor([-3.0, -4.0]) if finite_number(x) > 0 else only_an_error(x),
)
def _(x: Any) -> Any:
    return stepped(min_scale=x)


def step_with(x: Any) -> Any:
    """The weights after a gradient step; zeros if the norm of the gradient is not finite."""
    if not isinstance(x, torch.Tensor) or x.device.type == "meta" or x.is_quantized:
        raise OnlyAnError
    x = x.to_dense() if x.is_sparse else x
    return -x if x.norm().isfinite() else torch.zeros_like(x)


class Wrapped:
    """An optimizer wrapped as in Lightning and accelerate; attributes are set on the wrapper."""

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        self.optimizer = optimizer

    def __getattr__(self, name: str) -> Any:
        return getattr(self.optimizer, name)


@use("amp.optimizer_step", "gradient", step_with)
def _(x: Any) -> Any:
    return stepped(x)


@use("amp.optimizer_step", "gradient, optimizer wrapped", step_with)
def _(x: Any) -> Any:
    return stepped(x, wrap=Wrapped)


def pair_with(x: Any) -> Any:
    if not isinstance(x, torch.Tensor):
        raise OnlyAnError
    return x


def like(x: Any) -> torch.Tensor:
    return torch.ones(x.shape if isinstance(x, torch.Tensor) else 2)


@use("loss.match_by_name", "prediction", pair_with)
def _(x: Any) -> Any:
    with torch.no_grad():
        return loss.match_by_name({"a": x}, {"a": like(x)})["a"][0]


@use("loss.match_by_name", "prediction, with gradients", only_an_error)
def _(x: Any) -> Any:
    return loss.match_by_name({"a": x}, {"a": like(x)})


@use("loss.match_by_name", "target", pair_with)
def _(x: Any) -> Any:
    return loss.match_by_name({"a": like(x).requires_grad_()}, {"a": x})["a"][1]


@use("loss.match_by_name", "predictions", only_an_error)
def _(x: Any) -> Any:
    return loss.match_by_name(x, {"a": torch.ones(2)})


@use("loss.match_by_name", "targets", only_an_error)
def _(x: Any) -> Any:
    return loss.match_by_name({"a": torch.ones(2)}, x)


@use("loss.SameShapeLoss", "loss", only_an_error)
def same_shape_loss(x: Any) -> Any:
    return loss.SameShapeLoss(x)


@use("loss.SameShapeLoss.forward", "input", only_an_error)
def same_shape_input(x: Any) -> Any:
    return loss.SameShapeLoss(torch.nn.MSELoss())(x, torch.ones(7, 5, 3))


@use("loss.SameShapeLoss.forward", "target", only_an_error)
def same_shape_target(x: Any) -> Any:
    return loss.SameShapeLoss(torch.nn.MSELoss())(torch.ones(7, 5, 3), x)


@use("loss.masked_mean", "values", finite_mean)
def _(x: Any) -> Any:
    return loss.masked_mean(x, torch.tensor(True))


@use(
    "loss.masked_mean",
    "mask",
    lambda x: 7.0 if isinstance(x, torch.Tensor) and x.dtype == torch.bool else only_an_error(x),
)
def _(x: Any) -> Any:
    return loss.masked_mean(torch.full((2, 2), 7.0), x)


@use("loss.RunningMean.update", "value", one_number)
def _(x: Any) -> Any:
    mean = loss.RunningMean()
    mean.update(x)
    mean.update(x, 3)
    return mean.compute()


@use(
    "loss.RunningMean.update", "weight", lambda x: 5.0 if finite_number(x) > 0 else only_an_error(x)
)
def _(x: Any) -> Any:
    mean = loss.RunningMean()
    mean.update(5.0, x)
    return mean.compute()


@use("loss.RunningMean.merge", "other", only_an_error)
def _(x: Any) -> Any:
    return loss.RunningMean().merge(x)


@use("loss.RunningMean.load_state_dict", "state_dict", only_an_error)
def _(x: Any) -> Any:
    return loss.RunningMean().load_state_dict(x)


@use("loss.RunningMean.load_state_dict", "sum", one_number)
def _(x: Any) -> Any:
    mean = loss.RunningMean()
    mean.load_state_dict({"sum": x, "weight": 1.0})
    return mean.compute()


@use(
    "loss.RunningMean.load_state_dict",
    "weight",
    lambda x: 5 / finite_number(x) if finite_number(x) > 0 else only_an_error(x),
)
def _(x: Any) -> Any:
    mean = loss.RunningMean()
    mean.load_state_dict({"sum": 5.0, "weight": x})
    return mean.compute()


def fine_gradient(x: Any) -> Any:
    values = values_of(x)
    if not values.isfinite().all() or not (values != 0).any():
        raise OnlyAnError


@use("loss.check_gradients", "gradient", fine_gradient)
def _(x: Any) -> Any:
    return loss.check_gradients(with_gradient(x))


@use("loss.check_gradients", "model", only_an_error)
def _(x: Any) -> Any:
    return loss.check_gradients(x)


@use("memory.is_out_of_memory", "error", lambda x: False if x is None else only_an_error(x))
def _(x: Any) -> Any:
    return memory.is_out_of_memory(x)


def out_of_memory_above(limit: int) -> Callable[[int], None]:
    def run(size: int) -> None:
        if size > limit:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 MiB")

    return run


@use("memory.find_batch_size", "largest", lambda x: 2 if x == 3 else only_an_error(x))
def _(x: Any) -> Any:
    return memory.find_batch_size(out_of_memory_above(2), x)


@use("memory.find_batch_size", "smallest", lambda x: 5 if x == 3 else only_an_error(x))
def _(x: Any) -> Any:
    return memory.find_batch_size(out_of_memory_above(5), 8, x)


@use("memory.find_batch_size", "run", only_an_error)
def _(x: Any) -> Any:
    return memory.find_batch_size(x, 8)


@use("memory.drop_frames", "error", only_an_error)
def _(x: Any) -> Any:
    return memory.drop_frames(x)


@use("memory.scratch_gradients", "model", only_an_error)
def _(x: Any) -> Any:
    with memory.scratch_gradients(x):
        return "entered"


@use("memory.scratch_gradients", "gradient", itself)
def _(x: Any) -> Any:
    model = with_gradient(x)
    with memory.scratch_gradients(model):
        assert model.weight.grad is None
    return model.weight.grad


@use(
    "data_loading.pin_decision",
    "device",
    lambda x: data_loading.pin_decision("cuda") if cuda_index(x) else only_an_error(x),
)
def _(x: Any) -> Any:
    return data_loading.pin_decision(x)


@use("data_loading.map_tensors", "batch", itself)
def _(x: Any) -> Any:
    return data_loading.map_tensors(lambda tensor: tensor, x)


@use("data_loading.map_tensors", "batch, nested", itself)
def _(x: Any) -> Any:
    return data_loading.map_tensors(lambda tensor: tensor, {"a": (x, [x])})["a"][1][0]


@use("data_loading.to_device", "batch", lambda x: x if "meta" not in str(x) else only_an_error(x))
def _(x: Any) -> Any:
    return data_loading.to_device(x, "cpu")


@use(
    "data_loading.to_device",
    "device",
    lambda x: torch.ones(2, device=x) if cuda_index(x) else only_an_error(x),
)
def _(x: Any) -> Any:
    return data_loading.to_device(torch.ones(2), x)


@use("data_loading.pin_batch", "batch", itself)
def _(x: Any) -> Any:
    with mock.patch.object(torch.Tensor, "pin_memory", lambda tensor: tensor):  # needs CUDA
        return data_loading.pin_batch(x)


@use(
    "data_loading.Prefetcher", "batch", lambda x: [x] if "meta" not in str(x) else only_an_error(x)
)
def _(x: Any) -> Any:
    return list(data_loading.Prefetcher([x], "cpu"))


@use(
    "data_loading.Prefetcher",
    "loader",
    lambda x: list(x) if hasattr(x, "__iter__") and "meta" not in str(x) else only_an_error(x),
)
def _(x: Any) -> Any:
    return list(data_loading.Prefetcher(x, "cpu"))


def collated(batch: Any) -> Any:
    try:
        return torch.utils.data.default_collate(batch)
    except Exception:
        raise OnlyAnError from None


@use("data_loading.collate", "batch", collated)
def _(x: Any) -> Any:
    return data_loading.collate(x)


@use("data_loading.collate", "sample", lambda x: collated([x]))
def _(x: Any) -> Any:
    return data_loading.collate([x])


@use(
    "data_loading.shard", "rows", lambda x: list(x) if hasattr(x, "__iter__") else only_an_error(x)
)
def _(x: Any) -> Any:
    return list(data_loading.shard(x))


@use("data_loading.shard", "rank", lambda x: [whole(x)] if whole(x) < 5 else only_an_error(x))
def _(x: Any) -> Any:
    return list(data_loading.shard(range(5), x, 5))


@use(
    "data_loading.shard",
    "world_size",
    lambda x: list(range(0, 5, whole(x))) if whole(x) else only_an_error(x),
)
def _(x: Any) -> Any:
    return list(data_loading.shard(range(5), 0, x))


def lists_of_indices(x: Any) -> Any:
    if not hasattr(x, "__iter__") or any(not hasattr(type(each), "__len__") for each in x):
        raise OnlyAnError
    flat = isinstance(x, torch.Tensor) and x.dim() < 2 and x.numel()
    return only_an_error(x) if flat else list(x)


@use("data_loading.ResumableBatches", "batches", lists_of_indices)
def _(x: Any) -> Any:
    batches = data_loading.ResumableBatches(x)
    return list(batches.counted(batches))


@use("data_loading.ResumableBatches", "state", only_an_error)
def _(x: Any) -> Any:
    return data_loading.ResumableBatches([[0], [1]]).load_state_dict(x)


@use("data_loading.ResumableBatches", "consumed", lambda x: [[0], [1]][whole(x) :])
def _(x: Any) -> Any:
    batches = data_loading.ResumableBatches([[0], [1]])
    batches.load_state_dict({"consumed": x, "length": 2, "generator": None})
    return list(batches.counted(batches))


@use(
    "data_loading.worker_count",
    "batch_bytes",
    lambda x: data_loading.worker_count(1, 2**30) if positive(x) < math.inf else 0,
)
def _(x: Any) -> Any:
    return data_loading.worker_count(x, 2**30)


@use(
    "data_loading.worker_count",
    "memory_bytes",
    lambda x: int(positive(x) // 2) and 1 if positive(x) < math.inf else only_an_error(x),
)
def _(x: Any) -> Any:
    return min(1, data_loading.worker_count(1, x))


def clipped_step(x: Any, max_norm: float = 1.0) -> torch.Tensor:
    values = values_of(x)
    if not values.numel():
        raise OnlyAnError
    if not values.isfinite().all():
        return torch.zeros_like(values)
    return -values * min(1.0, max_norm / float(values.abs().square().sum().sqrt()))


@use("numerics.clip_or_skip", "gradient", clipped_step)
def _(x: Any) -> Any:
    model = with_gradient(x)
    numerics.clip_or_skip(torch.optim.SGD(model.parameters(), lr=1.0), 1.0)
    return model.weight.detach()


@use("numerics.clip_or_skip", "gradient, fused", clipped_step)
def _(x: Any) -> Any:
    model = with_gradient(x)
    numerics.clip_or_skip(torch.optim.SGD(model.parameters(), lr=1.0, fused=True), 1.0)
    return model.weight.detach()


@use("numerics.clip_or_skip", "gradient, fused optimizer wrapped", clipped_step)
def _(x: Any) -> Any:
    model = with_gradient(x)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0, fused=True)
    numerics.clip_or_skip(Wrapped(optimizer), 1.0)  # type: ignore[arg-type]
    return model.weight.detach()


@use(
    "numerics.clip_or_skip",
    "max_norm",
    lambda x: clipped_step(torch.tensor([3.0, 4.0]), positive(x)),
)
def _(x: Any) -> Any:
    model = with_gradient(torch.tensor([3.0, 4.0]))
    numerics.clip_or_skip(torch.optim.SGD(model.parameters(), lr=1.0), x)
    return model.weight.detach()


@use("numerics.clip_or_skip", "optimizer", only_an_error)
def _(x: Any) -> Any:
    return numerics.clip_or_skip(x, 1.0)


def all_finite(x: Any) -> bool:
    if isinstance(x, torch.Tensor) and (x.is_quantized or x.is_meta):  # meta tensors have no values
        return True
    return bool(values_of(torch.as_tensor(x)).isfinite().all())


@use("numerics.find_nonfinite", "input", lambda x: all_finite(x) and all_finite(x * x))
def _(x: Any) -> Any:
    return numerics.find_nonfinite(Square(), x) is None


def finite_or_absent(x: Any) -> bool:
    return x is None or all_finite(x)


def without_nan(x: Any) -> bool:  # a buffer may contain inf
    return x is None or x.is_quantized or x.is_meta or not bool(values_of(x).isnan().any())


@use("numerics.find_nonfinite", "parameter", finite_or_absent)
def _(x: Any) -> Any:
    return numerics.find_nonfinite(with_parameter(x)) is None


@use("numerics.find_nonfinite", "buffer", without_nan)
def _(x: Any) -> Any:
    return numerics.find_nonfinite(with_buffer(x)) is None


@use("numerics.find_nonfinite", "gradient", finite_or_absent)
def _(x: Any) -> Any:
    return numerics.find_nonfinite(with_gradient(x)) is None


def restorable(x: Any) -> Any:
    if not all_finite(x) or x.is_meta:
        raise OnlyAnError
    return x


@use("numerics.Snapshot", "part", only_an_error)
def _(x: Any) -> Any:
    return numerics.Snapshot(x)


def restored(model: nn.Module) -> torch.Tensor:
    """The model's only tensor, set to zeros and then restored from a snapshot."""
    snapshot = numerics.Snapshot(model)
    tensor = next(iter([*model.parameters(), *model.buffers()]))
    with torch.no_grad():
        tensor.zero_()
    snapshot.restore()
    return tensor.detach()


@use("numerics.Snapshot", "parameter", restorable)
def _(x: Any) -> Any:
    return restored(with_parameter(x.clone()))


@use("numerics.Snapshot", "buffer", itself)
def _(x: Any) -> Any:
    return restored(with_buffer(x.clone()))


@use(
    "numerics.apply_where",
    "mask",
    lambda x: (
        torch.where(x, 3.0, 0.0)
        if isinstance(x, torch.Tensor) and x.dtype == torch.bool
        else only_an_error(x)
    ),
)
def _(x: Any) -> Any:
    return numerics.apply_where(x, torch.sqrt, torch.full((2, 2), 9.0))


def squares(x: Any) -> Any:
    if not isinstance(x, torch.Tensor) or x.is_complex():
        raise OnlyAnError
    return torch.where(x > 0, x.square(), torch.zeros_like(x.square()))


@use("numerics.apply_where", "input", squares)
def _(x: Any) -> Any:
    return numerics.apply_where(
        x > 0 if isinstance(x, torch.Tensor) else torch.tensor(True), torch.square, x
    )


def padding_mask(x: Any) -> Any:
    """The mask that attention_mask() adds to the scores of one head."""
    if not isinstance(x, torch.Tensor) or x.dtype != torch.bool:
        raise OnlyAnError
    rows = [[-math.inf if key else 0.0 for key in row] for row in x.tolist()]
    rows = [[0.0] * len(row) if set(row) == {-math.inf} else row for row in rows]
    return torch.tensor([[[row] * len(row)] for row in rows])


@use("attention.attention_mask", "padding", padding_mask)
def _(x: Any) -> Any:
    return attention.attention_mask(x, 1)[0]


OPEN = torch.zeros(1, 2, dtype=torch.bool)


def count(x: Any) -> int:
    """The value as a number of heads or queries."""
    if isinstance(x, bool) or not isinstance(x, int) or x < 1:
        raise OnlyAnError
    return x


@use("attention.attention_mask", "heads", count)
def _(x: Any) -> Any:
    return attention.attention_mask(OPEN, x)[0].shape[1]


@use("attention.attention_mask", "queries", lambda x: 2 if x is None else count(x))
def _(x: Any) -> Any:
    return attention.attention_mask(OPEN, 1, queries=x)[0].shape[2]


@use(
    "attention.attention_mask",
    "causal",
    lambda x: torch.tensor([[0.0, -math.inf], [0.0, 0.0]]) if x is True else only_an_error(x),
)
def _(x: Any) -> Any:
    return attention.attention_mask(OPEN, 1, causal=x)[0][0, 0]


def added_bias(x: Any) -> Any:
    if x is None:
        return torch.zeros(2, 2)
    if not isinstance(x, torch.Tensor) or not x.is_floating_point():
        raise OnlyAnError
    return values_of(x).expand(2, 2).float()


@use("attention.attention_mask", "bias", added_bias)
def _(x: Any) -> Any:
    return attention.attention_mask(OPEN, 1, bias=x)[0][0, 0]


@use("attention.attention_mask", "dtype", only_an_error)
def _(x: Any) -> Any:
    return attention.attention_mask(OPEN, 1, dtype=x)


@use("attention.without_fast_path", "model", only_an_error)
def _(x: Any) -> Any:
    with attention.without_fast_path(x):
        return "entered"


def fillable(x: Any) -> Any:
    """The shape and dtype of the tensor, because the values are random."""
    if not isinstance(x, torch.Tensor) or x.is_quantized or x.layout != torch.strided:
        raise OnlyAnError
    return (tuple(x.shape), x.dtype) if x.is_floating_point() else only_an_error(x)


def filled(x: Any, fill: Callable[..., Any]) -> Any:
    assert fill(x) is x
    assert x.is_meta or x.isfinite().all()
    return tuple(x.shape), x.dtype


def small(x: Any) -> bool:
    """True if x is small enough for float32 arithmetic to stay finite."""
    return 0 < finite_number(x) < 1e6 or only_an_error(x)


def fits(x: torch.Tensor, tolerance: float = 0.2) -> bool:
    return bool((x.mean() - 1).abs() < tolerance)


for _name in ("exponential_", "normal_", "trunc_normal_"):

    @use(f"randomness.{_name}", "tensor", fillable)
    def _(x: Any, name: str = _name) -> Any:
        return filled(x, getattr(randomness, name))

    @use(f"randomness.{_name}", "generator", lambda x: x is None or only_an_error(x))
    def _(x: Any, name: str = _name) -> Any:
        fill = getattr(randomness, name)
        return bool(fill(torch.empty(2), generator=x).isfinite().all())


@use("randomness.exponential_", "rate", small)
def _(x: Any) -> Any:
    return fits(randomness.exponential_(torch.empty(10_000), x) * x)


@use("randomness.normal_", "mean", lambda x: math.isfinite(one_number(x)) or only_an_error(x))
def _(x: Any) -> Any:
    return fits(randomness.normal_(torch.empty(10_000), x) - x + 1)


@use("randomness.normal_", "std", small)
def _(x: Any) -> Any:
    return fits((randomness.normal_(torch.empty(10_000), 0.0, x) / x).square())


@use(
    "randomness.trunc_normal_",
    "mean",
    lambda x: abs(finite_number(x)) < 9 or only_an_error(x),
)
def _(x: Any) -> Any:
    return fits(randomness.trunc_normal_(torch.empty(10_000), x, 1.0, -9.0, 9.0) - x + 1)


@use("randomness.trunc_normal_", "std", small)
def _(x: Any) -> Any:
    drawn = randomness.trunc_normal_(torch.empty(10_000), 0.0, x, -math.inf, math.inf)
    return fits((drawn / x).square())


@use("randomness.trunc_normal_", "a", lambda x: one_number(x) < 5 or only_an_error(x))
def _(x: Any) -> Any:
    drawn = randomness.trunc_normal_(torch.empty(1000), a=x, b=5.0)
    return bool((drawn >= x).all() and (drawn <= 5).all())


@use("randomness.trunc_normal_", "b", lambda x: one_number(x) > -5 or only_an_error(x))
def _(x: Any) -> Any:
    drawn = randomness.trunc_normal_(torch.empty(1000), a=-5.0, b=x)
    return bool((drawn >= -5).all() and (drawn <= x).all())


@use("optimizers.check_parameters", "model", only_an_error)
def _(x: Any) -> Any:
    return optimizers.check_parameters(x, with_momentum(torch.ones(2)))


@use("optimizers.check_parameters", "optimizers", only_an_error)
def _(x: Any) -> Any:
    return optimizers.check_parameters(nn.Linear(2, 2), x)


@use("modules.freeze", "module", only_an_error)
def _(x: Any) -> Any:
    modules.freeze(x)
    return "frozen"


@use("modules.unfreeze", "module", only_an_error)
def _(x: Any) -> Any:
    modules.unfreeze(x)
    return "unfrozen"


@use("optimizers.load_optimizer_state", "optimizer", only_an_error)
def _(x: Any) -> Any:
    return optimizers.load_optimizer_state(x, with_momentum(torch.ones(2)).state_dict())


@use("optimizers.load_optimizer_state", "state", only_an_error)
def _(x: Any) -> Any:
    return optimizers.load_optimizer_state(with_momentum(torch.ones(2)), x)


def with_momentum(momentum: Any) -> torch.optim.Optimizer:
    weight = nn.Parameter(torch.zeros(2, 2))
    optimizer = torch.optim.SGD([weight], lr=1.0, momentum=0.9)
    optimizer.state[weight]["momentum_buffer"] = momentum
    return optimizer


def of_the_weight(x: Any) -> Any:
    """The loaded tensor, with the dtype and device of the weight."""
    if x.shape != (2, 2):
        raise OnlyAnError
    return x.to("cpu", torch.float32)


@use("optimizers.load_optimizer_state", "momentum", of_the_weight)
def _(x: Any) -> Any:
    assert isinstance(x, torch.Tensor)  # an optimizer may keep values of any other type
    optimizer = with_momentum(None)
    optimizers.load_optimizer_state(optimizer, with_momentum(x).state_dict())
    (weight,) = optimizer.param_groups[0]["params"]
    return optimizer.state[weight]["momentum_buffer"]


@use("checkpoints.load_matching", "model", only_an_error)
def _(x: Any) -> Any:
    return checkpoints.load_matching(x, {"weight": torch.zeros(2, 2)})


@use("checkpoints.load_matching", "state", only_an_error)
def _(x: Any) -> Any:
    return checkpoints.load_matching(nn.Linear(2, 2), x)


def real_of_the_weight(x: Any) -> Any:
    if not isinstance(x, torch.Tensor) or not x.is_floating_point() or x.is_sparse:
        raise OnlyAnError
    return of_the_weight(x) if not x.is_meta else only_an_error(x)


@use("checkpoints.load_matching", "value", real_of_the_weight)
def _(x: Any) -> Any:
    model = with_parameter(torch.zeros(2, 2))
    checkpoints.load_matching(model, {"weight": x})
    return model.weight


@use("checkpoints.load_matching", "prefix", only_an_error)
def _(x: Any) -> Any:
    return checkpoints.load_matching(nn.Linear(2, 2), {"weight": torch.zeros(2, 2)}, x)


def a_path(x: Any) -> bool:
    return isinstance(x, str) or only_an_error(x)


@use("checkpoints.save", "path", a_path)
def _(x: Any) -> Any:
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        try:
            os.chdir(folder)
            checkpoints.save({"step": 1}, x)
            return torch.load(x) == {"step": 1}
        finally:
            os.chdir(before)


def plain(x: Any) -> Any:
    if type(x) is object or isinstance(x, numpy.ndarray):
        raise OnlyAnError
    return x


@use("checkpoints.capture", "value", plain)
def _(x: Any) -> Any:
    return checkpoints.capture(value=x)["values"]["value"]


@use("checkpoints.restore", "checkpoint", only_an_error)
def _(x: Any) -> Any:
    return checkpoints.restore(x)


@use("checkpoints.restore", "object", only_an_error)
def _(x: Any) -> Any:
    return checkpoints.restore(checkpoints.capture(model=nn.Linear(2, 2)), model=x)


def factor(x: Any) -> float:
    if isinstance(x, torch.Tensor) or finite_number(x) < 0:
        raise OnlyAnError
    return finite_number(x)


@use("schedulers.linear", "steps", lambda x: min(1 / whole(x), 1.0) if whole(x) else 1.0)
def _(x: Any) -> Any:
    return schedulers.linear(x, 0.0, 1.0)(1)


@use("schedulers.linear", "start", factor)
def _(x: Any) -> Any:
    return schedulers.linear(2, x, 7.0)(0)


@use("schedulers.linear", "end", factor)
def _(x: Any) -> Any:
    return schedulers.linear(2, 7.0, x)(2)


@use("schedulers.cosine", "steps", lambda x: 1.0 if whole(x) < 2 else math.sin(math.pi / 6) ** 2)
def _(x: Any) -> Any:
    return schedulers.cosine(x, 0.0, 1.0)(1)


@use("schedulers.cosine", "start", factor)
def _(x: Any) -> Any:
    return schedulers.cosine(2, x, 7.0)(0)


@use("schedulers.cosine", "end", factor)
def _(x: Any) -> Any:
    return schedulers.cosine(2, 7.0, x)(2)


@use("schedulers.sequence", "part", only_an_error)
def _(x: Any) -> Any:
    return schedulers.sequence(x)


def scheduled(schedule: Any, step: Any = 0) -> float:
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0)
    schedulers.ScheduleLR(optimizer, schedule, step)
    return float(optimizer.param_groups[0]["lr"])


@use("schedulers.ScheduleLR", "optimizer", only_an_error)
def _(x: Any) -> Any:
    return schedulers.ScheduleLR(x, schedulers.linear(2, 0.0, 1.0))


@use("schedulers.ScheduleLR", "schedule", only_an_error)
def _(x: Any) -> Any:
    return scheduled(x)


@use("schedulers.ScheduleLR", "factor", factor)
def _(x: Any) -> Any:
    return scheduled(lambda step: x)


@use("schedulers.ScheduleLR", "step", lambda x: float(whole(x)))
def _(x: Any) -> Any:
    return scheduled(float, x)


@use("schedulers.ScheduleLR", "state", only_an_error)
def _(x: Any) -> Any:
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0)
    return schedulers.ScheduleLR(optimizer, schedulers.linear(2, 0.0, 1.0)).load_state_dict(x)


def momentum(schedule: Any, step: Any = 0) -> float:
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0, momentum=0.125)
    schedulers.ScheduleMomentum(optimizer, schedule, step)
    return float(optimizer.param_groups[0]["momentum"])


@use("schedulers.ScheduleMomentum", "optimizer", only_an_error)
def _(x: Any) -> Any:
    return schedulers.ScheduleMomentum(x, schedulers.linear(2, 0.0, 1.0))


@use("schedulers.ScheduleMomentum", "schedule", only_an_error)
def _(x: Any) -> Any:
    return momentum(x)


@use(
    "schedulers.ScheduleMomentum",
    "factor",
    lambda x: 0.125 * factor(x) if factor(x) < 8 else only_an_error(x),
)
def _(x: Any) -> Any:
    return momentum(lambda step: x)


@use("schedulers.ScheduleMomentum", "step", lambda x: 0.125 * whole(x))
def _(x: Any) -> Any:
    return momentum(float, x)


@use("schedulers.ScheduleMomentum", "state", only_an_error)
def _(x: Any) -> Any:
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0, momentum=0.125)
    return schedulers.ScheduleMomentum(optimizer, schedulers.linear(2, 0.0, 1.0)).load_state_dict(x)


# ---- judging ----


def same(a: Any, b: Any) -> bool:
    if isinstance(a, torch.Tensor) and a is b:
        return True
    if isinstance(a, torch.Tensor) or isinstance(b, torch.Tensor):
        if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor) and a.shape != b.shape:
            return False
        a, b = (
            value if isinstance(value, torch.Tensor) else torch.tensor(value) for value in (a, b)
        )
        if a.is_quantized or b.is_quantized:
            return a.is_quantized and b.is_quantized and torch.equal(a.int_repr(), b.int_repr())
        if a.is_meta or b.is_meta:
            return a.is_meta and b.is_meta and a.dtype == b.dtype
        low = {torch.float16: 2e-3, torch.bfloat16: 2e-2}.get(a.dtype, 2e-4)
        return torch.allclose(
            values_of(a), values_of(b).to(values_of(a).dtype), rtol=low, atol=1e-6, equal_nan=True
        )
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    if isinstance(a, float) and isinstance(b, float):
        return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-5)
    if isinstance(a, numpy.ndarray) or isinstance(b, numpy.ndarray):
        return numpy.array_equal(a, b)
    return a is b or a == b


def tokens(x: Any) -> list[str]:
    """Words for the input; an error's text must contain at least one of them."""
    names = [type(x).__name__, " ".join(repr(x).split()), str(x)]
    if isinstance(x, numpy.ndarray):
        names += ["array", str(x.dtype)]
    if isinstance(x, int):
        names += ["device index", "accelerator", "cuda", "nvidia"]
    if isinstance(x, int) and x == 0:
        names.append("no value of any weight")
    if isinstance(x, complex):
        names.append("torch.complex64")
    if isinstance(x, (str, list)):
        names.append("sequence")
    if isinstance(x, list) and not x:
        names.append("no batches")
    for item in x if isinstance(x, (list, tuple)) else [x]:
        names.append(type(item).__name__)
        if isinstance(item, torch.Tensor):
            names += tokens_of_tensor(item)
    return [name.lower() for name in names]


def tokens_of_tensor(x: torch.Tensor) -> list[str]:
    dtype = str(x.dtype)
    names = [dtype, dtype.replace("torch.", ""), str(list(x.shape)), str(x.layout), x.device.type]
    names += [f"{x.numel()} values", f"{x.numel()} elements"]
    if not x.numel():
        names += ["empty", "no batches", "all zero", "no gradient with a value in it"]
    if not x.requires_grad:
        names += ["no graph", "no grad"]
    if not x.is_meta and not x.is_quantized and not values_of(x).isfinite().all():
        names += ["nan", "not finite"]
    if x.is_quantized:
        names.append("quantized")
    if x.is_complex():
        names += ["complex", "complexfloat"]
    if x.is_sparse:
        names.append("sparse")
    return names


@dataclasses.dataclass
class Cell:
    use: Use
    input: str
    kind: str  # right, error, unclear, wrong, not applicable
    text: str


def judge(use: Use, name: str) -> Cell:
    x = INPUTS[name]()
    before = x.clone() if isinstance(x, torch.Tensor) else x
    try:
        right: Any = use.right(x)
        has_answer = True
    except Exception:
        right, has_answer = None, False
    try:
        answer = use.call(x)
    except Exception as error:
        return Cell(use, name, *_judge_error(error, before))
    if not has_answer:
        return Cell(use, name, "wrong", f"answered {answer!r}")
    kind = "right" if same(answer, right) else "wrong"
    return Cell(use, name, kind, f"answered {answer!r}, right is {right!r}")


def _judge_error(error: Exception, value: Any) -> tuple[str, str]:
    """The kind of the cell, and the error's text."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    if not _reached_the_fix(error):
        return "not applicable", text
    # The scenario's own model may raise any error, and the fix lets this error through.
    clear = _raised_here(error) or any(
        re.search(rf"(?<!\w){re.escape(token)}s?(?!\w)", text.lower()) for token in tokens(value)
    )
    return "error" if clear else "unclear", text


def _reached_the_fix(error: BaseException) -> bool:
    """True if the fix was called. Otherwise, torch refused to build the scenario."""
    return any(
        Path(frame.f_code.co_filename).parent.name == "reference_fixes"
        for frame, _ in traceback.walk_tb(error.__traceback__)
    )


def _raised_here(error: BaseException) -> bool:
    *_, last = traceback.walk_tb(error.__traceback__)
    return Path(last[0].f_code.co_filename) == Path(__file__)


Cells = dict[str, list[Cell]]  # "function: argument" -> one cell for each of INPUTS


def measure() -> Cells:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            f"{use.function}: {use.argument}": [judge(use, name) for name in INPUTS] for use in USES
        }


def problems(cells: Iterable[Cell]) -> list[str]:
    return [
        f"{cell.kind}: {cell.use.function}, {cell.use.argument}: {cell.input}: {cell.text}"
        for cell in cells
        if cell.kind in ("wrong", "unclear")
    ]


# ---- the table ----

MARKS = {"right": "✓", "error": "E", "not applicable": "", "wrong": "WRONG", "unclear": "UNCLEAR"}


def marks(cells_of: Cells) -> str:
    """The table of outcomes, with a row per input."""
    rows = [
        (name, *(MARKS[cells[position].kind] for cells in cells_of.values()))
        for position, name in enumerate(INPUTS)
    ]
    return table(("input", *map(str, range(1, len(cells_of) + 1))), rows)


def render(cells_of: Cells) -> str:
    kinds = Counter(cell.kind for cells in cells_of.values() for cell in cells)
    lines = [
        "# Bad inputs",
        "",
        f"Written by `{COMMAND}` with torch {torch.__version__.split('+')[0]} on the CPU.",
        f"Every argument of every public function is tested with {len(INPUTS)} inputs.",
        f"Of the {kinds.total()} runs, {kinds['right']} gave a right answer,",
        f"{kinds['error']} raised an error that names the input,",
        f"{kinds['wrong']} gave a wrong answer, and {kinds['unclear']} raised an unclear error.",
        f"In the other {kinds['not applicable']} runs, torch itself refused to build the scenario.",
        "",
        "✓ means that the answer equals an answer computed independently of the fix. E means that the",
        "function rejected the input; the error texts are listed below the table.",
        "",
        marks(cells_of),
        "",
        *(f"{number}. `{name}`" for number, name in enumerate(cells_of, 1)),
        "",
    ]
    for name, cells in cells_of.items():
        if errors := _inputs_by_error(cells):
            rows = [(", ".join(inputs), f"`{text}`") for text, inputs in errors.items()]
            lines += [f"## {name}", "", table(("inputs", "error"), rows), ""]
    return "\n".join(lines).rstrip() + "\n"


def _inputs_by_error(cells: list[Cell]) -> dict[str, list[str]]:
    errors: dict[str, list[str]] = {}
    for cell in cells:
        if cell.kind in ("error", "unclear"):
            text = re.sub(r"0x[0-9a-f]+", "0x...", cell.text).replace("|", "\\|").replace("`", "'")
            text = text[:200] + ("..." if len(text) > 200 else "")
            errors.setdefault(text, []).append(cell.input)
    return errors


@click.command()
def main() -> None:
    """Test every argument of every public function with unexpected input.

    Writes docs/bad-inputs.md. Exit status: 0 every answer is right and every error names its input,
    1 there is a wrong answer or an unclear error, 2 usage error.
    """
    cells_of = measure()
    write(TABLE, render(cells_of))
    sys.exit(finish(problems(cell for cells in cells_of.values() for cell in cells)))


if __name__ == "__main__":
    main()
