# SPDX-License-Identifier: BSD-3-Clause
"""Recognizes out-of-memory errors, frees memory in the right order, and finds a batch size that
fits.

Vendor this file: its only dependency is torch 1.13 or newer. It fixes the failures in repros/memory
whose `fix` key names a function in this file.

>>> model, batch = torch.nn.Linear(4, 1), torch.ones(64, 4)
>>> with scratch_gradients(model):  # a diagnostic pass leaves no gradients behind
...     model(batch).sum().backward()
>>> free_memory()  # memory of the diagnostic pass, before training starts
>>> def two_steps(size):  # Adam's state is in memory from the second step on
...     net = torch.nn.Linear(4, 1)
...     optimizer = torch.optim.AdamW(net.parameters())
...     for _ in range(2):
...         net(batch[:size]).sum().backward()
...         optimizer.step()
>>> for rows in batch.split(find_batch_size(two_steps, largest=64)):
...     try:
...         model(rows).sum().backward()
...     except RuntimeError as error:
...         if not is_out_of_memory(error):
...             raise
...         free_memory()  # including tensors of the failed step that the error keeps alive
"""

from __future__ import annotations

import contextlib
import gc
import operator
import re
import sys
from collections.abc import Callable, Iterator
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from types import AsyncGeneratorType, CoroutineType, FrameType, GeneratorType
from typing import SupportsIndex

import torch

__all__ = ["drop_frames", "find_batch_size", "free_memory", "is_out_of_memory", "scratch_gradients"]

# Messages as shown to users. Their wording differs between releases, so the patterns are short.
_TEXT = re.compile(
    r"\b[Oo]ut of [Mm]emory\b|_OUT_OF_\w*MEMORY\b|cudaErrorMemoryAllocation"
    r"|Invalid buffer size: [\d.]+ [KMG]i?B"  # MPS
    r"|DefaultCPUAllocator: (can't allocate|not enough) memory"
    r"|Cannot allocate memory|std::bad_alloc"
    r"|[Uu]nable to (mmap|allocate) (memory|shared memory|.* for an array)"
    r"|\b(CU|HIP)[A-Z]+_\w*ALLOC(ATION)?_FAILED"  # cuBLAS, cuFFT, cuDNN, cuRAND, hipBLAS, ...
    r"|Unable to find a valid cuDNN algorithm"
    # Only after cudaMalloc has failed does the allocator ask NVML which processes hold the memory.
    r"|NVML_SUCCESS == .*CUDACachingAllocator\.cpp"
)
_UNFINISHED = (GeneratorType, CoroutineType, AsyncGeneratorType)


def is_out_of_memory(error: BaseException) -> bool:
    """True if the error is an out-of-memory error on any device, or was raised from such an error.

    - torch.cuda.OutOfMemoryError and MemoryError are recognized by type.
    - Other RuntimeErrors, including subclasses such as torch.AcceleratorError, are recognized by
      text.
    - An exception group counts if all of its members do.
    - An assertion about NVML counts if it comes from the allocator, because on a MIG slice, this
      assertion hides the usual message (pytorch#112377).
    - "Unable to find a valid cuDNN algorithm" counts, because its usual cause is a workspace that
      does not fit.

    >>> is_out_of_memory(RuntimeError("MPS backend out of memory (MPS allocated: 0 bytes)"))
    True
    >>> is_out_of_memory(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
    False
    """
    return _counts(error, frozenset())


def _counts(error: BaseException | None, above: frozenset[int]) -> bool:
    if error is None or id(error) in above:  # errors can be raised from each other in a cycle
        return False
    above |= {id(error)}
    members = _members(error)
    return (
        isinstance(error, (torch.cuda.OutOfMemoryError, MemoryError))
        or (isinstance(error, RuntimeError) and _TEXT.search(str(error)) is not None)
        or (bool(members) and all(_counts(member, above) for member in members))
        or _counts(error.__cause__, above)
    )


def _members(error: BaseException) -> tuple[BaseException, ...]:
    """The members of an ExceptionGroup, from Python (3.11 or newer) or from the backport."""
    members = getattr(error, "exceptions", ())
    return members if isinstance(members, tuple) else ()


def free_memory() -> None:
    """Frees unreferenced memory: runs the garbage collector, then empties the caches.

    While an out-of-memory error is being handled, its traceback keeps the tensors of the failed
    step alive, so free_memory() calls drop_frames() to release them. It therefore also works in
    `except`, `finally` and `__exit__`, where gc.collect() and empty_cache() free none of these
    tensors.
    """
    handled = sys.exc_info()[1]
    if handled is not None and any(is_out_of_memory(error) for error in _linked(handled)):
        drop_frames(handled)
    gc.collect()
    torch.cuda.empty_cache()  # does nothing if CUDA was not used (same for XPU)
    if hasattr(torch, "xpu"):
        torch.xpu.empty_cache()
    if torch.backends.mps.is_available():
        with contextlib.suppress(ImportError):  # torch 1.13 has no torch.mps
            from torch import mps  # torch 2.0 does not import it automatically

            mps.empty_cache()


def find_batch_size(
    run: Callable[[int], object], largest: SupportsIndex, smallest: SupportsIndex = 1
) -> int:
    """Returns the largest size in [smallest, largest] for which run(size) does not exhaust memory.

    run() is called at most ceil(log2(largest - smallest + 1)) + 1 times, first with `largest`, then
    by bisection. The search assumes that if a size fits, all smaller sizes fit too. Memory is freed
    and the caches are emptied before each call and after the last call. Other exceptions propagate.

    - run(size) should do two complete training steps, because the optimizer's state is in memory
      from the second step on.
    - run(size) should create its own model, because weights, buffers, gradients and random state
      change as in training, and nothing is restored.
    - If Linux overcommits memory, it kills a process that uses too much instead of raising an
      error, so choose a `largest` that cannot fill the memory of the host.
    - Each process finds its own size, so search before DistributedDataParallel wraps the model,
      then use the smallest size found.

    Raises:
        RuntimeError: even `smallest` does not fit. The message includes the text of the last error.
        TypeError: run(size) returned a coroutine or generator, so its code has not run yet.
        ValueError: smallest and largest are not integers with 1 <= smallest <= largest.

    >>> def run(size):
    ...     if size > 37:
    ...         raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 MiB.")
    >>> find_batch_size(run, largest=1024)
    37
    """
    try:
        low, high = operator.index(smallest), operator.index(largest)
    except TypeError:
        low = high = 0
    if isinstance(smallest, bool) or isinstance(largest, bool) or not 1 <= low <= high:
        raise ValueError(
            f"smallest={smallest!r}, largest={largest!r}: "
            "expected whole numbers with 1 <= smallest <= largest"
        )
    # the largest size known to fit, the smallest known not to fit, and the next size to try
    fits, fails, size = low - 1, high + 1, high
    failures: list[str] = []
    while fails - fits > 1:
        failure = _attempt(run, size)
        if failure is None:
            fits = size
        else:
            fails = size
            failures.append(failure)
        size = (fits + fails) // 2
    free_memory()
    if fits < low:
        raise RuntimeError(f"even batch size {low} runs out of memory: {failures[-1]}")
    return fits


def _attempt(run: Callable[[int], object], size: int) -> str | None:
    """The text of the out-of-memory error, or None. The error itself would keep tensors alive."""
    free_memory()
    try:
        result = run(size)
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        return str(error) or type(error).__name__
    if isinstance(result, _UNFINISHED):
        raise TypeError(f"run({size}) returned {result!r}: expected a function that does the work")
    return None


def drop_frames(error: BaseException) -> BaseException:
    """Clears the local variables in all finished frames of an exception, and returns the exception.

    Use it for exceptions that are kept or logged. The tensors of the failed step can then be freed,
    while the traceback still prints every line. Causes, contexts and members of groups are cleared
    too. Running frames are left alone, and so are generators and coroutines that can continue.
    """
    for linked in _linked(error):
        if isinstance(linked, AttributeError):
            linked.obj = None  # refers to the tensor that lacks the attribute
        trace = linked.__traceback__
        while trace is not None:
            if not _unfinished(trace.tb_frame):
                with contextlib.suppress(RuntimeError):  # the frame is still running
                    trace.tb_frame.clear()
            trace = trace.tb_next
    return error


def _linked(error: BaseException) -> list[BaseException]:
    """The error and, recursively, all of its causes, contexts and members."""
    found = [error]
    for current in found:  # the list grows during the loop
        for linked in (current.__cause__, current.__context__, *_members(current)):
            if linked is not None and all(linked is not known for known in found):
                found.append(linked)
    return found


def _unfinished(frame: FrameType) -> bool:
    """True if a generator or coroutine can continue. Before Python 3.13, clear() would close it."""
    if not frame.f_code.co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR):
        return False
    return any(isinstance(owner, _UNFINISHED) for owner in gc.get_referrers(frame))


@contextlib.contextmanager
def scratch_gradients(model: torch.nn.Module) -> Iterator[None]:
    """A context for diagnostic backward passes that keeps each grad (same object, same values).

    If gradients are views, as with DistributedDataParallel(gradient_as_bucket_view=True), these
    passes write to their memory, so the values are copied first and written back on exit. If the
    block converts the model, for example with model.double(), the gradients are converted too.

    >>> model = torch.nn.Linear(2, 1)
    >>> with scratch_gradients(model):
    ...     model(torch.ones(1, 2)).sum().backward()
    >>> model.weight.grad is None
    True
    """
    saved = []
    for parameter in model.parameters():
        gradient = parameter.grad
        shared = gradient is not None and gradient._is_view()
        saved.append((parameter, gradient, gradient.detach().clone() if shared else None))
        parameter.grad = None
    try:
        yield
    finally:
        for parameter, gradient, values in saved:
            parameter.grad = None
            if gradient is not None:
                if values is not None:
                    gradient.detach().copy_(values)
                try:
                    parameter.grad = gradient
                except RuntimeError:
                    parameter.grad = gradient.to(parameter)
