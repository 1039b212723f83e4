# SPDX-License-Identifier: BSD-3-Clause
"""Losses that refuse to be zero by accident, means that refuse to be empty, and a check that gradients arrive.

Vendor this file: it needs torch 1.13 or newer and nothing else. Cures the reproducers in repros/loss.
"""

from __future__ import annotations

import dataclasses
from fnmatch import fnmatchcase
from typing import Any, Iterable

import torch

__all__ = ["GradientError", "RunningMean", "check_gradients", "masked_mean", "match"]


class GradientError(RuntimeError):
    """Some trainable parameters did not get the gradient that training needs."""


def match(predictions: Any, targets: Any) -> dict[Any, tuple[torch.Tensor, torch.Tensor]]:
    """Pairs every target with the prediction of the same name: {name: (prediction, target)}.

    Both may be a mapping, a dataclass or a named tuple of tensors. Predictions without a target (features, attentions) are
    left out; a target without a prediction is an error, never a zero. Nothing is unwrapped by guess: where the names are
    found deeper inside, the error says where.

    Raises:
        LookupError: a target has no prediction, or there are no targets.
        TypeError: something is not a tensor, or has no names at all.
        ValueError: a prediction and its target differ in their first dimension, the batch.

    >>> outputs = {"predictions": {"horizon_1": torch.ones(2)}, "features": torch.ones(2, 8)}
    >>> sorted(match(outputs["predictions"], {"horizon_1": torch.zeros(2)}))
    ['horizon_1']
    >>> match(outputs, {"horizon_1": torch.zeros(2)})
    Traceback (most recent call last):
    LookupError: predictions lack ['horizon_1']; got ['predictions', 'features']; all of them are in 'predictions'
    """
    given, wanted = _named(predictions, "predictions"), _named(targets, "targets")
    if not wanted:
        raise LookupError("no targets: a loss over nothing would be zero or NaN")
    missing = [name for name in wanted if name not in given]
    if missing:
        inside = [
            name
            for name, value in given.items()
            if _has_names(value) and set(missing) <= set(_named(value, str(name)))
        ]
        hint = f"; all of them are in {', '.join(map(repr, inside))}" if inside else ""
        raise LookupError(f"predictions lack {missing}; got {list(given)}{hint}")
    pairs = {}
    for name, target in wanted.items():
        prediction = given[name]
        for role, value in (("prediction", prediction), ("target", target)):
            if not isinstance(value, torch.Tensor):
                raise TypeError(f"{role} {name!r} is {value!r}, not a tensor")
        if prediction.shape[:1] != target.shape[:1]:
            raise ValueError(
                f"{name!r}: prediction {list(prediction.shape)} and target {list(target.shape)} differ in batch size"
            )
        pairs[name] = (prediction, target)
    return pairs


def _has_names(value: Any) -> bool:
    return hasattr(value, "keys") or hasattr(value, "_fields") or dataclasses.is_dataclass(value)


def _named(value: Any, role: str) -> dict[Any, Any]:
    if hasattr(value, "keys"):  # dict, UserDict, MappingProxyType, ModelOutput
        return {name: value[name] for name in value.keys()}  # noqa: SIM118  it need not be iterable
    if hasattr(value, "_fields"):
        return dict(zip(value._fields, value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    raise TypeError(
        f"{role} is a {type(value).__name__}; expected a mapping, a dataclass or a named tuple of tensors"
    )


def masked_mean(values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Mean of values where mask is true; refuses an empty selection and values that are not finite, inside the mask or out.

    Args:
        values: any shape, such as the loss of every element.
        mask: bool, broadcastable to values.

    A NaN that is masked out here still reaches the weights: its zero gradient is multiplied by the NaN input on the way
    back. Drop such rows before the model. Costs one read from the device.

    Raises:
        ValueError: nothing selected, or values that are not finite.
        TypeError: the mask is not bool.

    >>> masked_mean(torch.tensor([1.0, 5.0]), torch.tensor([True, False]))
    tensor(1.)
    """
    if mask.dtype != torch.bool:
        raise TypeError(f"mask is {mask.dtype}; expected torch.bool")
    mask = mask.expand_as(values)
    finite = values.isfinite()
    selected, inside, outside = torch.stack(
        [mask.sum(), (mask & ~finite).sum(), (~mask & ~finite).sum()]
    ).tolist()
    if selected == 0:
        raise ValueError(f"mean of nothing: the mask selects 0 of {values.numel()} values")
    if inside or outside:
        raise ValueError(
            f"{inside} values inside the mask and {outside} outside are not finite; drop those rows before the model"
        )
    # divided before it is summed, and in float32 or better: a sum overflows where its mean does not
    wide = values.to(torch.promote_types(values.dtype, torch.float32))
    mean = torch.where(mask, wide / selected, torch.zeros_like(wide)).sum()
    return mean.to(values.dtype) if values.is_floating_point() or values.is_complex() else mean


class RunningMean:
    """Weighted mean of scalars, kept without graphs and without waiting for the device; empty, it raises.

    >>> mean = RunningMean()
    >>> mean.update(torch.tensor(2.0), weight=3)
    >>> mean.update(6.0)
    >>> mean.compute()
    3.0
    >>> RunningMean().compute()
    Traceback (most recent call last):
    ValueError: mean of nothing: no value of any weight was added (is the loader empty?)
    """

    def __init__(self) -> None:
        self._sum: Any = 0.0
        self._weight = 0.0

    def update(self, value: torch.Tensor | float, weight: float = 1.0) -> None:
        """Adds a scalar. Raises ValueError when value is not one real number, or weight is negative or not finite."""
        if not 0 <= weight < float("inf"):
            raise ValueError(f"weight={weight!r}: expected a finite number, 0 or more")
        if isinstance(value, torch.Tensor):
            if value.numel() != 1 or value.is_complex():
                raise ValueError(
                    f"a value of {value.dtype} and shape {list(value.shape)}: expected one real number"
                )
            # float64 where the device has it: a float32 sum of many batches loses digits
            value = (
                value.detach()
                .reshape(())
                .to(torch.float32 if value.device.type == "mps" else torch.float64)
            )
        else:
            value = float(value)
        if weight:
            self._sum = self._sum + value * weight
            self._weight += weight

    def compute(self) -> float:
        """The mean so far. Raises ValueError when nothing (or nothing of any weight) was added."""
        if not self._weight:
            raise ValueError(
                "mean of nothing: no value of any weight was added (is the loader empty?)"
            )
        return float(self._sum) / self._weight


def check_gradients(model: torch.nn.Module, ignore: Iterable[str] = ()) -> None:
    """Raises unless every trainable parameter has a finite gradient that is not all zero. Call it after the first backward.

    Args:
        ignore: name patterns (fnmatch) of parameters that may go without, such as "*.k_proj.bias".

    "The loss is finite" and "the weights changed" prove nothing: weight decay moves weights on zero gradients. Costs one
    pass over the gradients and one read from the device.

    Raises:
        GradientError: names the parameters, by what they lack.
        ValueError: nothing is trainable.

    >>> model = torch.nn.Linear(2, 1)
    >>> model.weight.sum().backward()
    >>> check_gradients(model)
    Traceback (most recent call last):
    GradientError: no gradient: bias
    """
    patterns = [ignore] if isinstance(ignore, str) else list(ignore)
    trainable = {
        name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad
    }
    if not trainable:
        raise ValueError(f"{type(model).__name__} has no trainable parameter")
    checked = {
        name: p.grad
        for name, p in trainable.items()
        if not any(fnmatchcase(name, pattern) for pattern in patterns)
    }
    present = {name: gradient for name, gradient in checked.items() if gradient is not None}
    facts = []
    for gradient in present.values():
        values = gradient.coalesce().values() if gradient.is_sparse else gradient
        facts.append(torch.stack([values.isfinite().all(), (values != 0).any()]))
    home = facts[0].device if facts else None
    states = torch.stack([fact.to(home) for fact in facts]).tolist() if facts else []
    problems = {
        "no gradient": [name for name in checked if name not in present],
        "not finite": [name for name, (finite, _) in zip(present, states) if not finite],
        "all zero": [
            name for name, (finite, nonzero) in zip(present, states) if finite and not nonzero
        ],
    }
    if any(problems.values()):
        raise GradientError(
            "; ".join(f"{problem}: {_few(names)}" for problem, names in problems.items() if names)
        )


def _few(names: list[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
