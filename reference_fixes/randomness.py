# SPDX-License-Identifier: BSD-3-Clause
"""Random numbers with tails in float16 and bfloat16 too, with a generator of your own.

Vendor this file: it needs torch 1.13 or newer and nothing else. It fixes the failures in
repros/randomness whose `fix` names a function of this file. Sources of the failures:
https://github.com/pytorch/pytorch/issues/145498,
https://github.com/pytorch/pytorch/issues/166853, https://github.com/pytorch/pytorch/issues/132395

>>> generator = torch.Generator().manual_seed(0)
>>> weight = torch.nn.Parameter(torch.empty(10_000, dtype=torch.bfloat16))
>>> _ = trunc_normal_(weight, std=0.02, generator=generator)  # initial weights
>>> noise = normal_(torch.empty_like(weight), generator=generator)
>>> gaps = exponential_(torch.empty_like(weight), generator=generator)
>>> weight.abs().max() < 0.2, noise.abs().max() > 3.4, gaps.min() > 0
(tensor(True), tensor(True), tensor(True))

All of them draw in a wider dtype and round. The dtype, strides and requires_grad of the tensor do
not change what is drawn, except that float64 has numbers of its own in normal_ and exponential_.
"""

from __future__ import annotations

import math

import torch

__all__ = ["exponential_", "normal_", "trunc_normal_"]


def normal_(
    tensor: torch.Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    generator: torch.Generator | None = None,
) -> torch.Tensor:
    """Fills the tensor with normal numbers, drawn in float32 or better, and returns it.

    Not needed from torch 2.12 on: torch.Tensor.normal_ does the same.

    Before, the CPU draws bfloat16 within 3.4 standard deviations (pytorch#166853).

    Args:
        tensor: float16, bfloat16, float32 or float64, of any shape. It is filled in place, a
            parameter too.
        mean, std: finite numbers, std positive.
        generator: a generator on the tensor's device; without it, torch's own.

    Raises:
        TypeError: this is not a dense tensor of one of these dtypes.
        ValueError: mean or std is not finite, or std is not positive.

    >>> x = normal_(torch.empty(100_000, dtype=torch.bfloat16), mean=1.0, std=2.0)
    >>> (x - 1).abs().max() > 2 * 3.5
    tensor(True)
    """
    _check(tensor, {"mean": mean}, {"std": std})
    return _fill(tensor, _wide(tensor).normal_(mean, std, generator=generator))


def exponential_(
    tensor: torch.Tensor, rate: float = 1.0, generator: torch.Generator | None = None
) -> torch.Tensor:
    """Fills the tensor with exponential numbers of mean 1 / rate, never 0, and returns it.

    Not needed from torch 2.7 on: torch.Tensor.exponential_ does the same.

    Each element has a random number of its own: in torch 2.0 to 2.6 the CPU's own exponential_
    makes a whole tensor out of 32 bits, so that whole tensors repeat (pytorch#132395). Numbers are
    drawn in float32 or better. A 0 of uniform_() counts as half of its next number, so that no
    number is far below all others.

    Args:
        tensor: float16, bfloat16, float32 or float64, of any shape. It is filled in place, a
            parameter too.
        rate: a finite, positive number.
        generator: a generator on the tensor's device; without it, torch's own.

    Raises:
        TypeError: this is not a dense tensor of one of these dtypes.
        ValueError: rate is not finite, or not positive.

    >>> weights = torch.tensor([0.0, 1.0, 9.0])  # a draw without replacement, in order
    >>> (weights / exponential_(torch.empty(3))).topk(2).indices.sort().values
    tensor([1, 2])
    """
    _check(tensor, {}, {"rate": rate})
    uniform = _wide(tensor).uniform_(generator=generator)
    # uniform_() may give 0, whose log1p is 0: half of the next number replaces it.
    uniform.clamp_(min=torch.finfo(uniform.dtype).eps / 4)
    drawn = uniform.neg_().log1p_().div_(-rate)
    return _fill(tensor, drawn.clamp_(min=torch.finfo(tensor.dtype).tiny))


def trunc_normal_(
    tensor: torch.Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: torch.Generator | None = None,
) -> torch.Tensor:
    """Fills the tensor with normal numbers between a and b, and returns it.

    Not needed from torch 2.12 on: torch.nn.init.trunc_normal_ does the same.

    It is called like that function, which before 2.12 puts outliers on the bounds: in bfloat16 one
    in 256 (pytorch#145498). Here no number is moved to a bound, except by rounding to the tensor's
    dtype. An interval far out in a tail works as well.

    Numbers are drawn in float64, which meanwhile takes 8 bytes per element. On MPS, which has no
    float64, they are drawn on the CPU and copied.

    Args:
        tensor: float16, bfloat16, float32 or float64, of any shape. It is filled in place, a
            parameter too.
        mean, std: finite numbers, std positive.
        a, b: the bounds themselves, not in standard deviations; -inf and inf mean no bound.
        generator: a generator on the tensor's device, for MPS on the CPU; without it, torch's own.

    Raises:
        TypeError: this is not a dense tensor of one of these dtypes.
        ValueError: mean or std is not as above, or the interval has no probability in float64.

    >>> x = trunc_normal_(torch.empty(1000), mean=1.0, std=0.02, a=1.1, b=1.2)  # 5 to 10 sigma
    >>> bool((x >= 1.1).all() and (x <= 1.2).all() and x.mean() < 1.11)
    True
    """
    _check(tensor, {"mean": mean}, {"std": std})
    low, high = (a - mean) / std, (b - mean) / std
    # Numbers near 0 are finer than near 1: an upper tail is drawn as the lower one it mirrors.
    mirrored = low + high > 0
    if mirrored:
        low, high = -high, -low
    start, end = (math.erfc(-z / math.sqrt(2)) / 2 for z in (low, high))
    if not start < end:
        raise ValueError(
            f"a={a!r}, b={b!r}: no number between them has a probability, "
            f"with mean={mean!r} and std={std!r}"
        )
    device = "cpu" if tensor.device.type == "mps" else tensor.device
    drawn = _wide(tensor, torch.float64, device).uniform_(generator=generator)
    # uniform_() may give 0, and ndtri(0) is -inf: half of the next number replaces it.
    drawn.clamp_(min=2.0**-54).mul_(end - start).add_(start)
    torch.special.ndtri(drawn, out=drawn)
    return _fill(tensor, drawn.mul_(-std if mirrored else std).add_(mean).clamp_(a, b))


def _fill(tensor: torch.Tensor, drawn: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return tensor.copy_(drawn)


def _wide(
    tensor: torch.Tensor,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str | None = None,
) -> torch.Tensor:
    """An empty tensor of this shape and at least this dtype, in the order of the shape."""
    dtype = torch.promote_types(tensor.dtype, dtype)
    return torch.empty_like(
        tensor, dtype=dtype, device=device, memory_format=torch.contiguous_format
    )


def _check(tensor: torch.Tensor, finite: dict[str, float], positive: dict[str, float]) -> None:
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"expected a tensor to fill, got {type(tensor).__name__} {tensor!r}")
    dtypes = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
    if tensor.dtype not in dtypes or tensor.layout != torch.strided:
        raise TypeError(
            "expected a dense tensor of float16, bfloat16, float32 or float64, got "
            f"{tensor.dtype} in {tensor.layout}"
        )
    for name, value in {**finite, **positive}.items():
        if not math.isfinite(value) or (name in positive and not value > 0):
            expected = "a positive number" if name in positive else "a finite number"
            raise ValueError(f"{name}={value!r}: expected {expected}")
