# SPDX-License-Identifier: BSD-3-Clause
"""Learning rates and momenta that depend only on the step, not on earlier events.

Vendor this file: its only dependency is torch 1.13 or newer. It fixes the failures in
repros/schedulers whose `fix` key names a function in this file. Torch's schedulers multiply the
current rate, so an extra factor, at a milestone or on a resume, is never undone. There is no
replacement here for ReduceLROnPlateau, which depends on losses. Source of the failures:
https://github.com/pytorch/pytorch/blob/v2.13.0/torch/optim/lr_scheduler.py

>>> optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=8.0)
>>> schedule = sequence(linear(2, 0.5, 1), linear(3, 1, 1), lambda step: 0.5**step)
>>> scheduler, rates = ScheduleLR(optimizer, schedule), []
>>> for _ in range(8):
...     optimizer.step()
...     rates += scheduler.get_last_lr()
...     scheduler.step()
>>> rates
[4.0, 6.0, 8.0, 8.0, 8.0, 8.0, 4.0, 2.0]
"""

from __future__ import annotations

import functools
import math
import numbers
import operator
from typing import Any, Callable, Sequence

import torch

__all__ = ["Schedule", "ScheduleLR", "ScheduleMomentum", "cosine", "linear", "sequence"]


class Schedule(functools.partial):  # type: ignore[type-arg]
    """A function from the step to a factor of the learning rate, which can be plotted or pickled.

    The LambdaLR in torch accepts a Schedule too. Schedulers do not save the schedule itself: it is
    in the code, and the checkpoint contains the step.
    """

    @property
    def steps(self) -> int | None:
        """The number of steps in the schedule, or None if it never ends."""
        return self.args[0]  # type: ignore[no-any-return]


def linear(steps: int, start: float, end: float) -> Schedule:
    """A line from the factor `start` at step 0 to the factor `end` at step `steps`, then constant.

    For example, linear(100, 1, 1) keeps the rate unchanged for 100 steps. With 0 steps, the factor
    is `end`.

    Raises:
        TypeError, ValueError: steps is not an integer, a factor is not finite, or one of these
            numbers is negative.

    >>> [linear(4, 0, 1)(step) for step in range(6)]
    [0.0, 0.25, 0.5, 0.75, 1.0, 1.0]
    """
    return Schedule(_curve, _count(steps), _factor(start, "start"), _factor(end, "end"), False)


def cosine(steps: int, start: float, end: float) -> Schedule:
    """Like linear(), but along half a cosine wave.

    >>> [round(cosine(4, 1, 0)(step), 2) for step in range(6)]
    [1.0, 0.85, 0.5, 0.15, 0.0, 0.0]
    """
    return Schedule(_curve, _count(steps), _factor(start, "start"), _factor(end, "end"), True)


def sequence(*parts: Callable[[int], float]) -> Schedule:
    """Runs the parts one after another, each from its own step 0.

    Args:
        parts: linear(), cosine(), sequence() or any other functions of the step. Every part except
            the last needs an attribute `steps` with its number of steps.

    Raises:
        TypeError: a part is not callable, or its `steps` is not an integer.
        ValueError: there are no parts, a part before the last never ends, or `steps` is negative.

    >>> warmup_and_decay = sequence(linear(2, 0.5, 1), cosine(2, 1, 0.5))
    >>> [sequence(warmup_and_decay, linear(2, 0.5, 0))(step) for step in range(7)]
    [0.5, 0.75, 1.0, 0.75, 0.5, 0.25, 0.0]
    """
    if not parts or not all(map(callable, parts)):
        raise (TypeError if parts else ValueError)(
            f"expected functions from the step to a factor, got {parts!r}"
        )
    steps = [getattr(part, "steps", None) for part in parts]
    if None in steps[:-1]:
        n = steps.index(None)
        raise ValueError(
            f"part {n} of {len(parts)} has no end: {parts[n]!r}; set its attribute `steps`"
        )
    counts = [
        _count(each, f"steps of part {n}") for n, each in enumerate(steps) if each is not None
    ]
    return Schedule(_sequence, None if steps[-1] is None else sum(counts), parts)


class ScheduleLR(torch.optim.lr_scheduler.LambdaLR):
    """A scheduler whose rates depend only on the step. Call step() after optimizer.step().

    The learning rate of a group is its first rate times the factor at the step. The first rate is
    the group's "initial_lr", where the optimizer's first scheduler stores it, or else "lr".

    - A tensor learning rate is changed in place, in every torch release. If groups share a tensor,
      the first group keeps it, and every other group gets its own tensor.
    - The host waits for the device only in torch 2.4, whose own step() waits, and if a tensor was
      loaded as the first rate but "lr" is a float or on a different device.
    - To resume, call load_state_dict() before or after the optimizer loads its state. If there is
      no saved state of the scheduler, pass `step` after the optimizer has loaded its state.

    Args:
        schedule: any function from the step to a factor, or a list with a function for each group.
        step: the number of steps already taken.

    Raises:
        TypeError, ValueError: a schedule is not callable, the list does not have one function per
            group, or step is not a nonnegative integer; at any step, the factor is not a finite,
            nonnegative number, or a group was added. In these cases, the learning rates do not
            change.

    >>> optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=torch.tensor(1.0))
    >>> ScheduleLR(optimizer, cosine(10, 1, 0), step=5).get_last_lr()
    [tensor(0.5000)]
    """

    base_lrs: list[Any]

    def __init__(
        self,
        optimizer: torch.optim.Optimizer,
        schedule: Callable[[int], float] | Sequence[Callable[[int], float]],
        step: int = 0,
    ) -> None:
        groups, last_epoch = optimizer.param_groups, _count(step, "step") - 1
        schedules = _one_for_each(schedule, len(groups))
        for group in groups:
            # If "initial_lr" shared the tensor of "lr", it would change with every step
            # (pytorch#162359).
            group["initial_lr"] = _copy(group.get("initial_lr", group["lr"]))
        super().__init__(optimizer, schedules, last_epoch)

    def get_lr(self) -> list[Any]:
        """Returns each group's learning rate at this step, in the group's own tensor, if any."""
        groups, rates = self.optimizer.param_groups, self._rates(self.last_epoch, self.base_lrs)
        taken: set[int] = set()
        for group in groups:
            if id(group["lr"]) in taken:
                group["lr"] = _copy(group["lr"])
            taken.add(id(group["lr"]))
        # Before torch 2.4, step() replaces the old tensor with the returned tensor.
        return [_written(group["lr"], rate) for group, rate in zip(groups, rates)]

    def _rates(self, step: int, first: Sequence[Any]) -> list[Any]:
        return _products(self.optimizer.param_groups, self.lr_lambdas, first, step)

    def get_last_lr(self) -> list[Any]:
        """Returns the current learning rates. Tensors are copies that later steps do not change."""
        return [_copy(group["lr"]) for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """The step and the first learning rates, which torch.load(weights_only=True) can load."""
        nothing = [None] * len(self.lr_lambdas)  # in case LambdaLR loads the state
        return {
            "last_epoch": self.last_epoch,
            "base_lrs": list(map(_copy, self.base_lrs)),
            "lr_lambdas": nothing,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Sets the step, the first learning rates, and the learning rates that follow from them.

        The state may come from one of torch's own schedulers, which this schedule then replaces.

        Raises:
            KeyError, TypeError, ValueError: the argument is not a scheduler's state, the state is
                for different groups, or a factor is invalid. In these cases, nothing is loaded.
        """
        step = _count(state_dict["last_epoch"], "last_epoch")
        first = list(map(_copy, state_dict.get("base_lrs", self.base_lrs)))
        self._rates(step, first)  # raises before anything changes
        self.last_epoch, self.base_lrs = step, first
        for group, rate in zip(self.optimizer.param_groups, self.get_lr()):
            group["lr"] = rate


class ScheduleMomentum:
    """Like ScheduleLR, but for the momentum: group["momentum"], or the first of group["betas"].

    The momentum of a group is its first momentum times the factor at the step. The first momentum
    is the group's "initial_momentum", where the first ScheduleMomentum stores it. A
    ScheduleMomentum works together with any learning rate scheduler, because each of the two has
    its own state and its own step().

    Args:
        schedule: any function from the step to a factor, or a list with a function for each group.
        step: the number of steps already taken.

    Raises:
        TypeError, ValueError: as in ScheduleLR; a group has no momentum, or the momentum of all
            groups is 0; at any step, a momentum is 1 or more. In these cases, the momenta do not
            change.

    >>> optimizer = torch.optim.Adam([torch.nn.Parameter(torch.zeros(1))], betas=(0.5, 0.99))
    >>> scheduler = ScheduleMomentum(optimizer, linear(2, 1, 0.5))
    >>> for _ in range(2):
    ...     optimizer.step()
    ...     scheduler.step()
    >>> optimizer.param_groups[0]["betas"]
    (0.25, 0.99)
    """

    def __init__(
        self,
        optimizer: torch.optim.Optimizer,
        schedule: Callable[[int], float] | Sequence[Callable[[int], float]],
        step: int = 0,
    ) -> None:
        groups = optimizer.param_groups
        self.optimizer, self.last_step = optimizer, _count(step, "step")
        self.schedules = _one_for_each(schedule, len(groups))
        for n, group in enumerate(groups):
            if "momentum" not in group and "betas" not in group:
                raise ValueError(f"group {n} has no momentum and no betas, but {sorted(group)}")
        if not any(isinstance(each, torch.Tensor) or each > 0 for each in map(_momentum, groups)):
            raise ValueError(f"the momentum is {_momentum(groups[0])!r}, which no factor changes")
        first = [_copy(group.get("initial_momentum", _momentum(group))) for group in groups]
        self._set(self.last_step, first)

    def step(self) -> None:
        """Sets the momenta for the next step. Call step() after optimizer.step()."""
        self._set(self.last_step + 1, self.first)

    def get_last_momentum(self) -> list[Any]:
        """Returns the current momenta. Tensors are copies that later steps do not change."""
        return [_copy(_momentum(group)) for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """The step and the first momenta, which torch.load(weights_only=True) can load."""
        return {"last_step": self.last_step, "first": list(map(_copy, self.first))}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Sets the step, the first momenta, and the momenta that follow from them. You can call it
        before or after the optimizer loads its own state.

        Raises:
            KeyError, TypeError, ValueError: as in ScheduleLR. In these cases, nothing is loaded.
        """
        self._set(
            _count(state_dict["last_step"], "last_step"), list(map(_copy, state_dict["first"]))
        )

    def _set(self, step: int, first: list[Any]) -> None:
        groups = self.optimizer.param_groups
        momenta = _products(groups, self.schedules, first, step)
        for n, momentum in enumerate(momenta):
            if not isinstance(momentum, torch.Tensor) and momentum >= 1:
                raise ValueError(
                    f"the momentum of group {n} at step {step} is {momentum!r}, not below 1"
                )
        taken: set[int] = set()
        for group, momentum, initial in zip(groups, momenta, first):
            now = _momentum(group)
            now = _copy(now) if id(now) in taken else now
            taken.add(id(now))
            now = _written(now, momentum)
            group["initial_momentum"] = initial
            if "momentum" in group:
                group["momentum"] = now
            else:
                group["betas"] = (now, *group["betas"][1:])
        self.last_step, self.first = step, first


def _curve(steps: int, start: float, end: float, wave: bool, step: int) -> float:
    if step >= steps:
        return end
    done = step / steps
    return start + (end - start) * ((1 - math.cos(math.pi * done)) / 2 if wave else done)


def _sequence(steps: int | None, parts: Any, step: int) -> Any:
    for part in parts[:-1]:
        if step < part.steps:
            return part(step)
        step -= part.steps
    return parts[-1](step)


def _one_for_each(schedule: Any, count: int) -> list[Callable[[int], float]]:
    schedules = list(schedule) if isinstance(schedule, (list, tuple)) else [schedule] * count
    if len(schedules) != count or not all(map(callable, schedules)):
        raise (ValueError if len(schedules) != count else TypeError)(
            f"expected a function from the step to a factor, or a list of {count}, one "
            f"for each group of the optimizer; got {schedule!r}"
        )
    return schedules


def _products(groups: Any, schedules: Any, first: Sequence[Any], step: int) -> list[Any]:
    """The first values times the factors at this step, as new values."""
    if not len(groups) == len(first) == len(schedules):
        raise ValueError(
            f"the optimizer has {len(groups)} groups, the scheduler {len(first)}: make "
            f"another one for them, with step={step}"
        )
    return [
        base * _factor(schedule(step), f"factor at step {step}")
        for base, schedule in zip(first, schedules)
    ]


def _written(now: Any, value: Any) -> Any:
    """The value, written to the existing tensor if there is one."""
    if not isinstance(now, torch.Tensor):
        return float(value)
    # copy_() of a number would wait for the device
    return now.copy_(value) if isinstance(value, torch.Tensor) else now.fill_(value)


def _momentum(group: dict[str, Any]) -> Any:
    return group["momentum"] if "momentum" in group else group["betas"][0]


def _copy(rate: Any) -> Any:
    return rate.detach().clone() if isinstance(rate, torch.Tensor) else float(rate)


def _count(steps: Any, name: str = "steps") -> int:
    if not hasattr(type(steps), "__index__"):
        raise TypeError(f"{name}={steps!r}: expected a whole number of steps")
    if operator.index(steps) < 0:
        raise ValueError(f"{name}={steps!r}: expected a whole number of steps, 0 or more")
    return operator.index(steps)  # a NumPy number would end up in the checkpoint


def _factor(value: Any, name: str) -> float:
    if not isinstance(value, numbers.Real) or not 0 <= float(value) < math.inf:
        raise ValueError(f"{name}={value!r}: expected a finite number, 0 or more")
    return float(value)  # a NumPy number would end up in the checkpoint
