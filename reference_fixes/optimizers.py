# SPDX-License-Identifier: BSD-3-Clause
"""Optimizer states that are loaded as copies, and only where they fit.

Vendor this file: it needs torch 1.13 or newer and nothing else. Fixes what repros/optimizers
reproduces, other than what a newer torch fixes.
Source of the failure: https://github.com/pytorch/pytorch/issues/196083

>>> weight = torch.nn.Parameter(torch.zeros(2))
>>> source, copied = (torch.optim.SGD([weight], lr=1.0, momentum=0.9) for _ in range(2))
>>> weight.grad = torch.ones(2)
>>> source.step()
>>> load_optimizer_state(copied, source.state_dict())
>>> copied.step()  # with momentum 0.9 * 1 + 1
>>> [each.state[weight]["momentum_buffer"][0].item() for each in (source, copied)]
[1.0, 1.899999976158142]
"""

from __future__ import annotations

import copy
from typing import Any, Iterator, Mapping

import torch

__all__ = ["load_optimizer_state"]

# What torch's optimizers keep for each element of a parameter.
_PER_ELEMENT = (
    *("acc_delta", "ax", "exp_avg", "exp_avg_sq", "exp_inf", "grad_avg", "max_exp_avg_sq"),
    *("momentum_buffer", "prev", "square_avg", "step_size", "sum"),
)


def load_optimizer_state(optimizer: torch.optim.Optimizer, state: Mapping[str, Any]) -> None:
    """Loads a state, which shares nothing with its source, into an optimizer that it fits.

    Since 2.1 load_state_dict() keeps the tensors of the source, and a step of one optimizer changes
    the momentum of the other. It never looks at shapes: a fused optimizer then reads and writes
    beyond the end of a state that is too small. Here dtypes and devices are those that it gives.

    A learning rate that is a tensor stays that tensor, with the loaded value, so that a compiled
    step and whoever else holds it see the change. One that is a float stays a float: only if the
    loaded one is a tensor does the host wait for its device.

    Args:
        state: what state_dict() of an optimizer with the same parameters in the same order
            returned. It is left as it is.

    Raises:
        TypeError: this is not an optimizer's state, such as a checkpoint that holds one.
        ValueError: groups of other sizes; the same names in another order (both have names since
            2.6, if the optimizer was given named_parameters()); momentum or another value per
            element that has another shape than its parameter. Nothing was loaded then.

    >>> small, large = (torch.nn.Parameter(torch.zeros(size)) for size in (2, 3))
    >>> small.grad = torch.ones(2)
    >>> trained = torch.optim.Adam([small])
    >>> trained.step()
    >>> load_optimizer_state(torch.optim.Adam([large]), trained.state_dict())
    Traceback (most recent call last):
    ValueError: parameter 0 has shape [3], its exp_avg in the state [2]; ...
    """
    if not isinstance(state, Mapping) or not {"state", "param_groups"} <= set(state):
        held = f" of {list(state)}" if isinstance(state, Mapping) else ""
        raise TypeError(
            "expected what state_dict() of an optimizer returned, a dictionary of 'state' and "
            f"'param_groups'; got {type(state).__name__}{held}"
        )
    groups, saved = optimizer.param_groups, state["param_groups"]
    sizes, given = ([len(group["params"]) for group in each] for each in (groups, saved))
    if sizes != given:
        raise ValueError(
            f"the optimizer has groups of {sizes} parameters, the state of {given}: were the "
            "groups made in another way, or were parameters frozen or added?"
        )
    for problem in _problems(groups, saved, state["state"]):
        raise ValueError(
            f"{problem}; was the state saved for another model, or with its parameters in another "
            "order?"
        )
    rates = [group.get("lr") for group in groups]
    optimizer.load_state_dict(copy.deepcopy(dict(state)))
    for group, rate in zip(optimizer.param_groups, rates):
        loaded = group.get("lr")
        if isinstance(rate, torch.Tensor):
            rate.detach().copy_(torch.as_tensor(loaded, dtype=rate.dtype).reshape(rate.shape))
            group["lr"] = rate
        elif isinstance(loaded, torch.Tensor):
            group["lr"] = float(loaded)


def _problems(groups: Any, saved: Any, states: Mapping[Any, Any]) -> Iterator[str]:
    """What does not fit, parameter by parameter."""
    names, given = (_names(each) for each in (groups, saved))
    if sorted(names) == sorted(given):  # else renamed, as by torch.compile, or not known
        for n, (name, other) in enumerate(zip(names, given)):
            if name != other:
                yield f"parameter {n} ({name}) is {other} in the state"
    parameters = [parameter for group in groups for parameter in group["params"]]
    keys = [key for group in saved for key in group["params"]]
    for n, (parameter, key) in enumerate(zip(parameters, keys)):
        name = f"parameter {n}" + (f" ({names[n]})" if names else "")
        for kind, value in states.get(key, {}).items():
            shape = getattr(value, "shape", parameter.shape)
            if kind in _PER_ELEMENT and shape != parameter.shape:
                shapes = list(parameter.shape), list(shape)
                yield f"{name} has shape {shapes[0]}, its {kind} in the state {shapes[1]}"


def _names(groups: Any) -> list[str]:
    """The names of all parameters; none where torch is older than 2.6, or was not given them."""
    return [name for group in groups for name in group.get("param_names", ())]
