# SPDX-License-Identifier: BSD-3-Clause
"""Optimizer states that are loaded as copies, and only where they fit, and a check that optimizers
and model hold the same parameters.

Vendor this file: it needs torch 1.13 or newer and nothing else. Fixes what the reproducers of
repros/optimizers show that name it.
Sources of the failures: https://github.com/pytorch/pytorch/issues/196083,
https://github.com/pytorch/pytorch/issues/14467

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

__all__ = ["check_parameters", "load_optimizer_state"]

# What torch's optimizers keep for each element of a parameter.
_PER_ELEMENT = (
    *("acc_delta", "ax", "exp_avg", "exp_avg_sq", "exp_inf", "grad_avg", "max_exp_avg_sq"),
    *("momentum_buffer", "prev", "square_avg", "step_size", "sum"),
)

_SHOWN = 5  # parameters of each problem in an error


def check_parameters(model: torch.nn.Module, *optimizers: torch.optim.Optimizer) -> None:
    """Raises unless the optimizers, together, hold what the model trains, each parameter once.

    An optimizer holds parameters, not their model. One that was built before a layer was replaced
    goes on with those of the old layer, and a layer that no group lists stays as it is, without
    an error. Call this before the first step, and again after a change of the model.

    Frozen parameters may be held or not. A weight that layers share counts once. A model that is
    wrapped, by DistributedDataParallel or torch.compile, has the same parameters. Those of
    fully_shard() are others: the optimizer is built after it, and this is called between steps,
    since from forward to backward the model holds unsharded ones. An optimizer of copies, as of
    master weights, holds none of the model's.

    Args:
        model: what is trained; several modules, as a model and a loss with weights, go into a
            torch.nn.ModuleList.
        optimizers: one or more.

    Raises:
        TypeError: the model is no module, or no optimizer was given, or something else as one.
        ValueError: a parameter of the model that requires a gradient is in no optimizer; an
            optimizer holds one that the model does not have; one is listed twice, in an optimizer
            or in two. The text has the names, the shapes, and the positions over all groups.

    >>> model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
    >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    >>> check_parameters(model, optimizer)
    >>> model[1] = torch.nn.Linear(2, 3, bias=False)
    >>> check_parameters(model, optimizer)
    Traceback (most recent call last):
    ValueError: in no optimizer: 1.weight [3, 2]; held, and not in the model: parameter 2 [2, 2], ...
    """
    if not isinstance(model, torch.nn.Module):
        raise TypeError(
            f"expected a torch.nn.Module, got {type(model).__name__}; several modules go into a "
            "torch.nn.ModuleList"
        )
    if not optimizers:
        raise TypeError("expected one optimizer or more, got none")
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    held: dict[int, str] = {}
    stale, twice = [], []
    for number, optimizer in enumerate(optimizers):
        groups = getattr(optimizer, "param_groups", None)
        if not isinstance(groups, list):
            raise TypeError(f"expected an optimizer, got {type(optimizer).__name__}")
        parameters = [parameter for group in groups for parameter in group["params"]]
        given = _names(groups)
        if len(given) != len(parameters):  # some were put into a group or taken out by hand
            given = []
        for n, parameter in enumerate(parameters):
            where = f"parameter {n}" + (f" ({given[n]})" if given else "")
            where += f" of optimizer {number}" if len(optimizers) > 1 else ""
            key = id(parameter)
            if key not in names:
                stale.append(f"{where} {_shape(parameter)}")
            elif key in held:
                twice.append(f"{names[key]} {_shape(parameter)} as {held[key]} and as {where}")
            held.setdefault(key, where)
    missing = [
        f"{name} {_shape(parameter)}"
        for name, parameter in model.named_parameters()
        if parameter.requires_grad and id(parameter) not in held
    ]
    problems = [
        f"{title}: {', '.join(found[:_SHOWN])}"
        + (f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else "")
        for title, found in (
            ("in no optimizer", missing),
            ("held, and not in the model", stale),
            ("listed twice", twice),
        )
        if found
    ]
    if problems:
        raise ValueError(
            f"{'; '.join(problems)}; was the optimizer built before the model changed, or a group "
            "left out?"
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
            if isinstance(loaded, torch.Tensor):
                rate.detach().copy_(loaded.reshape(rate.shape))
            else:  # not copy_(), which would wait for the device
                rate.detach().fill_(float(loaded))
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


def _shape(parameter: torch.Tensor) -> str:
    lazy = torch.nn.parameter.is_lazy(parameter)  # it has no shape yet
    return "[not initialized]" if lazy else str(list(parameter.shape))


def _names(groups: Any) -> list[str]:
    """The names of all parameters; none where torch is older than 2.6, or was not given them."""
    return [name for group in groups for name in group.get("param_names", ())]
