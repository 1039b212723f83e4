# SPDX-License-Identifier: BSD-3-Clause
"""Running out of memory: recognise it, give memory back in the right order, find the batch size that fits.

Vendor this file: it needs torch 1.13 or newer and nothing else. Cures the reproducers in repros/memory.
Why recovery has to happen outside `except`: https://pytorch.org/docs/stable/notes/faq.html
"""

from __future__ import annotations

import contextlib
import gc
import re
import sys
import traceback
from typing import Callable, Iterator

import torch

__all__ = [
    "drop_frames",
    "find_batch_size",
    "is_out_of_memory",
    "out_of_memory_kind",
    "release",
    "scratch_gradients",
]

# First match wins. Texts as users meet them; wording differs between torch versions, so the patterns are short.
_TEXTS = {
    "cuda": r"(CUDA|HIP|XPU)\b.*\bout of memory|cudaErrorMemoryAllocation",
    "mps": r"MPS backend out of memory|Invalid buffer size",
    "cpu": r"DefaultCPUAllocator: (can't allocate|not enough) memory|[Uu]nable to (mmap|allocate)",
    "library": r"CU(BLAS|SOLVER|SPARSE|FFT|DNN)_STATUS_ALLOC_FAILED|Unable to find a valid cuDNN algorithm",
    # A MIG slice out of memory trips an assertion while the allocator asks the driver for numbers for its message.
    "mig": r"NVML_SUCCESS == .*INTERNAL ASSERT FAILED",
    "other": r"\bout of memory\b",
}


def out_of_memory_kind(error: BaseException) -> str | None:
    """ "cuda", "mps", "cpu", "library" (cuBLAS, cuDNN, ...), "mig" or "other" for an out-of-memory error, else None.

    Only RuntimeError and MemoryError count, by type and then by text, and a wrapping exception counts by its __cause__.
    "Unable to find a valid cuDNN algorithm" is counted: a workspace that does not fit is its usual origin.

    >>> out_of_memory_kind(RuntimeError("MPS backend out of memory (MPS allocated: 0 bytes)"))
    'mps'
    >>> out_of_memory_kind(RuntimeError("mat1 and mat2 shapes cannot be multiplied")) is None
    True
    """
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        if isinstance(current, torch.cuda.OutOfMemoryError):
            return "cuda"
        if isinstance(current, (RuntimeError, MemoryError)):
            for kind, pattern in _TEXTS.items():
                if re.search(pattern, str(current)):
                    return kind
        if isinstance(current, MemoryError):
            return "cpu"
        current = current.__cause__
    return None


def is_out_of_memory(error: BaseException) -> bool:
    """Whether this is an out-of-memory error of any device. See out_of_memory_kind."""
    return out_of_memory_kind(error) is not None


def release() -> None:
    """Frees what nothing refers to: first the collector, then the allocator's cache. The other order keeps what it collects.

    Raises:
        RuntimeError: called while an out-of-memory error is being handled. The traceback still owns the failed step's
            tensors there, so nothing would be freed: leave the except block first.
    """
    handled = sys.exc_info()[1]
    if handled is not None and is_out_of_memory(handled):
        raise RuntimeError(
            "release() inside the except block frees nothing: its traceback holds the failed step; call it afterwards"
        )
    gc.collect()
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        torch.cuda.empty_cache()
    if hasattr(torch, "mps") and torch.backends.mps.is_available():
        torch.mps.empty_cache()


def find_batch_size(run: Callable[[int], object], largest: int, smallest: int = 1) -> int:
    """The largest batch size in [smallest, largest] whose run(size) does not run out of memory.

    run(size) should do the peak of the real work: forward, backward and optimizer step. It is called at most
    ceil(log2(largest - smallest + 1)) + 1 times, `largest` first, then by bisection, so a size that fits has to imply that
    smaller ones do. Each call starts after release(), nothing is remembered between calls of find_batch_size, and any other
    exception passes through. What run leaves in its model (gradients, optimizer state) is the caller's: see scratch_gradients.

    Raises:
        RuntimeError: even `smallest` does not fit; the text of the last error is in the message.
        ValueError: smallest and largest are not whole numbers with 1 <= smallest <= largest.

    >>> def run(size):
    ...     if size > 37:
    ...         raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 MiB.")
    >>> find_batch_size(run, largest=1024)
    37
    """
    whole = all(
        isinstance(size, int) and not isinstance(size, bool) for size in (smallest, largest)
    )
    if not whole or not 1 <= smallest <= largest:
        raise ValueError(
            f"smallest={smallest!r}, largest={largest!r}: expected whole numbers with 1 <= smallest <= largest"
        )
    failure = _attempt(run, largest)
    if failure is None:
        return largest
    fits, fails = (
        smallest - 1,
        largest,
    )  # fits: the largest size known to; fails: the smallest known not to
    while fails - fits > 1:
        middle = (fits + fails) // 2
        message = _attempt(run, middle)
        if message is None:
            fits = middle
        else:
            fails, failure = middle, message
    if fits < smallest:
        raise RuntimeError(f"even batch size {smallest} runs out of memory: {failure}")
    return fits


def _attempt(run: Callable[[int], object], size: int) -> str | None:
    """None, or the text of the out-of-memory error: the exception itself would keep the failed step alive."""
    release()
    try:
        run(size)
        return None
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        return str(error) or type(error).__name__


def drop_frames(error: BaseException) -> BaseException:
    """Clears the local variables of every frame that the exception holds, its cause and context included; returns it.

    Tracebacks print as before, but the tensors of the failed step can be freed. For exceptions that are kept or logged.
    """
    pending, seen = [error], set()
    while pending:
        current = pending.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        traceback.clear_frames(current.__traceback__)
        pending += [
            linked for linked in (current.__cause__, current.__context__) if linked is not None
        ]
        pending += getattr(current, "exceptions", ())  # ExceptionGroup
    return error


@contextlib.contextmanager
def scratch_gradients(model: torch.nn.Module) -> Iterator[None]:
    """A block for diagnostic backward passes: on exit every parameter's grad is the object it was before, untouched.

    >>> model = torch.nn.Linear(2, 1)
    >>> with scratch_gradients(model):
    ...     model(torch.ones(1, 2)).sum().backward()
    >>> model.weight.grad is None
    True
    """
    saved = [(parameter, parameter.grad) for parameter in model.parameters()]
    for parameter, _ in saved:
        parameter.grad = None
    try:
        yield
    finally:
        for parameter, gradient in saved:
            parameter.grad = gradient
