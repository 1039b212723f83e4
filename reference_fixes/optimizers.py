# SPDX-License-Identifier: BSD-3-Clause
"""Loads copies of optimizer states, but only if they fit, and checks that the optimizers and the
model have the same parameters.

Vendor this file: its only dependency is torch 1.13 or newer. It fixes the failures in
repros/optimizers whose `fix` key names a function in this file. Sources of the failures:
https://github.com/pytorch/pytorch/issues/196083, https://github.com/pytorch/pytorch/issues/14467

>>> weight = torch.nn.Parameter(torch.zeros(2))
>>> source, copied = (torch.optim.SGD([weight], lr=1.0, momentum=0.9) for _ in range(2))
>>> weight.grad = torch.ones(2)
>>> source.step()
>>> load_optimizer_state(copied, source.state_dict())
>>> copied.step()  # its momentum is 0.9 * 1 + 1
>>> [each.state[weight]["momentum_buffer"][0].item() for each in (source, copied)]
[1.0, 1.899999976158142]
"""

from __future__ import annotations

import contextlib
import copy
import inspect
from typing import Any, Iterator, Mapping

import torch

__all__ = ["check_parameters", "load_optimizer_state"]

_SHOWN = 5  # maximum number of parameters that an error lists per problem


def check_parameters(model: torch.nn.Module, *optimizers: torch.optim.Optimizer) -> None:
    """Raises an error unless the optimizers together have each trainable parameter exactly once.

    An optimizer refers to parameters, not to their model. If it was built before a layer was
    replaced, it continues to train the old layer's parameters, and a layer that is in no parameter
    group is never trained. Neither case raises an error. Call check_parameters() before the first
    step, and again whenever the model changes.

    Optimizers may include or omit frozen parameters. A weight that is shared by several layers
    counts once. A model that is wrapped by DistributedDataParallel or torch.compile has the same
    parameters as before. After fully_shard(), the model has different parameters, so build the
    optimizer afterwards, and call check_parameters() between steps, because the model has unsharded
    parameters between forward and backward. An optimizer of copies, such as master weights, does
    not have the parameters of the model.

    Args:
        model: the module to train. Put several modules, such as a model and a loss with weights,
            into a torch.nn.ModuleList.
        optimizers: one or more optimizers.

    Raises:
        TypeError: the model is not a module, no optimizer is given, or an argument is not an
            optimizer.
        ValueError: a parameter of the model that requires a gradient is not in any optimizer; an
            optimizer has a parameter that the model does not have; or a parameter is listed twice,
            in one optimizer or in two. The message gives the names, the shapes, and the positions
            counted over all groups.

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
        if len(given) != len(parameters):  # parameters were added to a group or removed by hand
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
    """Loads a copy of a state into an optimizer, but only if the state fits.

    Since torch 2.1, load_state_dict() keeps references to the tensors in the given state. If the
    state comes from another optimizer, a step of either optimizer changes the momentum of both.
    The method never checks shapes, so a fused optimizer reads and writes beyond the end of a state
    that is too small. Nor does it check the kind of state: it loads a state of SGD into Adam,
    whose next step raises KeyError. Dtypes and devices are handled as in load_state_dict().

    A state fits:

    - an optimizer of torch or a subclass, if each group has the options that the class requires,
      and each parameter's state, if any, has the entries that a step with these options creates,
      with the same shapes (to find these entries, a step runs on substitutes on the meta device,
      which take no memory);
    - any other optimizer, if each entry that has the shape of its parameter in the optimizer also
      has this shape in the state.

    A tensor learning rate remains the same tensor and receives the loaded value, so a compiled step
    and other code that refers to the tensor see the change. If groups share a tensor and their
    loaded values differ, only the first group keeps the tensor. A float learning rate remains a
    float, and the host waits for the device only if the loaded rate is a tensor.

    Args:
        state: the state_dict() of an optimizer with the same parameters in the same order. It is
            not modified.

    Raises:
        TypeError: the argument is not an optimizer's state (for example, a checkpoint that contains
            one).
        ValueError: the group sizes differ; the same names are in a different order (from torch 2.6
            on, both sides have names if the optimizers were built from named_parameters()); the
            state does not fit, as defined above; or a learning rate has several elements. In all
            these cases, nothing is loaded.

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
    for problem in _problems(optimizer, saved, state["state"]):
        raise ValueError(
            f"{problem}; was the state saved for another model or optimizer, or with its "
            "parameters in another order?"
        )
    rates = list(_rates(groups, saved))
    optimizer.load_state_dict(copy.deepcopy(dict(state)))
    for group, (rate, loaded) in zip(optimizer.param_groups, rates):
        if isinstance(rate, torch.Tensor):
            if isinstance(loaded, torch.Tensor):
                rate.detach().copy_(loaded.detach().reshape(rate.shape))
            else:  # copy_() would wait for the device
                rate.detach().fill_(loaded)
        if rate is not None:
            group["lr"] = rate


def _rates(groups: Any, saved: Any) -> Iterator[tuple[Any, Any]]:
    """Yields the learning rate of each group, and the value to write to it if it is a tensor."""
    first: dict[int, Any] = {}
    for n, (group, other) in enumerate(zip(groups, saved)):
        rate, loaded = group.get("lr"), other.get("lr")
        if rate is None or loaded is None:
            yield None, None
            continue
        if not isinstance(loaded, torch.Tensor):
            loaded = float(loaded)
        elif loaded.numel() != 1:
            raise ValueError(
                f"group {n} of the state has a learning rate of shape {list(loaded.shape)}, not a "
                "number"
            )
        if not isinstance(rate, torch.Tensor):
            yield float(loaded), None
            continue
        before = first.setdefault(id(rate), loaded)
        tensors = isinstance(before, torch.Tensor) or isinstance(loaded, torch.Tensor)
        same = before is loaded if tensors else before == loaded
        yield rate if same else rate.detach().clone(), loaded


def _problems(optimizer: Any, saved: Any, states: Mapping[Any, Any]) -> Iterator[str]:
    """Yields a sentence for each problem, parameter by parameter."""
    groups = optimizer.param_groups
    names, given = (_names(each) for each in (groups, saved))
    if sorted(names) == sorted(given):  # otherwise unknown, or renamed (torch.compile)
        for n, (name, other) in enumerate(zip(names, given)):
            if name != other:
                yield f"parameter {n} ({name}) is {other} in the state"
    kind = _torchs_own(type(optimizer))
    layouts: list[Mapping[str, Any]] = []
    for n, (group, other) in enumerate(zip(groups, saved)):
        if kind is None:
            layouts += [_per_element(optimizer, each) for each in group["params"]]
            continue
        missing, found = _layouts(kind, group, other)
        if missing:
            yield (
                f"group {n} of the state has no {', '.join(missing)}, which {kind.__name__} needs; "
                f"it has {', '.join(key for key in other if key != 'params')}"
            )
        layouts += found
    parameters = [parameter for group in groups for parameter in group["params"]]
    keys = [key for group in saved for key in group["params"]]
    if kind is torch.optim.LBFGS:  # stores the state of all parameters under the first
        yield from _other_length(parameters, [states.get(key) for key in keys])
    for n, (parameter, key, layout) in enumerate(zip(parameters, keys, layouts)):
        name = f"parameter {n}" + (f" ({names[n]})" if names else "")
        state = states.get(key)
        if not isinstance(state, Mapping) or not state:
            continue  # the parameter had no gradient yet
        missing = [each for each in layout if each not in state]
        if missing and kind is not None and _step(type(optimizer)) is _step(kind):
            yield (
                f"{name} has no {', '.join(missing)} in the state, which {kind.__name__} keeps; "
                f"it has {', '.join(map(str, state))}"
            )
        for each, expected in layout.items():
            value = state.get(each)
            if not isinstance(expected, torch.Tensor) or not isinstance(value, torch.Tensor):
                continue
            if value.shape != expected.shape and not value.numel() == expected.numel() == 1:
                shapes = list(parameter.shape), list(value.shape)
                needs = "" if expected.shape == parameter.shape else f", not {list(expected.shape)}"
                yield f"{name} has shape {shapes[0]}, its {each} in the state {shapes[1]}{needs}"


def _torchs_own(kind: type) -> type[torch.optim.Optimizer] | None:
    """The torch optimizer that this class is or inherits from, or None."""
    for each in kind.__mro__:
        if f"{each.__module__}.".startswith("torch.optim.") and each is not torch.optim.Optimizer:
            return each
    return None


def _step(kind: type) -> Any:
    return inspect.unwrap(kind.step)  # type: ignore[attr-defined]


def _per_element(optimizer: Any, parameter: torch.Tensor) -> dict[str, Any]:
    """The entries in the optimizer's current state that have the shape of the parameter."""
    state = getattr(optimizer, "state", {}).get(parameter)
    return {
        key: value
        for key, value in (state.items() if isinstance(state, Mapping) else ())
        if getattr(value, "shape", None) == parameter.shape
    }


def _layouts(
    kind: type[torch.optim.Optimizer], group: Mapping[str, Any], saved: Mapping[str, Any]
) -> tuple[list[str], list[Mapping[str, Any]]]:
    """The options that a saved group lacks, and the state that a step keeps per parameter."""
    lazy = [torch.nn.parameter.is_lazy(parameter) for parameter in group["params"]]
    stand_ins = [
        torch.empty(0 if no_shape else parameter.shape, device="meta")
        for parameter, no_shape in zip(group["params"], lazy)
    ]
    layout = torch.sparse_coo if kind is torch.optim.SparseAdam else torch.strided
    for stand_in in stand_ins:
        stand_in.grad = torch.zeros(stand_in.shape, layout=layout, device="meta")
    probe = kind([{**_options(group), "params": stand_ins}])  # type: ignore[call-arg]
    needed, before = list(probe.defaults), dict(probe.state)  # some have state before a step
    probe.load_state_dict({"state": {}, "param_groups": [_options(saved)]})
    missing = [key for key in needed if key not in probe.param_groups[0]]
    if not missing:
        probe.state.update(before)
        # A step that reads a value raises an error, but only after creating the state of each
        # parameter.
        with torch.no_grad(), contextlib.suppress(Exception):
            _step(kind)(probe)
    found: list[Mapping[str, Any]] = [
        {} if each else dict(probe.state[one]) for one, each in zip(stand_ins, lazy)
    ]
    return missing, found


def _options(group: Mapping[str, Any]) -> dict[str, Any]:
    """The options for parameters without data: numbers instead of tensors, and not fused."""
    options = {key: 0.5 if torch.is_tensor(value) else value for key, value in group.items()}
    return {**options, "fused": False}


def _other_length(parameters: list[torch.Tensor], states: list[Any]) -> Iterator[str]:
    """Yields a sentence for each LBFGS tensor that differs from the parameters in total size."""
    total = sum(each.numel() * (2 if each.is_complex() else 1) for each in parameters)
    for state in states:
        for key, value in state.items() if isinstance(state, Mapping) else ():
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, torch.Tensor) and each.numel() not in (1, total):
                    yield (
                        f"the parameters have {total} elements together, {key} in the state "
                        f"{each.numel()}"
                    )


def _shape(parameter: torch.Tensor) -> str:
    lazy = torch.nn.parameter.is_lazy(parameter)  # a lazy parameter has no shape yet
    return "[not initialized]" if lazy else str(list(parameter.shape))


def _names(groups: Any) -> list[str]:
    """The names of all parameters. Empty before torch 2.6, or if the optimizer has no names."""
    return [name for group in groups for name in group.get("param_names", ())]
