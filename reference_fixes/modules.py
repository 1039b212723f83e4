# SPDX-License-Identifier: BSD-3-Clause
"""Freezes parts of a model completely: parameters, running statistics and mode.

Vendor this file: its only dependency is torch 1.13 or newer. It fixes
repros/modules/frozen_batchnorm_moves.py. Source of the failure:
https://github.com/pytorch/pytorch/issues/86590

>>> backbone, head = torch.nn.BatchNorm1d(2), torch.nn.Linear(2, 1)
>>> model = torch.nn.Sequential(backbone, head)
>>> freeze(backbone)
>>> _ = model.train()
>>> _ = model(torch.ones(3, 2))
>>> backbone.running_mean, backbone.training, head.training
(tensor([0., 0.]), False, True)
>>> unfreeze(backbone)
>>> backbone.training, backbone.weight.requires_grad
(True, True)
"""

from __future__ import annotations

import functools
from typing import Any, Callable

import torch

__all__ = ["freeze", "unfreeze"]

_MEMORY = "_before_freeze"  # a frozen module's earlier mode and trained parameters


def freeze(module: torch.nn.Module) -> None:
    """Freezes a module in eval mode, so that neither training nor train() changes it.

    With requires_grad_(False) alone, BatchNorm still updates its running statistics, and the next
    call to the model's train() undoes eval(). After freeze(), every submodule stays in eval mode,
    including submodules without statistics, such as dropout, so the features of a frozen part are
    the same in every epoch. Code that sets the `training` attribute, or `requires_grad` of a
    parameter, still takes effect.

    - Gradients are set to None, because with zero gradients, momentum and weight decay would still
      change the weights.
    - A parameter that is shared with another part of the model is frozen there too.
    - Layers that are added to the module later are not frozen and follow train(). Examples are a
      new head, type(layer)(...), the result of SyncBatchNorm.convert_sync_batchnorm(), and the
      parameters of weight_norm().
    - Parts that were already frozen stay frozen, and unfreeze() restores the state before the first
      freeze().
    - Copies and pickles of the module are frozen too, if this file can be imported. A copy that
      torch.jit.script() creates is frozen only until its train() is called.

    The state_dict, the printed module and the behavior of hooks do not change. The type becomes a
    subclass with the same name, which adds nothing to forward(). Call unfreeze() before you run
    code that checks for the exact type, such as torch.ao.quantization.

    Raises:
        TypeError: the argument is not a module, or it is scripted (freeze a module before you
            script it).
        ValueError: a lazy layer has no parameters yet, so run a batch through it first.

    >>> model = torch.nn.Sequential(torch.nn.Dropout(), torch.nn.Linear(2, 2))
    >>> freeze(model)
    >>> _ = model.train()
    >>> model.training, model[0].training, model[1].weight.requires_grad
    (False, False, False)
    """
    _check(module)
    parts = [part for part in module.modules() if _MEMORY not in vars(part)]
    for part in parts:
        if isinstance(part, torch.jit.ScriptModule):
            raise TypeError(f"{_name(module, part)} is scripted: freeze it before torch.jit.script")
        lazy = getattr(part, "has_uninitialized_params", None)
        if lazy is not None and lazy():
            raise ValueError(
                f"{_name(module, part)} has no parameters yet: run a batch through it first"
            )
        _twin(part)  # may fail, but nothing has changed yet
    memories = [(part.training, _trained(part)) for part in parts]
    try:
        module.eval()
    except BaseException:  # raised by a module's own train()
        for part, (training, _) in zip(parts, memories):
            part.training = training
        raise
    for part, memory in zip(parts, memories):
        for parameter in part._parameters.values():
            if parameter is not None:
                parameter.requires_grad_(False)
                parameter.grad = None
        vars(part)[_MEMORY] = memory
        _swap(part)


def unfreeze(module: torch.nn.Module) -> None:
    """Undoes freeze() by restoring the modes and requires_grad flags in the module.

    The modes before freeze() are restored even if the mode of the model has changed since, so call
    train() or eval() afterwards. A parameter that is shared with another part is unfrozen there
    too. If DistributedDataParallel was built after freeze(), it does not synchronize the unfrozen
    parameters, so build it again.

    If the class has been changed since freeze(), for example by fully_shard(), it stays changed.
    The subclass that freeze() created remains among its bases but has no effect.

    Raises:
        TypeError: the argument is not a module, or a parametrization or FSDP1 has hidden one of its
            parameters since freeze() (undo that first).
        ValueError: freeze() has not frozen anything in the module.

    >>> layer = torch.nn.Linear(2, 2)
    >>> layer.bias.requires_grad = False
    >>> freeze(layer)
    >>> unfreeze(layer)
    >>> layer.weight.requires_grad, layer.bias.requires_grad
    (True, False)
    """
    _check(module)
    frozen = [part for part in module.modules() if _MEMORY in vars(part)]
    if not frozen:
        raise ValueError(f"nothing in this {type(module).__name__} is frozen by freeze()")
    for part in frozen:
        for name in vars(part)[_MEMORY][1]:
            if _hidden(part, name):
                raise TypeError(
                    f"{name} of {_name(module, part)} is no parameter any more: undo first what was "
                    "done to it after freeze()"
                )
    modes = {part: part.training for part in module.modules()}
    trained = []
    for part in frozen:
        part.__class__ = vars(type(part)).get("_thawed", type(part))
        modes[part], names = vars(part).pop(_MEMORY)
        trained += [part._parameters.get(name) for name in names]
    for parameter in trained:
        if parameter is not None:
            parameter.requires_grad_(True)
    try:
        for part, training in modes.items():
            if part.training != training:  # call train(), where LoRA layers unmerge weights
                part.train(training)
    finally:
        for part, training in modes.items():
            part.training = training


def _swap(part: torch.nn.Module) -> None:
    part.__class__ = _twin(part)


def _twin(part: torch.nn.Module) -> Any:
    kind: Any = type(part)
    return kind if "_thawed" in vars(kind) else _frozen(kind)


@functools.cache
def _frozen(original: Any) -> Any:
    """Returns a subclass that stays in eval mode. It looks and pickles like its base class."""

    @functools.wraps(original.__init__)
    def __init__(self: Any, *given: Any, **named: Any) -> None:
        if type(self) is frozen:  # type(layer)(...) should create a module that is not frozen
            self.__class__ = original
        original.__init__(self, *given, **named)

    def train(self: Any, *given: Any, **named: Any) -> Any:
        if _MEMORY not in vars(self):  # unfrozen, but its class was changed in between
            return original.train(self, *given, **named)
        mode = given[0] if given else named.get("mode", True)
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = False
        for child in self.children():
            child.train(mode)  # children that were added later are not frozen
        return self

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        function, arguments, *rest = original.__reduce_ex__(self, protocol)
        arguments = tuple(original if each is frozen else each for each in arguments)
        return (_make, (function, arguments), *rest)

    names = {name: getattr(original, name) for name in ("__module__", "__qualname__", "__doc__")}
    methods = {
        "__init__": __init__,
        "train": train,
        "__reduce_ex__": __reduce_ex__,
        "_thawed": original,
        "_twin_of": staticmethod(_frozen),  # for without_fast_path(), which may change `original`
    }
    frozen = type(original.__name__, (original,), {**names, **methods})
    return frozen


def _make(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Unpickles a frozen module by creating a module of the original class and freezing it."""
    module = function(*arguments)
    _swap(module)
    return module


def _trained(part: torch.nn.Module) -> list[str]:
    own = part._parameters.items()
    return [name for name, parameter in own if parameter is not None and parameter.requires_grad]


def _hidden(part: torch.nn.Module, name: str) -> bool:
    """True if a frozen parameter cannot be unfrozen, because something else has its name now."""
    if name in part._parameters:
        return False
    value = getattr(part, name, None)
    found = isinstance(value, torch.Tensor) and not value.requires_grad
    return found or name in getattr(part, "parametrizations", ())


def _name(module: torch.nn.Module, part: torch.nn.Module) -> str:
    name = next(name for name, each in module.named_modules() if each is part)
    return f"{name or 'the module'} ({type(part).__name__})"


def _check(module: object) -> None:
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"expected a torch.nn.Module, got {type(module).__name__}")
