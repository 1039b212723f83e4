# SPDX-License-Identifier: BSD-3-Clause
"""Gradients of recurrent networks in eval mode, and evaluations that leave a model unchanged.

Vendor this file: its only dependency is torch 1.13 or newer. It fixes the failures in repros/rnn
whose `fix` key names a function in this file. Source of the failure:
https://github.com/pytorch/pytorch/issues/5878

>>> lstm = torch.nn.LSTM(3, 4, num_layers=2, dropout=0.5)
>>> x = torch.ones(5, 2, 3, requires_grad=True)
>>> with differentiable_eval(lstm):  # for saliency, or training through a frozen critic
...     lstm(x)[0].sum().backward()
>>> gradient, = input_gradients(lstm, x, target=lambda output: output[0].sum())
>>> torch.equal(gradient, x.grad)
True
>>> with no_grad_eval(lstm):  # for validation between two training steps
...     output, _ = lstm(x)
>>> output.requires_grad, lstm.training
(False, True)

Two threads must not use this file at the same time, because modes belong to the model, and cuDNN's
flags belong to the process.
"""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator

import torch

__all__ = [
    "cudnn_flags",
    "differentiable_eval",
    "input_gradients",
    "no_grad_eval",
    "restore_modes",
]


@contextlib.contextmanager
def restore_modes(model: torch.nn.Module) -> Iterator[None]:
    """Restores the mode of every submodule on exit, even after an exception.

    Saving a single flag is not enough, because train() and eval() also change the mode of a frozen
    BatchNorm. If a flag has changed, train() is called, because LoRA layers merge weights in eval()
    and unmerge them in train(). If a call to train() raises an error, all other calls are made and
    all flags are restored before the error propagates. A module that is changed by freeze() or
    unfreeze() from modules.py in the block keeps its new mode.

    Raises:
        TypeError: the argument is not a module.

    >>> model = torch.nn.Sequential(torch.nn.Dropout(), torch.nn.BatchNorm1d(2))
    >>> _ = model[1].eval()  # frozen
    >>> with restore_modes(model):
    ...     _ = model.eval()
    >>> model[0].training, model[1].training
    (True, False)
    """
    if not isinstance(model, torch.nn.Module):
        raise TypeError(
            f"expected a torch.nn.Module, got {type(model).__name__}: if it calls a model, give "
            "that model to differentiable_eval() or no_grad_eval() and call it in their block"
        )
    modes = {module: module.training for module in model.modules()}
    frozen = {module for module in modes if _frozen(module)}
    with contextlib.ExitStack() as stack:  # runs in reverse order, even if a train() raises
        # Needed if a module's train() does not set the flags, or freezes submodules itself.
        for module in modes:
            stack.callback(_restore_flag, module, modes)
        for module in reversed(modes):
            stack.callback(_restore_mode, module, modes)
        stack.callback(_keep_new_modes, modes, frozen)
        yield


def _frozen(module: torch.nn.Module) -> bool:
    return "_before_freeze" in vars(module)  # set by freeze() in modules.py


def _keep_new_modes(modes: dict[torch.nn.Module, bool], frozen: set[torch.nn.Module]) -> None:
    for module in modes:
        if _frozen(module) != (module in frozen):
            modes[module] = module.training


def _restore_flag(module: torch.nn.Module, modes: dict[torch.nn.Module, bool]) -> None:
    module.training = modes[module]


def _restore_mode(module: torch.nn.Module, modes: dict[torch.nn.Module, bool]) -> None:
    if module.training != modes[module]:
        module.train(modes[module])


@contextlib.contextmanager
def cudnn_flags(
    *,
    enabled: bool | None = None,
    benchmark: bool | None = None,
    deterministic: bool | None = None,
) -> Iterator[None]:
    """Sets flags of torch.backends.cudnn in the block, and leaves all other flags unchanged.

    In contrast, torch.backends.cudnn.flags() resets all other flags, so flags(deterministic=True)
    turns cuDNN off.

    >>> with cudnn_flags(deterministic=True):
    ...     torch.backends.cudnn.enabled, torch.backends.cudnn.deterministic
    (True, True)
    """
    wanted = {"enabled": enabled, "benchmark": benchmark, "deterministic": deterministic}
    # After torch.backends.disable_global_flags(), assignments are refused, but the setters work.
    flags = vars(type(torch.backends.cudnn))
    saved = {name: flags[name].getter() for name, value in wanted.items() if value is not None}
    try:
        for name in saved:
            flags[name].setter(wanted[name])
        yield
    finally:
        for name, value in saved.items():
            flags[name].setter(value)


@contextlib.contextmanager
def no_grad_eval(model: torch.nn.Module) -> Iterator[None]:
    """Runs the block in eval mode and no_grad(), for example to validate. Restores modes on exit.

    If the caller is in inference_mode(), it is disabled in the block, because a tensor that the
    model caches in inference mode breaks training later. If the model changes its input in place,
    clone batches that were created in inference mode.

    Autocast's cache is cleared on exit, because weights that were cast without a graph would get no
    gradients from the next forward pass (pytorch#112583).

    >>> model = torch.nn.Dropout().train()
    >>> with no_grad_eval(model):
    ...     model(torch.ones(2))
    tensor([1., 1.])
    >>> model.training
    True
    """
    with restore_modes(model), torch.inference_mode(False), torch.no_grad():
        model.eval()
        try:
            yield
        finally:
            torch.clear_autocast_cache()


@contextlib.contextmanager
def differentiable_eval(model: torch.nn.Module) -> Iterator[None]:
    """Makes a model compute as in eval mode, and lets backward() work on cuDNN too.

    cuDNN saves the data for its backward pass only in training mode
    (aten/src/ATen/native/cudnn/RNN.cpp). In the block, RNN, LSTM and GRU modules are therefore in
    training mode, with dropout set to 0. All other modules are in eval mode, and should not read
    any mode except their own. If an RNN is scripted, or has its own hooks or code that may read the
    mode, it is also in eval mode, and cuDNN is off in the block. All these changes are undone on
    exit.

    Gradients are enabled even if the caller is in no_grad() or inference_mode(). You may call
    backward() after the block, unless the model uses checkpointing, which repeats the forward pass.
    With create_graph=True, add cudnn_flags(enabled=False), because cuDNN's RNNs have no second
    derivative.

    >>> critic = torch.nn.GRU(3, 4).requires_grad_(False)
    >>> action = torch.zeros(5, 2, 3, requires_grad=True)
    >>> with torch.no_grad(), differentiable_eval(critic):
    ...     loss = critic(action)[0].square().mean()
    >>> loss.requires_grad, critic.training
    (True, True)
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(restore_modes(model))
        # This also enables gradients under no_grad().
        stack.enter_context(torch.inference_mode(False))
        # Casts made under no_grad() or inference_mode() have no graph.
        torch.clear_autocast_cache()
        model.eval()
        for module in model.modules():
            # A scripted module has a different type, but keeps the name of its original type.
            name = getattr(module, "original_name", None)
            if _mode_is_only_dropout(module):
                stack.callback(setattr, module, "dropout", module.dropout)
                module.training, module.dropout = True, 0.0
            elif isinstance(module, torch.nn.RNNBase) or name in ("RNN", "LSTM", "GRU"):
                stack.enter_context(cudnn_flags(enabled=False))
        yield


def _mode_is_only_dropout(module: torch.nn.Module) -> bool:
    """True if the module's mode is read only by the code of torch's RNN, LSTM or GRU."""
    return (
        type(module) in (torch.nn.RNN, torch.nn.LSTM, torch.nn.GRU)
        and "forward" not in vars(module)
        and not module._forward_pre_hooks
        and not module._forward_hooks
    )


def input_gradients(
    model: torch.nn.Module,
    *inputs: Any,
    target: Callable[[Any], torch.Tensor] | None = None,
    **keywords: Any,
) -> tuple[torch.Tensor | None, ...]:
    """Returns gradients with respect to a model's inputs, computed in differentiable_eval().

    Args:
        inputs, keywords: the arguments for the model. The model may change floating-point tensors
            in place, because it receives copies.
        target: a function that maps the output to the scalar to differentiate. By default, the
            output must be a tensor, and it is summed.

    Returns: one gradient per input, followed by one per keyword, with the shape and dtype of the
        argument. A gradient is None if the argument is not a floating-point or complex tensor, or
        does not reach the target.

    The gradients of parameters do not change.

    Raises:
        ValueError: no input can have a gradient, no input reaches the target, or the target is not
            a single real number (the sum of a complex output, for example).
        TypeError: the output is not a tensor and no target is given, or the model is not a module.
        RuntimeError: the model uses reentrant checkpointing, which needs backward().

    >>> input_gradients(torch.nn.ReLU(), torch.tensor([-1.0, 2.0]))
    (tensor([0., 1.]),)
    """
    given = [*inputs, *keywords.values()]
    with differentiable_eval(model):
        # A clone is a normal tensor, even if the caller's tensor was created in inference_mode().
        leaves = {
            n: x.detach().clone().requires_grad_()
            for n, x in enumerate(given)
            if isinstance(x, torch.Tensor) and (x.is_floating_point() or x.is_complex())
        }
        if not leaves:
            raise ValueError(
                "no input can have a gradient: expected a floating-point or complex tensor, "
                f"got {_describe(given)}"
            )
        # Clone again, because the model may change its input in place, which leaves do not allow.
        copies = [leaves[n].clone() if n in leaves else x for n, x in enumerate(given)]
        output = model(*copies[: len(inputs)], **dict(zip(keywords, copies[len(inputs) :])))
        if target is None and not isinstance(output, torch.Tensor):
            raise TypeError(
                f"the model returned a {type(output).__name__}: pass target=, a function from it "
                "to a scalar tensor"
            )
        scalar = output.sum() if target is None else target(output)
        if not isinstance(scalar, torch.Tensor) or scalar.numel() != 1 or scalar.is_complex():
            raise ValueError(f"the target must be one real number, got {_describe([scalar])}")
        gradients: dict[int, torch.Tensor | None] = {}
        if scalar.requires_grad:
            wanted = list(leaves.values())
            gradients.update(zip(leaves, torch.autograd.grad(scalar, wanted, allow_unused=True)))
    if all(gradient is None for gradient in gradients.values()):
        raise ValueError(
            "no input reaches the target: not used, detached, or under no_grad() or "
            f"inference_mode() in the forward; the inputs are {_describe(given)}"
        )
    return tuple(gradients.get(n) for n in range(len(given)))


def _describe(values: Any) -> str:
    kinds = [
        f"{x.dtype} {list(x.shape)}" if isinstance(x, torch.Tensor) else type(x).__name__
        for x in values
    ]
    return ", ".join(kinds) or "nothing"
