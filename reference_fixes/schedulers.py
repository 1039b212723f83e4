# SPDX-License-Identifier: BSD-3-Clause
"""Learning rates that depend on the step alone, whatever has happened before it.

Vendor this file: it needs torch 1.13 or newer and nothing else. Fixes what the reproducers of
repros/schedulers show that name it. torch's schedulers multiply the rate that they find: a factor
too many, at a milestone or on a resume, stays for good. ReduceLROnPlateau, which looks at losses,
has no replacement here.
Source of the failures: https://github.com/pytorch/pytorch/blob/v2.13.0/torch/optim/lr_scheduler.py

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

__all__ = ["Schedule", "ScheduleLR", "cosine", "linear", "sequence"]


class Schedule(functools.partial):  # type: ignore[type-arg]
    """A function from the step to a factor of the learning rate: call it, plot it, pickle it.

    torch's LambdaLR takes it too. No scheduler saves it: a schedule is in the code, and a
    checkpoint holds the step.
    """

    @property
    def steps(self) -> int | None:
        """How many steps it takes, or None if it does not end."""
        return self.args[0]  # type: ignore[no-any-return]


def linear(steps: int, start: float, end: float) -> Schedule:
    """In a line from the factor start at step 0 to the factor end at `steps`, where it stays.

    linear(100, 1, 1) holds the learning rate for 100 steps; of 0 steps, only the end is left.

    Raises:
        TypeError, ValueError: steps is not a whole number, a factor not a finite one, or below 0.

    >>> [linear(4, 0, 1)(step) for step in range(6)]
    [0.0, 0.25, 0.5, 0.75, 1.0, 1.0]
    """
    return Schedule(_curve, _count(steps), _factor(start, "start"), _factor(end, "end"), False)


def cosine(steps: int, start: float, end: float) -> Schedule:
    """As linear(), but in half a wave of the cosine.

    >>> [round(cosine(4, 1, 0)(step), 2) for step in range(6)]
    [1.0, 0.85, 0.5, 0.15, 0.0, 0.0]
    """
    return Schedule(_curve, _count(steps), _factor(start, "start"), _factor(end, "end"), True)


def sequence(*parts: Callable[[int], float]) -> Schedule:
    """One part after another, each from its own step 0.

    Args:
        parts: linear(), cosine(), sequence() or any other function of the step. All but the last
            have an attribute `steps`: how many they take.

    Raises:
        TypeError: a part cannot be called.
        ValueError: there is no part, or one that is not the last does not end.

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
    return Schedule(_sequence, None if steps[-1] is None else sum(steps), parts)


class ScheduleLR(torch.optim.lr_scheduler.LambdaLR):
    """A scheduler to be stepped after the optimizer, whose rates depend on the step alone.

    The learning rate of a group is its first one ("initial_lr" in the group, where the first
    scheduler of an optimizer keeps it, else "lr") times the factor at the step. A tensor is written
    in place, on every torch. The host waits for the device only in 2.4, whose step() does, and
    where a tensor was loaded as the first one while "lr" is a float or on another device.

    To resume, call load_state_dict(), before or after that of the optimizer. Without a state, give
    the step, after the optimizer has loaded its own.

    Args:
        schedule: any function from the step to a factor, or a list of one for each group.
        step: how many steps there were before.

    Raises:
        TypeError, ValueError: a schedule cannot be called, there is not one for each group, or step
            is not a whole number of 0 or more. At any step: the factor is not a finite number of 0
            or more, or a group was added.

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
        schedules = schedule if isinstance(schedule, (list, tuple)) else [schedule] * len(groups)
        if len(schedules) != len(groups) or not all(map(callable, schedules)):
            raise (ValueError if len(schedules) != len(groups) else TypeError)(
                f"expected a function from the step to a factor, or a list of {len(groups)}, one "
                f"for each group of the optimizer; got {schedule!r}"
            )
        for group in groups:
            # A tensor that "lr" shares would change with every step (pytorch#162359).
            group["initial_lr"] = _copy(group.get("initial_lr", group["lr"]))
        super().__init__(optimizer, list(schedules), last_epoch)

    def get_lr(self) -> list[Any]:
        """The learning rate of each group at this step, in the group's own tensor if it has one."""
        groups, step = self.optimizer.param_groups, self.last_epoch
        if len(groups) != len(self.base_lrs):
            raise ValueError(
                f"the optimizer has {len(groups)} groups, the scheduler {len(self.base_lrs)}: make "
                f"another one for them, with step={step}"
            )
        rates: list[Any] = []
        for group, base, schedule in zip(groups, self.base_lrs, self.lr_lambdas):
            rate, lr = base * _factor(schedule(step), f"factor at step {step}"), group["lr"]
            if not isinstance(lr, torch.Tensor):
                rates.append(float(rate))
            # Before 2.4, step() itself puts a new tensor in the place of the old one.
            elif isinstance(rate, torch.Tensor):
                rates.append(lr.copy_(rate))
            else:  # not copy_(), which would wait for the device
                rates.append(lr.fill_(rate))
        return rates

    def get_last_lr(self) -> list[Any]:
        """The learning rate of each group now. Tensors are copies, which the next step leaves."""
        return [_copy(group["lr"]) for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """The step and the first learning rates, which torch.load(weights_only=True) takes."""
        nothing = [None] * len(self.lr_lambdas)  # for LambdaLR, should it load the state
        return {"last_epoch": self.last_epoch, "base_lrs": self.base_lrs, "lr_lambdas": nothing}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Sets the step and the first learning rates, and the learning rates that follow.

        The state may be that of another scheduler of torch, which the schedule takes over from.
        """
        self.last_epoch = state_dict["last_epoch"]
        self.base_lrs = list(state_dict.get("base_lrs", self.base_lrs))
        for group, rate in zip(self.optimizer.param_groups, self.get_lr()):
            group["lr"] = rate


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


def _copy(rate: Any) -> Any:
    return rate.detach().clone() if isinstance(rate, torch.Tensor) else rate


def _count(steps: Any, name: str = "steps") -> int:
    if operator.index(steps) < 0:
        raise ValueError(f"{name}={steps!r}: expected a whole number of steps, 0 or more")
    return operator.index(steps)


def _factor(value: Any, name: str) -> float:
    if not isinstance(value, numbers.Real) or not 0 <= float(value) < math.inf:
        raise ValueError(f"{name}={value!r}: expected a finite number, 0 or more")
    return float(value)  # NumPy's would end up in the checkpoint
