# SPDX-License-Identifier: BSD-3-Clause
"""Pinning and copying of any batch, beside the computation; workers that do not repeat each other;
collating that names the sample which does not fit.

Vendor this file: it needs torch 1.13 or newer and nothing else. It fixes what repros/data_loading
shows.

>>> device = "cuda" if torch.cuda.is_available() else "cpu"
>>> rows = torch.utils.data.TensorDataset(torch.ones(64, 8), torch.zeros(64))  # not on the device
>>> workers = worker_count(batch_bytes=16 * 9 * 4, memory_bytes=2**30, limit=2)
>>> loader = torch.utils.data.DataLoader(  # without pin_memory: the Prefetcher pins
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
import os
import random
import reprlib
import sys
from collections import UserList, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, partial
from itertools import islice
from operator import itemgetter, methodcaller
from types import MemberDescriptorType
from typing import Any, NamedTuple

import torch
from torch.nn.utils.rnn import PackedSequence
from torch.utils.data import default_collate, get_worker_info

__all__ = [
    "PinDecision",
    "Prefetcher",
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
    """Whether pinned host memory helps batches that go to this device, and why.

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
    """The same structure with function(tensor) in place of every tensor.

    Containers keep their types: mappings, lists, deques, tuples, sets and dataclasses. Subclasses
    of dict, list and tuple keep their attributes. Left as it is: what else a batch holds, and
    batch_sizes of a PackedSequence, which torch wants on the CPU.

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
    """map_tensors, except that call(object) replaces an object whose class has the method."""

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
    # Of the class: an AttrDict may have an item of that name, and a class is not a batch.
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
        mapping = copy.copy(batch)  # keeps a defaultdict's factory, attributes
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
            result = tuple.__new__(type(batch), values)  # a named tuple's own takes its fields
        except TypeError:  # torch.Size and torch.return_types insist on their own
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
    """Whether torch can pin it and record it on a stream."""
    return tensor.layout == torch.strided and not tensor.is_nested and not tensor.is_quantized


def pin_batch(batch: Any) -> Any:
    """map_tensors that pins; needs CUDA. An object with a pin_memory() method pins itself.

    What cannot be pinned stays as it is: tensors on a device, sparse, nested, quantised and
    expanded ones, subclasses that would lose their type.

    Raises:
        TypeError: such a method returned None.
    """

    def pin(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.device.type != "cpu" or not _plain(tensor):
            return tensor
        if any(size > 1 and not step for size, step in zip(tensor.shape, tensor.stride())):
            return tensor  # expanded: torch makes another such tensor, and cannot write into it
        pinned = tensor.pin_memory()
        return pinned if type(pinned) is type(tensor) else tensor

    return _walk(batch, pin, "pin_memory", methodcaller("pin_memory"))


def to_device(batch: Any, device: torch.device | str) -> Any:
    """map_tensors that moves to the device. An object with a to() method moves itself.

    Copies are asynchronous from pinned memory to CUDA and nowhere else: after a non_blocking copy
    to the CPU the host would read garbage.

    Raises:
        TypeError: such a method returned None.
    """
    target = torch.device(device)

    def move(tensor: torch.Tensor) -> torch.Tensor:
        from_host = target.type == "cuda" and tensor.device.type == "cpu"
        return tensor.to(target, non_blocking=from_host and _plain(tensor) and tensor.is_pinned())

    return _walk(batch, move, "to", methodcaller("to", target))


class Prefetcher:
    """Iterates over a loader with every batch already on the device.

    On CUDA a thread pins the next batch and copies it beside the computation; the loader needs
    no pin_memory. At most three batches are on the device, if the caller keeps no earlier one:
    a copy begins when the computation with the third batch before it has ended, and a host that
    is further ahead waits for that. At the start of a pass it waits for all that it gave the
    device before. What torch cannot copy so, sparse tensors and objects with a to() method, is
    moved in its turn. An error of a row comes in its turn too. Elsewhere than on CUDA it is
    to_device(batch). To pin nothing on CUDA, call to_device(batch) in a loop of your own.
    """

    def __init__(self, loader: Iterable[Any], device: torch.device | str) -> None:
        self.loader, self.device = loader, torch.device(device)

    def __len__(self) -> int:
        return len(self.loader)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Any]:
        if self.device.type != "cuda":
            yield from map(partial(to_device, device=self.device), self.loader)  # which holds none
            return
        torch.cuda.init()  # tells what is missing, which Stream() does not
        index = torch.cuda.current_device() if self.device.index is None else self.device.index
        source, copies = iter(self.loader), _copy_stream(index)
        # Else the thread would go back to device 0 after a copy, and take memory there.
        with ThreadPoolExecutor(1, initializer=torch.cuda.set_device, initargs=(index,)) as thread:
            so_far = _so_far(copies)
            ahead = _read(source, thread, copies, so_far)
            while ahead:
                ready = [_ready(ahead, copies)]
                # With the wait for this batch: the memory of the one before is free no sooner.
                before, so_far = so_far, _so_far(copies)
                ahead = _read(source, thread, copies, before)
                yield ready.pop()  # a name here would keep the batch after the caller dropped it


@cache
def _copy_stream(index: int) -> torch.cuda.Stream:
    """One per device, for all passes: torch keeps what a stream has freed for that stream alone."""
    return torch.cuda.Stream(index)


def _so_far(copies: torch.cuda.Stream) -> torch.cuda.Event:
    """When what has been given to the device to compute is done."""
    event = torch.cuda.Event(blocking=True)  # the thread sleeps until then
    event.record(torch.cuda.current_stream(copies.device))
    return event


def _read(
    source: Iterator[Any],
    thread: ThreadPoolExecutor,
    copies: torch.cuda.Stream,
    before: torch.cuda.Event,
) -> Future[Any] | None:
    """The next batch, on its way to the device; None at the end. The rows are read here, not in
    the thread: a dataset may draw from the same random generator as the training step."""
    try:
        for batch in source:
            return thread.submit(_copy, batch, copies, before)
    except Exception as error:  # comes in its turn, after the batches before it
        failed: Future[Any] = Future()
        failed.set_exception(error)
        return failed
    return None


def _copy(
    batch: Any, copies: torch.cuda.Stream, before: torch.cuda.Event
) -> tuple[Any, torch.cuda.Event]:
    """The batch, and when it is there."""

    def copy(tensor: torch.Tensor) -> torch.Tensor:
        from_host = tensor.device.type == "cpu" and _plain(tensor)
        return to_device(tensor, copies.device) if from_host else tensor

    pinned = pin_batch(batch)
    before.synchronize()  # else a host that is far ahead fills the device with batches
    there = torch.cuda.Event()
    with torch.cuda.stream(copies):
        batch = _walk(pinned, copy, "to")  # what has the method is left for _ready
        there.record(copies)
    return batch, there


def _ready(ahead: Future[Any], copies: torch.cuda.Stream) -> Any:
    """The batch, for the stream that computes now."""
    batch, there = ahead.result()
    compute = torch.cuda.current_stream(copies.device)
    compute.wait_event(there)  # and for no later copy of another pass

    def settle(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.device == copies.device and _plain(tensor):
            # Its memory belongs to the copy stream, which could reuse it while it is still read.
            tensor.record_stream(compute)
        return to_device(tensor, copies.device)

    return _walk(batch, settle, "to", methodcaller("to", copies.device))


def collate(batch: Any) -> Any:
    """A collate_fn: default_collate(), with an error that says which samples do not fit and where.

    It gives the field, as an expression, and what each sample of the batch holds there: shapes of
    tensors and arrays, keys of mappings, lengths of sequences, else types. Samples are numbered by
    their position in the batch. Only an error costs time: parts of the batch are collated again.
    An error that no sample is the cause of, such as a lack of memory, passes as it is.

    Raises:
        TypeError: where default_collate() raises one.
        RuntimeError: else.

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
    """The ways into samples of one structure: what to write behind each, and the function."""
    first = samples[0]
    if all(isinstance(sample, Mapping) for sample in samples):
        whole = all(key in sample for sample in samples for key in first)
        return [(f"[{key!r}]", itemgetter(key)) for key in first] if whole else []
    if not all(map(_is_sequence, samples)) or len({len(sample) for sample in samples}) > 1:
        return []
    names = getattr(first, "_fields", None)  # of a named tuple
    return [(f".{names[i]}" if names else f"[{i}]", itemgetter(i)) for i in range(len(first))]


def _is_sequence(field: Any) -> bool:
    return isinstance(field, Sequence) and not isinstance(field, (str, bytes))


_NOTHING = object()


def _enter(enter: Callable[[Any], Any], field: Any) -> Any:
    try:
        return enter(field) if isinstance(field, Mapping) or _is_sequence(field) else _NOTHING
    except (KeyError, IndexError, TypeError):  # of another structure
        return _NOTHING


def _holds(field: Any) -> str:
    if field is _NOTHING:
        return "nothing"
    name = type(field).__name__
    if getattr(field, "is_nested", False):  # it has no shape to ask for
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


def shard(rows: Iterable[Any]) -> Iterator[Any]:
    """This worker's share of the rows, for the __iter__ of an IterableDataset.

    Outside of a worker that is all of them. All workers have to see the same rows in the same
    order: a shuffle must draw the same numbers in each.
    """
    info = get_worker_info()
    return iter(rows) if info is None else islice(rows, info.id, None, info.num_workers)


def seed_worker(worker: int) -> None:
    """A worker_init_fn: reseeds each generator of this worker's copy of the dataset differently.

    Finds random.Random, torch.Generator, numpy.random.Generator and RandomState among the
    attributes of the dataset, of its class, and of what it holds: datasets, transforms, and lists,
    tuples and dicts of them, if not longer than 1000. They are reseeded in place. The seeds follow
    the loader's generator, so runs stay reproducible. Not for a dataset whose workers have to draw
    the same numbers, such as one that shuffles before shard().

    Raises:
        RuntimeError: called outside of a worker.
    """
    info = get_worker_info()
    if info is None:
        raise RuntimeError(
            "seed_worker() outside of a DataLoader worker: pass it as worker_init_fn"
        )
    # From a text: random.Random(info.seed) would draw the numbers of the worker's own `random`.
    seeds = random.Random(str(info.seed))
    for generator in _generators(info.dataset):
        seed = seeds.getrandbits(63)
        if isinstance(generator, torch.Generator):
            generator.manual_seed(seed)
        elif hasattr(generator, "bit_generator"):  # NumPy's
            bits = generator.bit_generator
            bits.state = type(bits)(seed).state
        else:
            generator.seed(seed % 2**32)  # all that RandomState takes


def _generators(dataset: Any) -> list[Any]:
    """In an order that is the same in every run."""
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
        elif isinstance(value, (list, tuple, dict)):
            if len(value) <= 1000:  # a longer one is data, slow to walk
                todo += value.values() if isinstance(value, dict) else value
        elif type(value).__module__ != "builtins" and not isinstance(value, torch.Tensor):
            todo += getattr(value, "__dict__", {}).values()
            for name, member in [item for cls in type(value).__mro__ for item in vars(cls).items()]:
                slot = isinstance(member, MemberDescriptorType)
                todo.append(getattr(value, name, None) if slot else member)
    return found


def worker_count(
    batch_bytes: int, memory_bytes: int, prefetch_factor: int = 2, limit: int = 8
) -> int:
    """How many loader workers fit: one per core this process may use, and their queues in memory.

    Each holds prefetch_factor batches, whatever the size of the data set. 0 means: load in the
    main process.

    Raises:
        ValueError: a size that is not positive.

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
