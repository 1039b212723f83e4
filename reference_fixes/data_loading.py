# SPDX-License-Identifier: BSD-3-Clause
"""Loaders that pin when it helps and never when it fails, for any batch type; transfers that overlap with compute.

Vendor this file: it needs torch 1.13 or newer and nothing else. Cures the reproducers in repros/data_loading.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import os
import random
from collections.abc import Mapping, MutableMapping
from itertools import islice
from typing import Any, Callable, Iterable, Iterator, NamedTuple

import torch
from torch.nn.utils.rnn import PackedSequence
from torch.utils.data import DataLoader, Dataset, default_collate, get_worker_info

__all__ = [
    "PinDecision",
    "Prefetcher",
    "make_loader",
    "map_tensors",
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
    """The same structure with function(tensor) in place of every tensor; containers keep their types.

    Walks mappings, lists, tuples, named tuples, sets and dataclasses (frozen ones too). Other objects are returned as they are.

    >>> map_tensors(lambda x: x + 1, {"x": (torch.zeros(1), "id")})
    {'x': (tensor([1.]), 'id')}
    """
    if isinstance(batch, torch.Tensor):
        return function(batch)
    if isinstance(batch, Mapping):
        items = {name: map_tensors(function, value) for name, value in batch.items()}
        if not isinstance(batch, MutableMapping):
            return items
        mapping = copy.copy(batch)  # keeps a subclass, a defaultdict's factory, attributes
        mapping.update(items)
        return mapping
    if isinstance(batch, tuple):
        values = [map_tensors(function, value) for value in batch]
        return batch._make(values) if hasattr(batch, "_make") else type(batch)(values)
    if isinstance(batch, (list, set, frozenset)):
        return type(batch)(map_tensors(function, value) for value in batch)
    if dataclasses.is_dataclass(batch) and not isinstance(batch, type):
        result = copy.copy(batch)
        for field in dataclasses.fields(batch):
            if hasattr(batch, field.name):  # a field with init=False may not be set yet
                object.__setattr__(
                    result, field.name, map_tensors(function, getattr(batch, field.name))
                )
        return result
    return batch


def to_device(batch: Any, device: torch.device | str) -> Any:
    """Every tensor of the batch on the device; asynchronous exactly where that is safe and possible.

    That is from pinned memory to CUDA. Copies to the CPU always wait: after a non_blocking one the host would read garbage.
    """
    target = torch.device(device)

    def move(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.to(
            target,
            non_blocking=target.type == "cuda"
            and tensor.device.type == "cpu"
            and tensor.is_pinned(),
        )

    return _walk(batch, move, lambda sequence: sequence.to(target))


def _walk(
    batch: Any,
    function: Callable[[torch.Tensor], torch.Tensor],
    packed: Callable[[PackedSequence], Any],
) -> Any:
    # batch_sizes of a PackedSequence has to stay on the CPU, so it moves itself.
    return packed(batch) if isinstance(batch, PackedSequence) else map_tensors(function, batch)


def make_loader(
    dataset: Dataset[Any], device: torch.device | str, **options: Any
) -> DataLoader[Any]:
    """A DataLoader for batches that will go to `device`: DataLoader(dataset, **options) with pinning decided by pin_decision.

    Batches of every type that map_tensors walks are pinned and keep their type; tensors that cannot be pinned (on a device
    already, sparse) pass through as they are. The collate function runs with the CPU as default device, so
    torch.set_default_device("cuda") does not put batches where a loader cannot pin them.

    Raises:
        ValueError: pin_memory or pin_memory_device is among the options: that is what this function decides.
    """
    for option in ("pin_memory", "pin_memory_device"):
        if option in options:
            raise ValueError(
                f"{option}={options[option]!r}: make_loader decides about pinning; see pin_decision({str(device)!r})"
            )
    decision = pin_decision(device)
    collate = options.pop("collate_fn", None) or (
        default_collate if options.get("batch_size", 1) is not None else _as_it_is
    )
    options.setdefault("worker_init_fn", seed_worker)
    return DataLoader(
        dataset, collate_fn=_Collate(collate, decision.pin), pin_memory=decision.pin, **options
    )


def _as_it_is(sample: Any) -> Any:
    return sample


class _Collate:
    """Collates on the CPU. For pinning, hands the loader an object that pins itself: the loader's own walk skips
    dataclasses, turns tuples into lists (before torch 2.10) and fails on device tensors."""

    def __init__(self, collate: Callable[[Any], Any], pin: bool) -> None:
        self.collate, self.pin = collate, pin

    def __call__(self, samples: Any) -> Any:
        # Only where it has to: inside the block every call of torch takes a detour through Python.
        with torch.device("cpu") if _default_device_is_elsewhere() else contextlib.nullcontext():
            batch = self.collate(samples)
        return _Pinnable(batch) if self.pin else batch


def _default_device_is_elsewhere() -> bool:
    try:
        return torch.get_default_device().type != "cpu"
    except AttributeError:  # it came with 2.3, where it fails after set_default_device(None)
        return hasattr(torch, "set_default_device")


class _Pinnable:
    def __init__(self, batch: Any) -> None:
        self.batch = batch

    def pin_memory(self, device: Any = None) -> Any:
        """Called by the DataLoader, which then yields what this returns."""
        return _walk(self.batch, _pin, PackedSequence.pin_memory)


def _pin(tensor: torch.Tensor) -> torch.Tensor:
    pinnable = tensor.device.type == "cpu" and tensor.layout == torch.strided
    return tensor.pin_memory() if pinnable else tensor


class Prefetcher:
    """Iterates over a loader with every batch already on the device; on CUDA the next copy runs beside the computation.

    Pass a loader of make_loader: from memory that is not pinned the copy cannot overlap. One batch more than in a plain loop
    is on the device at a time. Elsewhere than on CUDA it is to_device(batch) for every batch.
    """

    def __init__(self, loader: Iterable[Any], device: torch.device | str) -> None:
        self.loader, self.device = loader, torch.device(device)

    def __len__(self) -> int:
        return len(self.loader)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Any]:
        if self.device.type != "cuda":
            for batch in self.loader:
                yield to_device(batch, self.device)
            return
        copies = torch.cuda.Stream(self.device)
        source = iter(self.loader)
        ahead = self._start_copy(source, copies)
        while ahead:
            compute = torch.cuda.current_stream(self.device)
            compute.wait_stream(copies)
            # Its memory belongs to the copy stream; without this it could be reused while the computation still reads it.
            _record(ahead[0], compute)
            batch, ahead = ahead[0], self._start_copy(source, copies)
            yield batch

    def _start_copy(self, source: Iterator[Any], copies: torch.cuda.Stream) -> list[Any]:
        """The next batch in a list, or nothing."""
        for batch in islice(source, 1):
            with torch.cuda.stream(copies):
                return [to_device(batch, self.device)]
        return []


def _record(batch: Any, stream: torch.cuda.Stream) -> None:
    def record(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.device.type == "cuda":
            tensor.record_stream(stream)
        return tensor

    _walk(batch, record, lambda sequence: record(sequence.data))


def shard(rows: Iterable[Any]) -> Iterator[Any]:
    """This worker's share of the rows, for the __iter__ of an IterableDataset; all of them outside of a worker."""
    info = get_worker_info()
    return iter(rows) if info is None else islice(rows, info.id, None, info.num_workers)


def seed_worker(worker: int) -> None:
    """A worker_init_fn: gives each worker's copy of the generators that the dataset holds a seed of its own.

    Finds random.Random, torch.Generator, numpy.random.Generator and RandomState in the dataset's attributes, and in
    those of a dataset that it wraps. The seed follows the loader's generator, so runs stay reproducible.
    """
    info = get_worker_info()
    if info is None:
        raise RuntimeError(
            "seed_worker() outside of a DataLoader worker: pass it as worker_init_fn"
        )
    _reseed(info.dataset, info.seed, set())


def _reseed(dataset: Any, seed: int, seen: set[int]) -> None:
    if id(dataset) in seen:
        return
    seen.add(id(dataset))
    for name, value in list(getattr(dataset, "__dict__", {}).items()):
        if isinstance(value, random.Random):
            value.seed(seed)
        elif isinstance(value, torch.Generator):
            value.manual_seed(seed)
        elif (
            type(value).__module__.startswith("numpy.random")
            and type(value).__name__ == "Generator"
        ):
            setattr(dataset, name, type(value)(type(value.bit_generator)(seed)))
        elif (
            type(value).__module__.startswith("numpy.random")
            and type(value).__name__ == "RandomState"
        ):
            value.seed(seed % 2**32)
        elif isinstance(value, Dataset):
            _reseed(value, seed, seen)


def worker_count(
    batch_bytes: int, memory_bytes: int, prefetch_factor: int = 2, limit: int = 8
) -> int:
    """How many loader workers fit: at most one per core this process may use, and their queues within the memory.

    Workers hold prefetch_factor batches each, so it is the batch that counts, not the data set. 0 means: load in the
    main process.

    >>> worker_count(batch_bytes=10 * 2**20, memory_bytes=10 * 2**20)
    0
    """
    for name, value in (
        ("batch_bytes", batch_bytes),
        ("memory_bytes", memory_bytes),
        ("prefetch_factor", prefetch_factor),
    ):
        if value <= 0:
            raise ValueError(f"{name}={value!r}: expected a positive number")
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    return max(0, min(limit, cores, int(memory_bytes // (prefetch_factor * batch_bytes))))
