# SPDX-License-Identifier: BSD-3-Clause
"""Masks with the same meaning in all attention functions of torch, and encoders without the fast
path.

Vendor this file: its only dependency is torch 1.13 or newer. It fixes the failures in
repros/attention whose `fix` key names a function in this file. Sources of the failures:
https://github.com/pytorch/pytorch/issues/41508 and https://github.com/pytorch/pytorch/issues/118628

>>> layer = torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
>>> encoder = torch.nn.TransformerEncoder(layer, 1).eval()
>>> padding = torch.tensor([[False, False, True], [True, True, True]])
>>> mask, empty = attention_mask(padding, heads=2, causal=True)
>>> with torch.no_grad(), without_fast_path(encoder):  # hooks run
...     output = encoder(torch.ones(2, 3, 4), mask.flatten(0, 1))
>>> output = output.masked_fill(empty[..., None], 0.0)
>>> output.abs().sum(-1) > 0
tensor([[ True,  True,  True],
        [False, False, False]])
"""

from __future__ import annotations

import contextlib
import math
import threading
from typing import Any, Iterator

import torch

__all__ = ["attention_mask", "without_fast_path"]


def attention_mask(
    padding: torch.Tensor,
    heads: int,
    *,
    queries: int | None = None,
    causal: bool = False,
    bias: torch.Tensor | None = None,
    dtype: torch.dtype = torch.float32,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Combines padding, causality and a bias into one float mask, and marks queries without keys.

    Every attention function adds a float mask to the scores. In a bool mask, however, True hides a
    key in MultiheadAttention but shows it in scaled_dot_product_attention(). Do not combine this
    mask with key_padding_mask or is_causal. If every key is hidden from a query, the query attends
    to all keys instead, because softmax() over no keys is NaN, and so is its gradient. Use
    masked_fill() with `empty` to set the output for these queries to zero.

    Args:
        padding: a bool tensor of shape (batch, keys), True where a key is padding.
        heads: the number of attention heads.
        queries: the number of queries, if it differs from the number of keys.
        causal: if True, query n attends only to keys 0 to n.
        bias: a floating-point tensor to add to the scores, as in ALiBi. It must be expandable to
            the mask's shape. A value of -inf hides the key. The bias receives gradients. In an
            encoder, a bias requires without_fast_path().
        dtype: the dtype of the queries.

    Returns:
        mask: a tensor of shape (batch, heads, queries, keys) for scaled_dot_product_attention().
            For modules, use mask.flatten(0, 1), which allocates memory for each head.
        empty: a bool tensor of shape (batch, queries), True where every head hides all keys from
            the query.

    Raises:
        TypeError: padding or causal is not bool, or bias or dtype is not floating-point.
        ValueError: padding does not have two dimensions, heads or queries is not a positive int, or
            causal is True but the numbers of queries and keys differ.
        RuntimeError: the bias cannot be expanded to the shape of the mask.

    >>> padding = torch.tensor([[True, False, False]])  # on the left
    >>> mask, empty = attention_mask(padding, heads=1, causal=True)
    >>> mask
    tensor([[[[0., 0., 0.],
              [-inf, 0., -inf],
              [-inf, 0., 0.]]]])
    >>> empty
    tensor([[ True, False, False]])
    """
    if not isinstance(padding, torch.Tensor) or padding.dtype != torch.bool:
        raise TypeError(
            "padding: expected a bool tensor (batch, keys), True where a key is padding, "
            f"got {_describe(padding)}"
        )
    if padding.dim() != 2:
        raise ValueError(f"padding: expected the shape (batch, keys), got {list(padding.shape)}")
    batch, keys = padding.shape
    queries = keys if queries is None else queries
    for name, value in (("heads", heads), ("queries", queries)):
        if type(value) is not int or value < 1:
            raise ValueError(f"{name}={value!r}: expected a positive int")
    if type(causal) is not bool:
        raise TypeError(f"causal={causal!r}: expected a bool")
    if causal and queries != keys:
        raise ValueError(
            f"causal=True with {queries} queries and {keys} keys: expected as many queries as keys"
        )
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        raise TypeError(f"dtype={dtype!r}: expected a floating-point dtype, that of the queries")
    if bias is not None and not (isinstance(bias, torch.Tensor) and bias.is_floating_point()):
        raise TypeError(f"bias: expected a floating-point tensor, got {_describe(bias)}")
    hidden = padding[:, None, None, :].expand(batch, 1, queries, keys)
    if causal:
        hidden = hidden | torch.ones_like(hidden).triu(1)
    mask = torch.zeros_like(hidden, dtype=dtype)
    mask = (mask if bias is None else mask + bias.to(dtype)).masked_fill(hidden, -math.inf)
    empty = (mask == -math.inf).all(-1)
    mask = mask.masked_fill(empty[..., None], 0.0).expand(batch, heads, queries, keys)
    return mask, empty.all(1)


@contextlib.contextmanager
def without_fast_path(model: torch.nn.Module) -> Iterator[None]:
    """Makes encoders in eval mode compute as in training: they call their modules and add a bias.

    Not needed from torch 2.3 on: torch.backends.mha.set_fastpath_enabled(False) does the same.

    In eval mode without gradients, TransformerEncoderLayer and MultiheadAttention each call one
    fused operator (torch/nn/modules/transformer.py, activation.py). The layer's operator treats a
    float mask as a bool mask and, before torch 2.5, skips hooks. Both operators ignore is_causal if
    there is no mask. TransformerEncoder may drop padded positions. If all parameters are frozen,
    all of this happens even with enable_grad().

    From torch 2.3 on, this context uses torch's switch, which applies to all models of the process
    and is restored when the last open block exits. In older releases, it changes only attributes of
    this model and restores them on exit; two threads must not use it at the same time. It does not
    change the mode of any module, and you may call train() and eval() in the block.

    Raises:
        ValueError: the model contains no MultiheadAttention, or is scripted.
        TypeError: the argument is not a module.

    >>> layer = torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval()
    >>> _ = layer.linear1.register_forward_hook(lambda *_: print("called"))
    >>> with torch.no_grad(), without_fast_path(layer):
    ...     _ = layer(torch.ones(1, 3, 4))
    called
    """
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"expected a torch.nn.Module, got {_describe(model)}")
    if not any(isinstance(module, torch.nn.MultiheadAttention) for module in model.modules()):
        raise ValueError(f"no torch.nn.MultiheadAttention in this {type(model).__name__}")
    switch = hasattr(getattr(torch.backends, "mha", None), "set_fastpath_enabled")
    with _switched_off() if switch else _held_off(model):
        yield


_lock = threading.Lock()
_before: list[bool] = []  # the value of torch's switch on entry to each open block


@contextlib.contextmanager
def _switched_off() -> Iterator[None]:
    mha = torch.backends.mha
    with _lock:
        _before.append(mha.get_fastpath_enabled())
        mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        with _lock:  # the last block to exit, in any thread, restores the original value
            mha.set_fastpath_enabled(_before.pop())


@contextlib.contextmanager
def _held_off(model: torch.nn.Module) -> Iterator[None]:
    wanted: list[tuple[torch.nn.Module, str, Any]] = []
    for module in model.modules():
        if isinstance(module, torch.nn.TransformerEncoderLayer):
            # Only the choice of the path depends on this attribute; 0 means an unknown activation.
            wanted.append((module, "activation_relu_or_gelu", 0))
        if isinstance(module, torch.nn.TransformerEncoder) and hasattr(module, "use_nested_tensor"):
            wanted.append((module, "use_nested_tensor", False))
        if isinstance(module, torch.nn.MultiheadAttention):
            # Setting "forward" would not work: DataParallel would copy it, still bound to this
            # module.
            wanted.append((module, "__class__", _unfused(type(module))))
    saved = [(module, name, getattr(module, name)) for module, name, _ in wanted]
    try:
        for module, name, value in wanted:
            setattr(module, name, value)
        yield
    finally:
        for module, name, value in saved:
            if name == "__class__" and "_twin_of" in vars(type(module)):
                value = type(module)._twin_of(value)  # freeze() from modules.py was called
            setattr(module, name, value)


def _unfused(attention: Any) -> type:
    """A subclass that prevents fusing by never passing the same object as query and key."""

    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        if "key" in kwargs:
            kwargs["key"] = _view(kwargs["key"])
        return attention.forward(self, *args[:1], *map(_view, args[1:2]), *args[2:], **kwargs)

    return type(attention.__name__, (attention,), {"forward": forward})


def _view(x: Any) -> Any:
    return x.view_as(x) if isinstance(x, torch.Tensor) else x


def _describe(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{value.dtype} {list(value.shape)}"
    return f"{type(value).__name__} {value!r}"
