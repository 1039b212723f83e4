# SPDX-License-Identifier: BSD-3-Clause
"""Gradients through recurrent networks in eval mode, and predictions that leave the model as they found it.

Vendor this file: it needs torch 1.13 or newer and nothing else. Cures the reproducers in repros/rnn.
Source of the failure: https://github.com/pytorch/pytorch/issues/5878
"""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator

import torch

__all__ = ["input_gradients", "predict", "restore_modes", "without_cudnn"]

# Only these forwards are known to use the training flag for nothing but dropout (and cuDNN's reserve space).
_STOCK_FORWARDS = (torch.nn.RNN.forward, torch.nn.LSTM.forward, torch.nn.GRU.forward)


@contextlib.contextmanager
def restore_modes(model: torch.nn.Module) -> Iterator[None]:
    """Gives every submodule its own `training` flag back on exit, also after an exception.

    One saved flag is not enough: train() and eval() overwrite frozen BatchNorm and Monte Carlo dropout.

    >>> model = torch.nn.Sequential(torch.nn.Dropout(), torch.nn.BatchNorm1d(2))
    >>> _ = model[1].eval()  # frozen
    >>> with restore_modes(model):
    ...     _ = model.eval()
    >>> model[0].training, model[1].training
    (True, False)
    """
    modes = [(module, module.training) for module in model.modules()]
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training


@contextlib.contextmanager
def without_cudnn() -> Iterator[None]:
    """Switches cuDNN off and nothing else. Put it around the forward: the kernel of the backward is chosen there.

    torch.backends.cudnn.flags(enabled=False) also resets benchmark, deterministic and allow_tf32 to their defaults.
    """
    enabled = torch.backends.cudnn.enabled
    torch.backends.cudnn.enabled = False
    try:
        yield
    finally:
        torch.backends.cudnn.enabled = enabled


def predict(model: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
    """model(*args, **kwargs) in eval mode and without a graph; afterwards every submodule is in the mode it was in.

    It runs under no_grad, not inference_mode: tensors made under inference_mode (a lazily cached table, a hidden state)
    break a later training step.

    >>> model = torch.nn.Dropout().train()
    >>> predict(model, torch.ones(2)), model.training
    (tensor([1., 1.]), True)
    """
    with restore_modes(model), torch.no_grad():
        model.eval()
        return model(*args, **kwargs)


def input_gradients(
    model: torch.nn.Module, *inputs: Any, target: Callable[[Any], torch.Tensor] | None = None
) -> tuple[torch.Tensor | None, ...]:
    """Gradients of the eval-mode model with respect to its inputs, on cuDNN too.

    Args:
        inputs: what the model is called with. Every floating-point tensor gets a gradient of its own shape and dtype;
            anything else (token ids, lengths) is passed on and gets None.
        target: takes the model's output, returns the scalar to differentiate. Default: the sum of an output tensor.

    Returns: one gradient (or None) per input.

    The answer is that of model.eval(): only the stock RNN, LSTM and GRU modules run in training mode, with their dropout
    at 0, because cuDNN saves what its backward needs in training mode alone. RNNs with a forward of their own run in
    eval mode without cuDNN. State dict, modes, flags, random state and every parameter's grad are left as they were.

    Raises:
        ValueError: no input can have a gradient, an input does not reach the target, or the target is not a scalar.
        TypeError: the output is not a tensor and no target was given.

    >>> lstm = torch.nn.LSTM(3, 4).eval()
    >>> gradient, = input_gradients(lstm, torch.ones(5, 2, 3), target=lambda output: output[0].sum())
    >>> gradient.shape
    torch.Size([5, 2, 3])
    """
    differentiable = [
        isinstance(x, torch.Tensor) and (x.is_floating_point() or x.is_complex()) for x in inputs
    ]
    if not any(differentiable):
        raise ValueError(
            f"no input can have a gradient: expected a floating-point tensor, got {_describe(inputs)}"
        )
    with contextlib.ExitStack() as stack:
        stack.enter_context(restore_modes(model))
        stack.enter_context(_restored_dropout(model))
        stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.enable_grad())
        model.eval()
        for module in model.modules():
            if isinstance(module, torch.nn.RNNBase):
                if type(module).forward in _STOCK_FORWARDS:
                    module.training, module.dropout = True, 0.0
                else:
                    stack.enter_context(without_cudnn())
        # clone(): a leaf of our own, normal even where the caller's tensor was made under inference_mode
        leaves = [
            x.detach().clone().requires_grad_() if wanted else x
            for x, wanted in zip(inputs, differentiable)
        ]
        scalar = _scalar(model(*leaves), target)
        wanted = [leaf for leaf, is_wanted in zip(leaves, differentiable) if is_wanted]
        found = iter(torch.autograd.grad(scalar, wanted, allow_unused=True))
    gradients = tuple(next(found) if wanted else None for wanted in differentiable)
    for number, (gradient, is_wanted) in enumerate(zip(gradients, differentiable)):
        if is_wanted and gradient is None:
            raise ValueError(
                f"input {number} ({_describe([inputs[number]])}) does not reach the target: detached, or not used at all"
            )
    return gradients


def _scalar(output: Any, target: Callable[[Any], torch.Tensor] | None) -> torch.Tensor:
    if target is None and not isinstance(output, torch.Tensor):
        raise TypeError(
            f"the model returned a {type(output).__name__}: pass target=, a function from it to a scalar tensor"
        )
    scalar = output.sum() if target is None else target(output)
    if not isinstance(scalar, torch.Tensor) or scalar.numel() != 1:
        raise ValueError(f"the target must be one number, got {_describe([scalar])}")
    if not scalar.requires_grad:
        raise ValueError(
            "the target has no graph: the forward runs under no_grad or inference_mode, or detaches its output"
        )
    return scalar


@contextlib.contextmanager
def _restored_dropout(model: torch.nn.Module) -> Iterator[None]:
    saved = [
        (module, module.dropout)
        for module in model.modules()
        if isinstance(module, torch.nn.RNNBase)
    ]
    try:
        yield
    finally:
        for module, dropout in saved:
            module.dropout = dropout


def _describe(values: Any) -> str:
    kinds = [
        f"{x.dtype} {list(x.shape)}" if isinstance(x, torch.Tensor) else type(x).__name__
        for x in values
    ]
    return ", ".join(kinds) or "nothing"
