# SPDX-License-Identifier: BSD-3-Clause
"""Raises errors for targets without predictions, for means of no values, and for missing gradients.

Vendor this file: its only dependency is torch 1.13 or newer. It fixes the failures in repros/loss
whose `fix` key names a function in this file.

>>> model = torch.nn.Linear(3, 1)
>>> optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
>>> loader = [(torch.ones(2, 3), {"price": torch.tensor([[1.0], [float("nan")]])})] * 4
>>> epoch = RunningMean()
>>> for x, targets in loader:
...     optimizer.zero_grad()
...     prediction, target = match_by_name({"price": model(x), "features": x}, targets)["price"]
...     known = target.isfinite()
...     error = prediction - torch.where(known, target, 0)
...     loss = masked_mean(error.square(), known)
...     loss.backward()
...     check_gradients(model)
...     optimizer.step()
...     epoch.update(loss, weight=known.sum())
>>> type(epoch.compute())
<class 'float'>
"""

from __future__ import annotations

import dataclasses
import math
from fnmatch import fnmatchcase
from typing import Any, Callable, Iterable, Iterator, Mapping

import torch

__all__ = [
    "GradientError",
    "RunningMean",
    "SameShapeLoss",
    "check_gradients",
    "masked_mean",
    "match_by_name",
]


class GradientError(RuntimeError):
    """Some trainable parameters did not get the gradients that training requires."""


def match_by_name(
    predictions: Any, targets: Any, batch_first: bool = True
) -> dict[Any, tuple[torch.Tensor, torch.Tensor]]:
    """Pairs each target with the prediction of the same name: {name: (prediction, target)}.

    Args:
        predictions: a mapping, a dataclass or a named tuple of tensors. Predictions without a
            target, such as features or attentions, are omitted.
        targets: a container of tensors, as for predictions. Each target needs a prediction.
        batch_first: True if the first dimension of both is the batch; its size must then be the
            same in both. Pass False for CTC's [time, batch, class] and for flattened tokens.

    Raises:
        LookupError: a target has no prediction, or there are no targets. If the name occurs in a
            nested container, the error says where.
        TypeError: a prediction or a target is not a tensor, or the values in an argument have no
            names.
        ValueError: a prediction has no graph although gradients are enabled; the batch sizes
            differ; or the shapes would broadcast to a shape larger than both, as [8, 1] and [8] do.

    >>> outputs = {"heads": {"price": torch.ones(2)}, "features": torch.ones(2, 8)}
    >>> match_by_name(outputs, {"price": torch.zeros(2)})
    Traceback (most recent call last):
    LookupError: predictions lack ['price']; got ['heads', 'features']; predictions['heads'] has ['price']
    """
    given, wanted = _by_name(predictions), _by_name(targets)
    if given is None or wanted is None:
        role, value = ("predictions", predictions) if given is None else ("targets", targets)
        raise TypeError(
            f"{role} is a {type(value).__name__}; expected a mapping, a dataclass or a named tuple "
            "of tensors"
        )
    if not wanted:
        raise LookupError("no targets: a loss over nothing would be zero or NaN")
    missing = [name for name in wanted if name not in given]
    if missing:
        hints = _holders(predictions, missing, "predictions")
        raise LookupError("; ".join([f"predictions lack {missing}", f"got {list(given)}", *hints]))
    pairs = {name: (given[name], target) for name, target in wanted.items()}
    for name, pair in pairs.items():
        for role, value in zip(("prediction", "target"), pair):
            if not isinstance(value, torch.Tensor):
                raise TypeError(f"{role} {name!r} is {value!r}, not a tensor")
        shapes = [value.shape for value in pair]
        both = f"{name!r}: prediction {list(shapes[0])} and target {list(shapes[1])}"
        if torch.is_grad_enabled() and not pair[0].requires_grad:
            raise ValueError(
                f"prediction {name!r} {list(shapes[0])} has no graph, so its loss would train "
                "nothing: do not detach it, or evaluate under torch.no_grad()"
            )
        if batch_first and shapes[0][:1] != shapes[1][:1]:
            raise ValueError(
                f"{both} differ in batch size; pass batch_first=False where the batch is not first"
            )
        try:
            together = torch.broadcast_shapes(*shapes)
        except RuntimeError:
            continue  # no elementwise loss accepts these shapes; others may, or torch raises
        if together not in shapes:
            raise ValueError(f"{both} would broadcast to {list(together)}: reshape one of them")
    return pairs


def _by_name(value: Any) -> dict[Any, Any] | None:
    """The items of a value by name, or None if they have no names."""
    if isinstance(value, type):
        return None
    if hasattr(value, "keys"):  # dict, UserDict, MappingProxyType, ModelOutput, TensorDict
        return {name: value[name] for name in value.keys()}  # noqa: SIM118  it need not be iterable
    if hasattr(value, "_fields"):
        return dict(zip(value._fields, value))
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return None


def _holders(value: Any, names: list[Any], path: str, depth: int = 5) -> Iterator[str]:
    """The places in the value where some of the names occur. `depth` guards against cycles."""
    inside = _by_name(value)
    held = [name for name in names if name in inside] if inside else []
    if held:
        yield f"{path} has {held}"
    if inside is None and isinstance(value, (list, tuple)):
        inside = dict(enumerate(value))
    if inside and depth:
        for key, item in inside.items():
            yield from _holders(item, names, f"{path}[{key!r}]", depth - 1)


class SameShapeLoss(torch.nn.Module):
    """Wraps an elementwise loss, such as torch.nn.MSELoss() or F.l1_loss, and refuses to broadcast.

    With an input of shape [4, 1] and a target of shape [4], these losses compare all 16 pairs, and
    torch only warns. If the shapes agree, returns the result of the wrapped loss. If the loss is a
    module, it becomes a submodule, so to() moves its weights.

    Args:
        loss: a module or function that takes an input and a target.

    Raises:
        TypeError: the loss is not callable, or it is a class, as in
            SameShapeLoss(torch.nn.MSELoss).

    >>> loss = SameShapeLoss(torch.nn.MSELoss())
    >>> loss(torch.ones(4, 1), torch.zeros(4, 1))
    tensor(1.)
    >>> loss(torch.ones(4, 1), torch.zeros(4))
    Traceback (most recent call last):
    ValueError: input [4, 1] and target [4] differ in shape: pass target.unsqueeze(1) or input.squeeze(1)
    """

    def __init__(self, loss: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        if not callable(loss) or isinstance(loss, type):
            raise TypeError(f"loss is {loss!r}; expected a module or a function")
        self.loss = loss

    def forward(
        self, input: torch.Tensor, target: torch.Tensor, *args: Any, **kwargs: Any
    ) -> torch.Tensor:
        """Returns the loss of two tensors of the same shape.

        Args:
            input: the prediction, of any shape.
            target: a tensor of the same shape.
            args, kwargs: further arguments for the loss.

        Raises:
            TypeError: input or target is not a tensor.
            ValueError: the shapes differ. If they differ only by one dimension of size 1, the error
                says what to pass.
        """
        for role, value in (("input", input), ("target", target)):
            if not isinstance(value, torch.Tensor):
                raise TypeError(f"{role} is {value!r}, not a tensor")
        if input.shape != target.shape:
            given, wanted = list(input.shape), list(target.shape)
            raise ValueError(
                f"input {given} and target {wanted} differ in shape{_remedy(given, wanted)}"
            )
        return self.loss(input, target, *args, **kwargs)


def _remedy(given: list[int], wanted: list[int]) -> str:
    """Suggests calls that make the shapes equal, if they differ by one dimension of size 1."""
    (short, few), (long, many) = sorted(
        (("input", given), ("target", wanted)), key=lambda each: len(each[1])
    )
    for place in reversed(range(len(many))):
        if many[place] == 1 and many[:place] + many[place + 1 :] == few:
            return f": pass {short}.unsqueeze({place}) or {long}.squeeze({place})"
    return ""


def masked_mean(values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Returns the mean of the values where the mask is True, in their dtype (float32 for integers).

    Args:
        values: a tensor of any shape, such as a loss per element.
        mask: a bool tensor that broadcasts to the shape of values.

    Even if a NaN is masked out here, it still reaches the weights, because backward() multiplies
    its zero gradient by NaN. If the values have a graph, the values outside the mask therefore have
    to be finite too. Each call reads from the device once, which vmap does not allow.

    Raises:
        ValueError: nothing is selected, or values are not finite.
        TypeError: the mask is not bool.

    >>> masked_mean(torch.tensor([1.0, 5.0]), torch.tensor([True, False]))
    tensor(1.)
    """
    if mask.dtype != torch.bool:
        raise TypeError(f"mask is {mask.dtype}; expected torch.bool")
    mask = mask.expand_as(values)
    infinite = ~values.isfinite()
    selected, inside, outside = torch.stack(
        [mask.sum(), (infinite & mask).sum(), (infinite & ~mask).sum()]
    ).tolist()
    if selected == 0:
        raise ValueError(f"mean of nothing: the mask selects 0 of {values.numel()} values")
    if inside:
        raise ValueError(f"{inside} of {selected} values inside the mask are not finite")
    if outside and values.requires_grad and torch.is_grad_enabled():
        raise ValueError(
            f"{outside} values outside the mask are not finite, and would make gradients NaN: "
            "replace missing targets before the loss, torch.where(mask, target, 0), and drop rows "
            "with such inputs before the model"
        )
    # divide before summing, in float32 or better: the sum may overflow even if the mean does not
    wide = values.to(torch.promote_types(values.dtype, torch.float32))
    mean = torch.where(mask, wide / selected, torch.zeros_like(wide)).sum()
    return mean.to(values.dtype) if values.is_floating_point() or values.is_complex() else mean


class RunningMean:
    """A weighted mean of numbers that keeps no graphs and does not wait for the device.

    It contains only the numbers that were added in its own process. To merge the means of all
    processes, gather them in one process, for example with torch.distributed.all_gather_object().
    torchmetrics.MeanMetric does this automatically.

    >>> mean = RunningMean()
    >>> mean.update(torch.tensor(2.0), weight=torch.tensor(3))
    >>> mean.update(6.0)
    >>> mean.compute()
    3.0
    """

    def __init__(self) -> None:
        self._sum: Any = 0.0
        self._weight: Any = 0.0

    def update(self, value: torch.Tensor | float, weight: torch.Tensor | float = 1.0) -> None:
        """Adds a number. A number with weight 0 does not count, even if it is NaN.

        Args:
            value: a number or a tensor with one element. NaN makes the mean NaN.
            weight: a finite number of at least 0, or a tensor with one such element, for example
                the number of values that `value` summarizes.

        Raises:
            TypeError, ValueError: value or weight is not a single real number.
            ValueError: weight is out of range. For a weight on an accelerator, compute() raises
                this error instead.
        """
        value, weight = _scalar("value", value), _scalar("weight", weight)
        if isinstance(weight, torch.Tensor):
            weight = weight.masked_fill(~(weight >= 0), math.nan)
            term = (value * weight).masked_fill(weight == 0, 0.0)
        elif 0 <= weight < math.inf:
            term = value * weight if weight else 0.0
        else:
            raise ValueError(f"weight={weight!r}: expected a finite number, 0 or more")
        self._sum = _plus(self._sum, term)
        self._weight = _plus(self._weight, weight)

    def merge(self, other: RunningMean) -> None:
        """Adds all the numbers of another mean, which does not change.

        Args:
            other: a RunningMean from another worker, rank or device.

        Raises:
            TypeError: other is not a RunningMean.

        >>> first, second = RunningMean(), RunningMean()
        >>> first.update(2.0, weight=3)
        >>> second.update(6.0)
        >>> first.merge(second)
        >>> first.compute()
        3.0
        """
        if not isinstance(other, RunningMean):
            raise TypeError(f"other is a {type(other).__name__}: expected a RunningMean")
        self._sum = _plus(self._sum, other._sum)
        self._weight = _plus(self._weight, other._weight)

    def compute(self) -> float:
        """Returns the mean so far.

        Raises:
            ValueError: no value with a nonzero weight has been added, or a weight was out of range.
        """
        weight = float(self._weight)
        if not math.isfinite(weight):
            raise ValueError(f"weights of {weight} in all: each has to be finite, 0 or more")
        if not weight:
            raise ValueError(
                "mean of nothing: no value of any weight was added (is the loader empty?)"
            )
        return float(self._sum) / weight

    def state_dict(self) -> dict[str, float]:
        """Returns the sum and the weight so far, as two numbers. The call waits for the device."""
        return {"sum": float(self._sum), "weight": float(self._weight)}

    def load_state_dict(self, state_dict: Mapping[str, float]) -> None:
        """Continues from a state, and discards the numbers that were added before.

        Raises:
            TypeError, ValueError: the argument is not a state of this class. In this case, nothing
                is loaded.

        >>> mean, again = RunningMean(), RunningMean()
        >>> mean.update(2.0, weight=3)
        >>> again.load_state_dict(mean.state_dict())
        >>> again.compute()
        2.0
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"state_dict={state_dict!r}: expected what state_dict() returned")
        if set(state_dict) != {"sum", "weight"}:
            raise ValueError(f"a state of {list(state_dict)}: expected ['sum', 'weight']")
        total, weight = _scalar("sum", state_dict["sum"]), _scalar("weight", state_dict["weight"])
        if weight < 0:
            raise ValueError(f"weight={weight!r}: expected 0 or more")
        self._sum, self._weight = total, weight


def _plus(total: Any, more: Any) -> Any:
    """The sum on the device of `total`. Torch cannot add tensors on different accelerators."""
    both = isinstance(total, torch.Tensor) and isinstance(more, torch.Tensor)
    return total + (more.to(total) if both else more)


def _scalar(role: str, value: Any) -> Any:
    """The value as a float or, on an accelerator, as a detached 0-d tensor, to avoid a wait."""
    if isinstance(value, (str, bytes, bytearray)):
        raise TypeError(f"{role}={value!r}: expected one real number")  # float("2") is 2.0
    if not isinstance(value, torch.Tensor):
        return float(value)
    if value.numel() != 1 or value.is_complex():
        raise ValueError(
            f"a {role} of {value.dtype} and shape {list(value.shape)}: expected one real number"
        )
    value = value.detach().reshape(())
    if value.device.type == "cpu":
        return float(value)
    # float64 if the device supports it, because a float32 sum over many batches loses digits
    return value.to(torch.float32 if value.device.type == "mps" else torch.float64)


def check_gradients(
    model: torch.nn.Module, ignore: Iterable[str] = (), scaled: bool = False
) -> None:
    """Raises an error unless every trainable parameter has a finite gradient that is not all zero.

    Args:
        ignore: fnmatch patterns for the parameters that need no gradient. They are compared with
            the names in model.named_parameters(). Examples are "*.k_proj.bias", and the names of
            experts that a batch does not reach.
        scaled: True if a GradScaler is in use. The scaler skips steps with inf or NaN gradients,
            so such gradients pass the check.

    Call check_gradients() after backward(), or let the optimizer call it (torch 2.0 or newer):
    optimizer.register_step_pre_hook(lambda *_: check_gradients(model)). If nothing is wrong, the
    check reads from the device only once. Do not check whether the weights change instead, because
    weight decay changes weights even if the gradients are zero.

    A weight that is all zero (such as LoRA's B, or the last gamma of a residual branch) blocks the
    gradients behind it. As long as this weight gets a gradient itself, zero gradients pass the
    check, so check again later.

    Raises:
        GradientError: a gradient is missing, not finite, or all zero. The message names the
            parameters.
        ValueError: there is nothing to check.

    >>> model = torch.nn.Linear(2, 1)
    >>> model.weight.sum().backward()
    >>> check_gradients(model)
    Traceback (most recent call last):
    GradientError: no gradient: bias
    """
    patterns = [ignore] if isinstance(ignore, str) else list(ignore)
    checked = {
        name: parameter
        for name, parameter in model.named_parameters()
        if parameter.requires_grad
        and parameter.numel()
        and not any(fnmatchcase(name, pattern) for pattern in patterns)
    }
    if not checked:
        raise ValueError(
            f"{type(model).__name__} has no trainable parameter that is neither empty nor in "
            f"ignore={patterns}"
        )
    present = {name: p.grad for name, p in checked.items() if p.grad is not None}
    facts = []
    for gradient in present.values():
        values = gradient.coalesce().values() if gradient.is_sparse else gradient
        facts.append(torch.stack([_count(~values.isfinite()), _count(values != 0)]))
    home = facts[0].device if facts else None
    states = torch.stack([fact.to(home) for fact in facts]).tolist() if facts else []
    zero = [name for name, (_, nonzero) in zip(present, states) if not nonzero]
    # a bias is often zero at first but, because it is added, it blocks no gradients
    weights = [name for name in present if name not in zero and "bias" not in name.split(".")[-1]]
    if zero and any(not _count(checked[name] != 0) for name in weights):
        zero.clear()
    problems = {
        "no gradient": [name for name in checked if name not in present],
        "not finite": [
            name for name, (nonfinite, _) in zip(present, states) if nonfinite and not scaled
        ],
        "all zero": zero,
    }
    if any(problems.values()):
        raise GradientError(
            "; ".join(f"{problem}: {_few(names)}" for problem, names in problems.items() if names)
        )


def _count(facts: torch.Tensor) -> torch.Tensor:
    """Counts true values on all ranks. With old DTensors, any() and all() fail or are wrong."""
    count = facts.sum()
    return count.full_tensor() if hasattr(count, "full_tensor") else count


def _few(names: list[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
