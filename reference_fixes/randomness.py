# SPDX-License-Identifier: BSD-3-Clause
"""Random numbers with proper tails even in float16 and bfloat16, drawn from your own generator.

Vendor this file: its only dependency is torch 1.13 or newer. It fixes the failures in
repros/randomness whose `fix` key names a function in this file. Sources of the failures:
https://github.com/pytorch/pytorch/issues/145498, https://github.com/pytorch/pytorch/issues/166853,
https://github.com/pytorch/pytorch/issues/132395

>>> generator = torch.Generator().manual_seed(0)
>>> weight = torch.nn.Parameter(torch.empty(10_000, dtype=torch.bfloat16))
>>> _ = trunc_normal_(weight, std=0.02, generator=generator)  # initial weights
>>> noise = normal_(torch.empty_like(weight), generator=generator)
>>> gaps = exponential_(torch.empty_like(weight), generator=generator)
>>> weight.abs().max() < 0.2, noise.abs().max() > 3.4, gaps.min() > 0
(tensor(True), tensor(True), tensor(True))

All three functions draw in a wider dtype and then round. The drawn numbers do not depend on the
dtype, strides or requires_grad of the tensor, except that normal_ and exponential_ draw different
numbers for float64.
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
    """Fills a tensor with normally distributed numbers, drawn in float32 or better, and returns it.

    Not needed from torch 2.12 on: torch.Tensor.normal_ does the same.

    In earlier releases, bfloat16 numbers that are drawn on the CPU stay within 3.4 standard
    deviations (pytorch#166853).

    Args:
        tensor: a float16, bfloat16, float32 or float64 tensor of any shape, or a parameter. It is
            filled in place.
        mean, std: finite numbers; std is positive.
        generator: a generator on the tensor's device; by default, torch's own.

    Raises:
        TypeError: `tensor` is not a dense tensor of one of these dtypes.
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
    """Fills a tensor with exponentially distributed numbers, which are never 0, and returns it.

    Not needed from torch 2.7 on: torch.Tensor.exponential_ does the same.

    Each element gets its own random number. In torch 2.0 to 2.6, torch's exponential_ on the CPU
    generates a whole tensor from 32 random bits, so whole tensors repeat (pytorch#132395). Numbers
    are drawn in float32 or better. If uniform_() returns 0, half of the next possible number is
    used instead, so no number is far below all others.

    Args:
        tensor: a float16, bfloat16, float32 or float64 tensor of any shape, or a parameter. It is
            filled in place.
        rate: a finite, positive number; the mean is 1 / rate.
        generator: a generator on the tensor's device; by default, torch's own.

    Raises:
        TypeError: `tensor` is not a dense tensor of one of these dtypes.
        ValueError: rate is not finite or not positive.

    >>> weights = torch.tensor([0.0, 1.0, 9.0])  # a draw without replacement, in order
    >>> (weights / exponential_(torch.empty(3))).topk(2).indices.sort().values
    tensor([1, 2])
    """
    _check(tensor, {}, {"rate": rate})
    uniform = _wide(tensor).uniform_(generator=generator)
    # uniform_() may return 0, whose log1p is 0. Half of the next possible number replaces it.
    uniform.clamp_(min=torch.finfo(uniform.dtype).eps / 4)
    drawn = uniform.neg_().log1p_().div_(-rate)
    info = torch.finfo(tensor.dtype)
    # In float16, many numbers are subnormal. In wider dtypes, these may be flushed to zero.
    least = info.tiny * info.eps if tensor.dtype == torch.float16 else info.tiny
    return _fill(tensor, drawn.clamp_(min=least))


def trunc_normal_(
    tensor: torch.Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: torch.Generator | None = None,
) -> torch.Tensor:
    """Fills a tensor with normally distributed numbers between a and b, and returns it.

    Not needed from torch 2.12 on: torch.nn.init.trunc_normal_ does the same.

    It is used like torch.nn.init.trunc_normal_, which, before torch 2.12, moves outliers to the
    bounds (in bfloat16, one number in 256: pytorch#145498). Here, only rounding to the tensor's
    dtype can move numbers to a bound. Intervals far out in a tail work too.

    Numbers are drawn in float64, which temporarily takes 8 bytes per element. For MPS, which has no
    float64, the numbers are drawn on the CPU and copied.

    Args:
        tensor: a float16, bfloat16, float32 or float64 tensor of any shape, or a parameter. It is
            filled in place.
        mean, std: finite numbers; std is positive.
        a, b: the bounds, in the units of mean rather than in standard deviations; -inf and inf mean
            no bound.
        generator: a generator on the tensor's device, or on the CPU for MPS; by default, torch's
            own.

    Raises:
        TypeError: `tensor` is not a dense tensor of one of these dtypes.
        ValueError: mean or std is not as described above, or the interval has zero probability in
            float64.

    >>> x = trunc_normal_(torch.empty(1000), mean=1.0, std=0.02, a=1.1, b=1.2)  # 5 to 10 sigma
    >>> bool((x >= 1.1).all() and (x <= 1.2).all() and x.mean() < 1.11)
    True
    """
    _check(tensor, {"mean": mean}, {"std": std})
    low, high = (a - mean) / std, (b - mean) / std
    # Floats are denser near 0 than near 1, so an upper tail is drawn as a mirrored lower tail.
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
    # uniform_() may return 0, and ndtri(0) is -inf. Half of the next possible number replaces 0.
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
    """An uninitialized, contiguous tensor of the same shape, in this dtype or a wider dtype."""
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
