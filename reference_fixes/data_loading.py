# SPDX-License-Identifier: BSD-3-Clause
"""Pins and copies batches while the GPU computes, keeps workers from repeating each other, names
the sample that cannot be collated, and resumes an interrupted epoch.

Vendor this file: its only dependency is torch 1.13 or newer. It fixes the failures in
repros/data_loading whose `fix` key names a function in this file.

>>> device = "cuda" if torch.cuda.is_available() else "cpu"
>>> rows = torch.utils.data.TensorDataset(torch.ones(64, 8), torch.zeros(64))  # not on the device
>>> workers = worker_count(batch_bytes=16 * 9 * 4, memory_bytes=2**30, limit=2)
>>> loader = torch.utils.data.DataLoader(  # no pin_memory: the Prefetcher pins
...     rows, batch_size=16, num_workers=workers, worker_init_fn=seed_worker
... )
>>> model = torch.nn.Linear(8, 1).to(device)
>>> for features, target in Prefetcher(loader, device):
...     loss = (model(features).squeeze(1) - target).square().mean()
>>> features.shape
torch.Size([16, 8])
"""

from __future__ import annotations

import copy
import dataclasses
import operator
import os
import random
import reprlib
import sys
from collections import UserList, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache, partial
from itertools import islice
from operator import itemgetter, methodcaller
from types import BuiltinMethodType, CodeType, FunctionType, MemberDescriptorType, MethodType
from typing import Any, NamedTuple

import torch
from torch.nn.utils.rnn import PackedSequence
from torch.utils.data import default_collate, get_worker_info

__all__ = [
    "PinDecision",
    "Prefetcher",
    "ResumableBatches",
    "collate",
    "map_tensors",
    "pin_batch",
    "pin_decision",
    "seed_worker",
    "shard",
    "to_device",
    "worker_count",
]


class PinDecision(NamedTuple):
    pin: bool
    reason: str


def pin_decision(device: torch.device | str) -> PinDecision:
    """Decides whether to pin host memory for batches bound for this device, and gives the reason.

    >>> pin_decision("cpu")
    PinDecision(pin=False, reason='batches stay on the CPU: there is no copy to speed up')
    """
    kind = torch.device(device).type
    if kind == "cpu":
        return PinDecision(False, "batches stay on the CPU: there is no copy to speed up")
    if kind == "mps":
        return PinDecision(
            False, "MPS shares the memory of the CPU, and the DataLoader does not pin for it"
        )
    if kind != "cuda":
        return PinDecision(False, f"pinning for {kind!r} was never measured")
    if not torch.cuda.is_available():
        return PinDecision(
            False, "torch.cuda.is_available() is False: the DataLoader would ignore the request"
        )
    return PinDecision(True, "from pinned memory the copy to CUDA runs beside the computation")


def map_tensors(function: Callable[[torch.Tensor], torch.Tensor], batch: Any) -> Any:
    """Returns the same structure, with each tensor replaced by function(tensor).

    Mappings, lists, deques, tuples, sets and dataclasses keep their types. Subclasses of dict, list
    and tuple keep their attributes. Everything else in a batch is left unchanged, including the
    batch_sizes of a PackedSequence, which torch requires on the CPU.

    >>> map_tensors(lambda x: x + 1, {"x": (torch.zeros(1), "id")})
    {'x': (tensor([1.]), 'id')}
    """
    return _walk(batch, function)


def _walk(
    batch: Any,
    function: Callable[[torch.Tensor], torch.Tensor],
    method: str = "",
    call: Callable[[Any], Any] = lambda owner: owner,
) -> Any:
    """Like map_tensors(), but also replaces objects whose class has the method by call(object)."""

    def walk(value: Any) -> Any:
        return _walk(value, function, method, call)

    if isinstance(batch, torch.Tensor):
        return function(batch)
    if isinstance(batch, PackedSequence):
        return batch._replace(
            data=walk(batch.data),
            sorted_indices=walk(batch.sorted_indices),
            unsorted_indices=walk(batch.unsorted_indices),
        )
    # Check the class: an AttrDict may have an item with this name, and a class is not a batch.
    if callable(getattr(type(batch), method, None)):
        result = call(batch)
        if result is None:
            raise TypeError(
                f"{type(batch).__name__}.{method}() returned None: expected the batch (return self)"
            )
        return result
    if isinstance(batch, Mapping):
        items = {name: walk(value) for name, value in batch.items()}
        own_copy = isinstance(batch, dict) or hasattr(type(batch), "__copy__")
        if not own_copy or not isinstance(batch, MutableMapping):  # a copy would share the items
            return type(batch)(items)  # type: ignore[call-arg]
        mapping = copy.copy(batch)  # keeps attributes and a defaultdict's factory
        if getattr(batch, "__dict__", None) is batch:
            mapping.__dict__ = mapping  # type: ignore[assignment]
        for name, value in items.items():  # update() would add to a Counter
            mapping[name] = value
        return mapping
    if isinstance(batch, (list, deque, UserList)):
        sequence = copy.copy(batch)
        for index, value in enumerate(batch):
            sequence[index] = walk(value)
        return sequence
    if isinstance(batch, tuple):
        values = [walk(value) for value in batch]
        try:
            result = tuple.__new__(type(batch), values)  # a named tuple's __new__ takes fields
        except TypeError:  # torch.Size and torch.return_types need their own __new__
            return type(batch)(values)
        getattr(result, "__dict__", {}).update(getattr(batch, "__dict__", {}))
        return result
    if isinstance(batch, (set, frozenset)):
        return type(batch)(walk(value) for value in batch)
    if dataclasses.is_dataclass(batch) and not isinstance(batch, type):
        result = copy.copy(batch)
        fields = [field.name for field in dataclasses.fields(batch)]
        for name in dict.fromkeys([*fields, *getattr(batch, "__dict__", ())]):
            if hasattr(batch, name):  # a field with init=False may not be set yet
                # not setattr(): the dataclass may be frozen
                object.__setattr__(result, name, walk(getattr(batch, name)))
        return result
    return batch


def _plain(tensor: torch.Tensor) -> bool:
    """True if torch can pin the tensor and record it on a stream."""
    return tensor.layout == torch.strided and not tensor.is_nested and not tensor.is_quantized


def pin_batch(batch: Any) -> Any:
    """Pins a batch's tensors. Requires CUDA. Objects with a pin_memory() method pin themselves.

    Tensors that cannot be pinned are left unchanged. These are tensors on a device, sparse, nested,
    quantized and expanded tensors, and subclasses that would lose their type.

    Raises:
        TypeError: a pin_memory() method returned None.
    """

    def pin(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.device.type != "cpu" or not _plain(tensor):
            return tensor
        if any(size > 1 and not step for size, step in zip(tensor.shape, tensor.stride())):
            return tensor  # expanded: the pinned copy would be expanded too, and not writable
        pinned = tensor.pin_memory()
        return pinned if type(pinned) is type(tensor) else tensor

    return _walk(batch, pin, "pin_memory", methodcaller("pin_memory"))


def to_device(batch: Any, device: torch.device | str) -> Any:
    """Moves the tensors of a batch to the device. Objects with a to() method move themselves.

    Only copies from pinned memory to CUDA are asynchronous. A copy to the CPU is not, because the
    host would read garbage after a non_blocking copy.

    Raises:
        TypeError: a to() method returned None.
    """
    target = torch.device(device)

    def move(tensor: torch.Tensor) -> torch.Tensor:
        from_host = target.type == "cuda" and tensor.device.type == "cpu"
        return tensor.to(target, non_blocking=from_host and _plain(tensor) and tensor.is_pinned())

    return _walk(batch, move, "to", methodcaller("to", target))


class Prefetcher:
    """Iterates over a loader and yields batches that are already on the device.

    On CUDA, a thread pins the next batch and copies it while the GPU computes, so the loader needs
    no pin_memory. At most three batches are on the device, unless the caller keeps earlier batches.
    A copy starts once the computation on the batch three positions earlier has finished. If the
    host is further ahead, it waits for that computation. At the start of a pass, the host waits for
    all work that is already queued on the device. Sparse tensors and objects with a to() method
    cannot be copied ahead of time, so they are moved when their batch is due. An error in a row is
    also raised when its batch is due. On devices other than CUDA, a Prefetcher yields
    to_device(batch). To avoid pinning on CUDA, call to_device(batch) in your own loop.
    """

    def __init__(self, loader: Iterable[Any], device: torch.device | str) -> None:
        self.loader, self.device = loader, torch.device(device)

    def __len__(self) -> int:
        return len(self.loader)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Any]:
        if self.device.type == "cuda":
            torch.cuda.init()  # unlike Stream(), reports what is missing
        source = iter(self.loader)  # not lazily: counted() undoes the random draws of iter()
        if self.device.type == "cuda":
            return self._ahead(source)
        return map(partial(to_device, device=self.device), source)  # map() holds no batch

    def _ahead(self, source: Iterator[Any]) -> Iterator[Any]:
        index = torch.cuda.current_device() if self.device.index is None else self.device.index
        copies = _copy_stream(index)
        # Without the initializer, the thread would return to device 0 after a copy and allocate
        # memory there.
        with ThreadPoolExecutor(1, initializer=torch.cuda.set_device, initargs=(index,)) as thread:
            so_far = _so_far(copies)
            ahead = _read(source, thread, copies, so_far)
            while ahead:
                ready = [_ready(ahead, copies)]
                # Record this only after waiting for this batch, because the memory of the previous
                # batch is not free earlier.
                before, so_far = so_far, _so_far(copies)
                ahead = _read(source, thread, copies, before)
                yield ready.pop()  # a variable would keep the batch after the caller drops it


@cache
def _copy_stream(index: int) -> torch.cuda.Stream:
    """One stream per device for all passes. Torch reuses freed memory only within a stream."""
    return torch.cuda.Stream(index)


def _so_far(copies: torch.cuda.Stream) -> torch.cuda.Event:
    """Records an event at the end of all work that is queued on the device so far."""
    event = torch.cuda.Event(blocking=True)  # blocking: the waiting thread sleeps
    event.record(torch.cuda.current_stream(copies.device))
    return event


def _read(
    source: Iterator[Any],
    thread: ThreadPoolExecutor,
    copies: torch.cuda.Stream,
    before: torch.cuda.Event,
) -> Future[Any] | None:
    """Starts copying the next batch, or returns None at the end. Rows are read here, not in the
    thread, because a dataset may draw from the random generator that the training step uses.
    """
    try:
        for batch in source:
            return thread.submit(_copy, batch, copies, before)
    except Exception as error:  # raised later, after the earlier batches
        failed: Future[Any] = Future()
        failed.set_exception(error)
        return failed
    return None


def _copy(
    batch: Any, copies: torch.cuda.Stream, before: torch.cuda.Event
) -> tuple[Any, torch.cuda.Event]:
    """Returns the batch, and an event at the end of its copy."""

    def copy(tensor: torch.Tensor) -> torch.Tensor:
        from_host = tensor.device.type == "cpu" and _plain(tensor)
        return to_device(tensor, copies.device) if from_host else tensor

    pinned = pin_batch(batch)
    before.synchronize()  # otherwise a host that is far ahead fills the device with batches
    there = torch.cuda.Event()
    with torch.cuda.stream(copies):
        batch = _walk(pinned, copy, "to")  # _ready() moves objects with a to() method
        there.record(copies)
    return batch, there


def _ready(ahead: Future[Any], copies: torch.cuda.Stream) -> Any:
    """Returns the batch, ready for use in the current stream."""
    batch, there = ahead.result()
    compute = torch.cuda.current_stream(copies.device)
    compute.wait_event(there)  # does not wait for later copies of another pass

    def settle(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.device == copies.device and _plain(tensor):
            # The copy stream owns this memory and could reuse it while the tensor is still in use.
            tensor.record_stream(compute)
        return to_device(tensor, copies.device)

    return _walk(batch, settle, "to", methodcaller("to", copies.device))


def collate(batch: Any) -> Any:
    """Like default_collate(), but an error says which samples do not fit, and where.

    The message gives the field as an expression and describes its value in each sample: the shape
    of a tensor or array, the keys of a mapping, the length of a sequence, or the type of any other
    value. Samples are numbered by their position in the batch. There is no overhead unless an error
    occurs, in which case parts of the batch are collated again. An error that is not caused by a
    sample, such as running out of memory, is raised unchanged.

    Raises:
        TypeError: default_collate() raised a TypeError.
        RuntimeError: default_collate() raised another error.

    >>> rows = [{"image": torch.ones(3, 8, 8)}, {"image": torch.ones(1, 8, 8)}]
    >>> collate(rows)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: sample['image'] does not fit: float32 [3, 8, 8] in 0; float32 [1, 8, 8] in 1 (...
    """
    try:
        return default_collate(batch)
    except Exception as error:
        misfit = _misfit(batch)
        if misfit is None:
            raise
        kind = TypeError if isinstance(error, TypeError) else RuntimeError
        raise kind(f"{misfit} (default_collate: {error})") from error


def _misfit(batch: Any) -> str | None:
    try:
        samples = list(batch)
    except TypeError:
        return None
    if not samples:
        return f"the batch has no sample: {batch!r}"
    first = samples[0]
    part = next(([first, other] for other in samples if _fails([first, other])), None)
    if part is None:
        return None
    where, fields = "sample", samples
    while step := next((step for step in _steps(part) if _fails([step[1](s) for s in part])), None):
        name, enter = step
        where += name
        part = [enter(sample) for sample in part]
        fields = [_enter(enter, field) for field in fields]
    found: dict[str, list[int]] = {}
    for position, field in enumerate(fields):
        found.setdefault(_holds(field), []).append(position)
    texts = [f"{what} in {_some(positions)}" for what, positions in found.items()]
    more = f"; {len(texts) - 5} not shown" if len(texts) > 5 else ""
    return f"{where} does not fit: {'; '.join(texts[:5])}{more}"


def _fails(samples: list[Any]) -> bool:
    try:
        default_collate(samples)
    except Exception:
        return True
    return False


def _steps(samples: list[Any]) -> list[tuple[str, Callable[[Any], Any]]]:
    """An (expression text, function) pair for each entry of samples of the same structure."""
    first = samples[0]
    if all(isinstance(sample, Mapping) for sample in samples):
        whole = all(key in sample for sample in samples for key in first)
        return [(f"[{key!r}]", itemgetter(key)) for key in first] if whole else []
    if not all(map(_is_sequence, samples)) or len({len(sample) for sample in samples}) > 1:
        return []
    names = getattr(first, "_fields", None)  # only named tuples have this attribute
    return [(f".{names[i]}" if names else f"[{i}]", itemgetter(i)) for i in range(len(first))]


def _is_sequence(field: Any) -> bool:
    return isinstance(field, Sequence) and not isinstance(field, (str, bytes))


_NOTHING = object()


def _enter(enter: Callable[[Any], Any], field: Any) -> Any:
    try:
        return enter(field) if isinstance(field, Mapping) or _is_sequence(field) else _NOTHING
    except (KeyError, IndexError, TypeError):  # the sample has a different structure
        return _NOTHING


def _holds(field: Any) -> str:
    if field is _NOTHING:
        return "nothing"
    name = type(field).__name__
    if getattr(field, "is_nested", False):  # a nested tensor has no shape
        return f"nested {name}"
    if hasattr(field, "dtype") and hasattr(field, "shape"):
        device = getattr(field, "device", None)
        layout = getattr(field, "layout", torch.strided)
        return (
            f"{str(field.dtype).replace('torch.', '')} {list(field.shape)}"
            + (f" on {device}" if isinstance(device, torch.device) and device.type != "cpu" else "")
            + (f", {str(layout).replace('torch.', '')}" if layout != torch.strided else "")
        )
    if isinstance(field, Mapping):
        return f"{name} with {reprlib.repr(list(field))}"
    if _is_sequence(field):
        return f"{name} of {len(field)}"
    return name


def _some(positions: list[int]) -> str:
    text = ", ".join(map(str, positions[:8]))
    return text if len(positions) <= 8 else f"{text} and {len(positions) - 8} more"


class ResumableBatches:
    """A batch sampler whose position can be saved and restored, even in the middle of an epoch.

    Iterate over counted(loader), and wrap counted() around everything that reads ahead, such as a
    Prefetcher. The method counts the batches that the loop has received, not the batches that
    workers have read. After load_state_dict():

    - The rest of the epoch and the following epochs have the same batches as without the
      interruption, because the sampler restarts from its generator's state at the start of the
      epoch.
    - Batches that the loop has already received are skipped without being loaded.
    - A loader that starts in the middle of an epoch, or between two epochs with persistent workers,
      does not change the global random state of torch, provided that counted() gets the loader
      itself or a Prefetcher around it.

    Random numbers that the dataset draws in workers are not restored, because workers start with
    different seeds. Numbers that the dataset draws ahead of the loop, for the next batch of a CUDA
    Prefetcher, are not restored either. An epoch that was left with `break` is not over: its state
    continues with the remaining batches. Batches that are drawn ahead of the loop count as
    received. With amp.windows(), which may draw a whole window ahead, a state is therefore correct
    only between two windows.

    Args:
        batches: an iterable of lists of indices, such as a BatchSampler. If the iterable, or the
            sampler in it, draws random numbers, it must draw them only from its attribute
            `generator`. A DistributedSampler still needs set_epoch().

    Raises:
        TypeError: `batches` can be iterated over only once or not at all.
        ValueError: the sampler has no generator of its own, so its order cannot be restored.

    >>> rows = torch.utils.data.TensorDataset(torch.arange(10))
    >>> def start():
    ...     sampler = torch.utils.data.RandomSampler(rows, generator=torch.Generator())
    ...     batches = ResumableBatches(torch.utils.data.BatchSampler(sampler, 4, drop_last=False))
    ...     return batches, torch.utils.data.DataLoader(rows, batch_sampler=batches)
    >>> batches, loader = start()
    >>> epoch = batches.counted(loader)
    >>> first, state = next(epoch), batches.state_dict()
    >>> again, other = start()
    >>> again.load_state_dict(state)
    >>> (second,), (resumed,) = next(epoch), next(again.counted(other))
    >>> torch.equal(second, resumed)
    True
    """

    def __init__(self, batches: Iterable[Sequence[int]]) -> None:
        if not hasattr(type(batches), "__iter__") or isinstance(batches, Iterator):
            raise TypeError(
                "expected a batch sampler, which yields lists of indices in every epoch; got "
                f"{batches!r}"
            )
        self.batches, self.generator = batches, _generator_of(batches)
        self._consumed = 0  # batches of this epoch that the loop has received
        self._given: int  # batches of this epoch that the loader has received
        self._skip = 0  # batches to skip at the start of the next pass
        self._start: Any = None  # the generator's state at the start of this epoch
        self._pass: object  # identifies the current pass
        self._loaded = self._announced = False
        self._begun = False  # True once the first pass has begun

    def __len__(self) -> int:
        """Returns the number of batches in a whole epoch."""
        return len(self.batches)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Sequence[int]]:
        if not self._announced:
            raise RuntimeError("iterate over counted(loader), not over the loader: nobody counts")
        self._announced = False
        skip, self._skip = self._skip, 0
        if self.generator is not None:  # the loader may have drawn from the generator
            self.generator.set_state(self._start)
        for batch in self.batches:
            try:
                len(batch)
            except TypeError:
                raise TypeError(
                    f"expected lists of indices, got {batch!r}: pass a BatchSampler, and this as "
                    "batch_sampler"
                ) from None
            self._given += 1
            if self._given > skip:
                yield batch

    def counted(self, loader: Iterable[Any]) -> Iterator[Any]:
        """Yields the remaining batches of a loaded epoch, or all batches of a new epoch.

        If the state was saved in the loop after the last batch of an epoch, no batches remain.

        Raises:
            RuntimeError: another pass began or a state was loaded before this pass ended, or the
                loader does not yield one batch for each batch of indices.
        """
        length = _length(self.batches)
        left = None if length is None else length - self._skip
        return _Rest(self._counted(loader), left, self._skip > 0)

    def _counted(self, loader: Iterable[Any]) -> Iterator[Any]:
        this = self._pass = object()
        resumed, begun, self._begun = self._loaded, self._begun, True
        if not resumed:
            self._start = None if self.generator is None else self.generator.get_state()
        self._loaded, self._announced = False, True
        self._consumed, self._given = self._skip, 0
        state = torch.get_rng_state()
        iterator = iter(loader)  # draws a seed for the workers, even if there are none
        # Without the interruption, the seed would be drawn at the start of the epoch, or the
        # workers would stay alive.
        if self._consumed or (resumed and begun and _workers_stay(loader)):
            torch.set_rng_state(state)
        for batch in iterator:
            if self._pass is not this:
                raise RuntimeError("another pass has begun or a state was loaded: this one is over")
            self._consumed += 1
            yield batch
        if self._given != self._consumed:
            raise RuntimeError(
                f"{self._given} batches of indices became {self._consumed} batches: count what the "
                "loader itself gives, one for one"
            )
        self._consumed, self._start = 0, None

    def state_dict(self) -> dict[str, Any]:
        """The number of batches that the loop received in this epoch, and the state of the generator
        that determines their order.

        This dictionary can be loaded with torch.load(weights_only=True).
        """
        start = self._start
        if start is None and self.generator is not None:
            start = self.generator.get_state()  # for the next epoch
        return {
            "consumed": self._consumed,
            "length": _length(self.batches),
            "generator": None if start is None else start.clone(),
            "begun": self._begun,
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Makes the next pass continue from where the state was saved.

        Raises:
            KeyError, TypeError: the argument is not a state of this class.
            ValueError: the state is for a different number of batches, or only one of the state and
                this sampler has a generator. In all these cases, nothing is loaded.
        """
        consumed, length = operator.index(state_dict["consumed"]), state_dict["length"]
        start, here = state_dict["generator"], _length(self.batches)
        if length != here or not 0 <= consumed <= (consumed if here is None else here):
            raise ValueError(
                f"the state is of batch {consumed} of {length}, and here are {here}: another "
                "dataset or batch size?"
            )
        if (start is None) != (self.generator is None):
            has = ["no generator" if each is None else "one" for each in (start, self.generator)]
            raise ValueError(f"the sampler of the state has {has[0]}, that of here {has[1]}")
        if self.generator is not None:
            start = start.cpu().clone()
            self.generator.set_state(start)  # raises here if this is not a state
        self._skip = self._consumed = consumed
        self._start, self._loaded, self._pass = start, True, None
        self._begun = bool(state_dict.get("begun"))  # older states lack this key


class _Rest(Iterator[Any]):
    """A pass that tells windows() in amp.py how many batches are left, and thus not to draw more."""

    def __init__(self, batches: Iterator[Any], left: int | None, resumed: bool) -> None:
        self._batches, self.left, self.resumed = batches, left, resumed

    def __next__(self) -> Any:
        batch = next(self._batches)
        if self.left:
            self.left -= 1
        return batch


def _workers_stay(loader: Any) -> bool:
    """True if the next pass of a loader or Prefetcher keeps its workers, so that it draws no
    seed.
    """
    return bool(getattr(getattr(loader, "loader", loader), "persistent_workers", False))


def _generator_of(batches: Any) -> torch.Generator | None:
    """Returns the generator of a sampler, or of the sampler inside it."""
    while batches is not None:
        if hasattr(batches, "generator"):
            if not isinstance(batches.generator, torch.Generator):
                raise ValueError(
                    f"{type(batches).__name__} has no generator of its own, but "
                    f"{batches.generator!r}: give it generator=torch.Generator()"
                )
            if batches.generator is torch.default_generator:
                raise ValueError(
                    f"{type(batches).__name__} draws from the global generator, which has other "
                    "uses: give it generator=torch.Generator()"
                )
            return batches.generator
        batches = getattr(batches, "sampler", None)
    return None


def _length(batches: Any) -> int | None:
    return len(batches) if hasattr(type(batches), "__len__") else None


def shard(rows: Iterable[Any], rank: int = 0, world_size: int = 1) -> Iterator[Any]:
    """Yields this worker's share of the rows, for the __iter__() of an IterableDataset.

    Each rank gets every world_size-th row, regardless of its number of workers. Outside a worker,
    the share consists of all rows of the rank. All workers of all ranks have to see the same rows
    in the same order, so a shuffle must draw the same numbers in every worker. If the number of
    rows is not divisible by world_size, some ranks get one row more than others.

    Args:
        rank, world_size: the results of torch.distributed.get_rank() and get_world_size(), called
            in the process that creates the dataset. Workers do not know these numbers.

    Raises:
        TypeError, ValueError: rank and world_size are not integers with 0 <= rank < world_size.

    >>> list(shard("abcde", rank=1, world_size=2))
    ['b', 'd']
    """
    for name, value in (("rank", rank), ("world_size", world_size)):
        if not hasattr(type(value), "__index__"):
            raise TypeError(f"{name}={value!r}: expected a whole number")
    if not 0 <= operator.index(rank) < operator.index(world_size):
        raise ValueError(f"{rank=}, {world_size=}: expected 0 <= rank < world_size")
    info = get_worker_info()
    worker, workers = (0, 1) if info is None else (info.id, info.num_workers)
    return islice(rows, rank + world_size * worker, None, world_size * workers)


def seed_worker(worker: int) -> None:
    """A worker_init_fn that seeds the generators in the dataset differently in each worker.

    It finds random.Random, torch.Generator, numpy.random.Generator and RandomState objects:

    - among the attributes of the dataset, its class, and the objects in it (datasets, transforms,
      and lists, tuples, sets, deques and dicts of these with at most 1000 items);
    - in functions: in closures, defaults, partial() objects, the object of a bound method, and the
      global variables that the function's own code names.

    It cannot find a generator that does not exist yet, for example because the first __getitem__()
    creates it, or a generator that only an extension module, an iterator or a local variable refers
    to. Create such generators in the worker, seeded from torch.initial_seed(). The loader itself
    seeds the global generators of `random` and torch.

    Generators are reseeded in place. Their seeds depend on the loader's generator, so runs remain
    reproducible, except that two generators of the same class in a set may swap seeds. Do not use
    this function if all workers have to draw the same numbers, for example to shuffle before
    shard().

    Raises:
        RuntimeError: the function is called outside a worker.
    """
    info = get_worker_info()
    if info is None:
        raise RuntimeError(
            "seed_worker() outside of a DataLoader worker: pass it as worker_init_fn"
        )
    # The seed is a string, because random.Random(info.seed) would repeat the numbers of the
    # worker's `random`.
    seeds = random.Random(str(info.seed))
    for generator in _generators(info.dataset):
        seed = seeds.getrandbits(63)
        if isinstance(generator, torch.Generator):
            generator.manual_seed(seed)
        elif hasattr(generator, "bit_generator"):  # a NumPy generator
            bits = generator.bit_generator
            bits.state = type(bits)(seed).state
        else:
            generator.seed(seed % 2**32)  # RandomState accepts only 32 bits


def _generators(dataset: Any) -> list[Any]:
    """Returns the generators that the dataset refers to, in the same order in every run."""
    kinds: tuple[type, ...] = (random.Random, torch.Generator)
    if numpy := sys.modules.get("numpy.random"):
        kinds += (numpy.Generator, numpy.RandomState)
    found: list[Any] = []
    seen: set[int] = set()
    todo = [dataset]
    while todo:
        value = todo.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, kinds):
            found.append(value)
        elif isinstance(value, (list, tuple, set, frozenset, deque, dict)):
            if len(value) > 1000:  # data, which is slow to search
                continue
            if isinstance(value, (set, frozenset)):  # the order of a set differs between runs
                value = sorted(value, key=lambda each: type(each).__qualname__)
            todo += value.values() if isinstance(value, dict) else value
        elif isinstance(value, _FUNCTIONS):
            todo += _behind(value, kinds)
        elif type(value).__module__ != "builtins" and not isinstance(value, torch.Tensor):
            todo += getattr(value, "__dict__", {}).values()
            for name, member in [item for cls in type(value).__mro__ for item in vars(cls).items()]:
                slot = isinstance(member, MemberDescriptorType)
                todo.append(getattr(value, name, None) if slot else member)
    return found


_FUNCTIONS = (FunctionType, MethodType, BuiltinMethodType, staticmethod, classmethod)


def _behind(function: Any, kinds: tuple[type, ...]) -> list[Any]:
    """The objects that a function refers to. Of its global variables, only the generators."""
    if not isinstance(function, FunctionType):
        return [getattr(function, "__self__", None), getattr(function, "__func__", None)]
    behind: list[Any] = [function.__defaults__, function.__kwdefaults__, vars(function)]
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # the cell may still be empty
            behind.append(cell.cell_contents)
    codes = [function.__code__]
    for code in codes:
        codes += [each for each in code.co_consts if isinstance(each, CodeType)]
        named = map(function.__globals__.get, code.co_names)
        behind += [value for value in named if isinstance(value, kinds)]
    return behind


def worker_count(
    batch_bytes: int, memory_bytes: int, prefetch_factor: int = 2, limit: int = 8
) -> int:
    """Returns the number of loader workers whose queues fit in memory, up to one per usable core.

    Each worker holds prefetch_factor batches, regardless of the size of the dataset. A count of 0
    means that the main process loads the data.

    Raises:
        ValueError: a size is not positive.

    >>> worker_count(batch_bytes=10 * 2**20, memory_bytes=10 * 2**20)
    0
    """
    sizes = {
        "batch_bytes": batch_bytes,
        "memory_bytes": memory_bytes,
        "prefetch_factor": prefetch_factor,
    }
    for name, value in sizes.items():
        if not value > 0:
            raise ValueError(f"{name}={value!r}: expected a positive number")
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    return max(0, min(limit, cores, int(memory_bytes // (prefetch_factor * batch_bytes))))
