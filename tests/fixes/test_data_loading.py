import contextlib
import copy
import functools
import gc
import io
import math
import multiprocessing
import os
import random
import re
import signal
import threading
import time
import weakref
from collections import (
    ChainMap,
    Counter,
    OrderedDict,
    UserDict,
    UserList,
    defaultdict,
    deque,
    namedtuple,
)
from collections.abc import Mapping, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from functools import cached_property
from types import MappingProxyType, MethodType, SimpleNamespace
from typing import Any
from unittest import mock

import numpy
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from torch.nn.utils.rnn import PackedSequence, pack_sequence
from torch.utils.data import (
    BatchSampler,
    ConcatDataset,
    DataLoader,
    Dataset,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
)

from reference_fixes import data_loading

TORCH = tuple(map(int, torch.__version__.split(".")[:2]))

Point = namedtuple("Point", ["x", "y"])


@dataclass
class Batch:
    x: Any
    note: str = "note"


@dataclass(frozen=True)
class Frozen:
    x: Any
    derived: Any = field(init=False, default=None)


class MyDict(dict):
    pass


class MyPoint(Point):
    pass


class MyList(list):
    pass


class MySet(set):
    pass


class MyTensor(torch.Tensor):
    pass


leaves = st.one_of(
    st.builds(lambda n: torch.full((2,), float(n)), st.integers(0, 9)),
    st.text(max_size=3),
    st.none(),
    st.integers(),
)
CONTAINERS = [
    tuple,
    list,
    MyList,
    lambda items: Point(items, None),
    lambda items: dict(enumerate(items)),
    lambda items: MyDict(enumerate(items)),
    lambda items: OrderedDict(enumerate(items)),
    lambda items: defaultdict(list, enumerate(items)),
    lambda items: Batch(list(items)),
    lambda items: Frozen(tuple(items)),
]
batches = st.recursive(
    leaves,
    lambda inner: st.tuples(st.sampled_from(CONTAINERS), st.lists(inner, max_size=3)).map(
        lambda t: t[0](t[1])
    ),
    max_leaves=8,
)


def flatten(batch):
    """Returns (container types, leaves) in order. Batches of equal structure have equal types."""
    types, found = [], []

    def walk(value):
        types.append(type(value))
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, dict):
            [walk(inner) for inner in value.values()]
        elif isinstance(value, (tuple, list)):
            [walk(inner) for inner in value]
        elif isinstance(value, (Batch, Frozen)):
            [walk(getattr(value, part.name)) for part in fields(value)]

    walk(batch)
    return types, found


@given(batches)
def test_map_tensors_changes_every_tensor_and_no_type(batch):
    types, tensors = flatten(batch)
    before = [tensor.clone() for tensor in tensors]
    new_types, new_tensors = flatten(data_loading.map_tensors(lambda x: x + 1, batch))
    assert new_types == types
    assert all(torch.equal(new, old + 1) for new, old in zip(new_tensors, before))
    _, left = flatten(batch)  # the argument is unchanged
    assert all(
        tensor is same and torch.equal(tensor, old)
        for tensor, same, old in zip(tensors, left, before)
    )


def test_map_tensors_keeps_what_a_container_carries():
    batch = defaultdict(int, x=torch.ones(1))
    assert data_loading.map_tensors(torch.neg, batch)["missing"] == 0
    (moved,) = data_loading.map_tensors(torch.neg, {torch.ones(1)})
    assert moved == -1
    for rows in MyList([torch.ones(1)]), MyDict(x=torch.ones(1)), MyPoint(torch.ones(1), 2):
        rows.note = "note"
        assert data_loading.map_tensors(torch.neg, rows).note == "note"
    assert data_loading.map_tensors(torch.neg, deque([torch.ones(1)], maxlen=3)).maxlen == 3
    mapped = data_loading.map_tensors(torch.neg, MyDict())
    mapped.note = "note"  # an attribute, not an item
    assert mapped == {}
    unset = copy.copy(Frozen(torch.ones(1)))
    object.__delattr__(unset, "x")
    assert not hasattr(data_loading.map_tensors(torch.neg, unset), "x")


def test_what_is_no_container_is_returned_as_it_is():
    for other in (SimpleNamespace(x=torch.ones(1)), Batch, Graph(torch.ones(1)), "text", range(3)):
        assert data_loading.map_tensors(torch.neg, other) is other


@pytest.mark.parametrize("kind", [deque, UserList, frozenset, set, MySet])
def test_more_sequences_are_walked(kind):
    batch = kind([torch.ones(1)])
    mapped = data_loading.map_tensors(torch.neg, batch)
    assert type(mapped) is kind
    assert [list(mapped), list(batch)] == [[-1], [1]]


class Stored(MutableMapping):
    """A mapping that keeps its items in a dict, which a shallow copy would share."""

    def __init__(self, items):
        self.items_ = dict(items)

    def __getitem__(self, name):
        return self.items_[name]

    def __setitem__(self, name, value):
        self.items_[name] = value

    def __delitem__(self, name):
        del self.items_[name]

    def __iter__(self):
        return iter(self.items_)

    def __len__(self):
        return len(self.items_)


class Sized(Stored):
    """A mapping that defines how it is copied, like TensorDict, which has a batch size."""

    size = 0

    def __copy__(self):
        made = Sized(self)
        made.size = self.size
        return made


def test_a_mapping_that_copies_itself_keeps_what_it_carries():
    batch = Sized({"x": torch.ones(1)})
    batch.size = 1
    mapped = data_loading.map_tensors(torch.neg, batch)
    assert [mapped["x"], mapped.size, batch["x"]] == [-1, 1, 1]


class ReadOnly(Mapping):
    """Like immutabledict, whose copies cannot be filled."""

    def __init__(self, items):
        self.items_ = dict(items)

    __getitem__, __iter__, __len__ = Stored.__getitem__, Stored.__iter__, Stored.__len__

    def __copy__(self):
        return self


@pytest.mark.parametrize("kind", [MappingProxyType, UserDict, ChainMap, Stored, ReadOnly])
def test_more_mappings_are_walked(kind):
    batch = kind({"x": torch.ones(1)})
    mapped = data_loading.map_tensors(torch.neg, batch)
    assert type(mapped) is type(batch)
    assert [mapped["x"], batch["x"]] == [-1, 1]


def test_a_counter_is_not_added_to_itself():
    assert data_loading.map_tensors(torch.neg, Counter(cat=3)) == Counter(cat=3)


class AttrDict(dict):
    def __init__(self, *args, **items):
        super().__init__(*args, **items)
        self.__dict__ = self


def test_the_items_of_an_attribute_dict_are_its_attributes():
    batch = AttrDict(x=torch.ones(1), to=torch.ones(1))
    mapped = data_loading.map_tensors(torch.neg, batch)
    assert [mapped["x"], mapped.x, batch["x"], batch.x] == [-1, -1, 1, 1]
    assert data_loading.to_device(batch, "cpu").x == 1  # the item `to` is not a method


class ModelOutput(OrderedDict):
    """Like ModelOutput in transformers, which has an attribute for each item, and no update()."""

    def update(self, *args, **items):
        raise RuntimeError("You cannot use update() on a ModelOutput instance.")

    def __setitem__(self, name, value):
        super().__setitem__(name, value)
        super().__setattr__(name, value)


def test_a_mapping_without_update_is_walked():
    batch = ModelOutput()
    batch["x"] = torch.ones(1)
    mapped = data_loading.map_tensors(torch.neg, batch)
    assert [mapped["x"], mapped.x, batch.x] == [-1, -1, 1]


class Pair(tuple):
    """A tuple with different constructor arguments and an attribute."""

    def __new__(cls, x, y, note="note"):
        pair = super().__new__(cls, (x, y))
        pair.note = note
        return pair


@pytest.mark.parametrize(
    ("batch", "expected"),
    [
        (Pair(torch.ones(1), 2, note="other"), (-1, 2)),
        (torch.return_types.max((torch.ones(1), torch.ones(1))), (-1, -1)),
        (torch.Size([2, 3]), (2, 3)),
    ],
    ids=["own __new__", "return_types", "Size"],
)
def test_tuples_that_are_made_in_other_ways_keep_their_type(batch, expected):
    mapped = data_loading.map_tensors(torch.neg, batch)
    assert type(mapped) is type(batch)
    assert tuple(mapped) == expected
    assert getattr(mapped, "note", None) == getattr(batch, "note", None)


@dataclass
class Cached:
    x: Any

    @cached_property
    def double(self):
        return 2 * self.x


def test_what_a_dataclass_has_cached_is_mapped_too():
    batch = Cached(torch.ones(1))
    assert batch.double == 2
    mapped = data_loading.map_tensors(torch.neg, batch)
    assert [mapped.x, mapped.double, batch.double] == [-1, -2, 2]


@dataclass
class Slots:
    __slots__ = ("x",)
    x: Any


def test_a_dataclass_with_slots_is_walked():
    assert data_loading.map_tensors(torch.neg, Slots(torch.ones(1))).x == -1


def packed(*lengths):
    """Packs the sequences unsorted, so that both index tensors exist."""
    rows = [torch.ones(length, 3) for length in lengths]
    return pack_sequence(rows, enforce_sorted=False)


def test_batch_sizes_of_a_packed_sequence_are_left_as_they_are():
    batch = packed(1, 2)
    mapped = data_loading.map_tensors(lambda x: x + 1, batch)
    assert type(mapped) is PackedSequence
    assert mapped.batch_sizes is batch.batch_sizes
    assert (mapped.data == 2).all()
    assert torch.equal(mapped.sorted_indices, batch.sorted_indices + 1)
    assert torch.equal(mapped.unsorted_indices, batch.unsorted_indices + 1)


@given(batches)
def test_to_device_moves_everything_and_back(device, batch):
    types, tensors = flatten(batch)
    there_types, there = flatten(data_loading.to_device(batch, device))
    _, back = flatten(data_loading.to_device(data_loading.to_device(batch, device), "cpu"))
    assert there_types == types
    assert all(tensor.device.type == device for tensor in there)
    assert all(torch.equal(tensor, home) for tensor, home in zip(tensors, back))


class Spy(torch.Tensor):
    """A tensor that records how it is moved."""

    kind, pinned = "cpu", False
    device = property(lambda self: torch.device(self.kind))

    def is_pinned(self):
        return self.pinned

    def to(self, target, non_blocking):
        return (target.type, non_blocking)


def spy(tensor, **seen):
    made = torch.Tensor._make_subclass(Spy, tensor)
    vars(made).update(seen)
    return made


@pytest.mark.parametrize("source", ["cpu", "cuda", "mps"])
@pytest.mark.parametrize("target", ["cpu", "cuda", "mps"])
@pytest.mark.parametrize("pinned", [False, True])
def test_only_copies_from_pinned_memory_to_cuda_are_asynchronous(source, target, pinned):
    tensor = spy(torch.ones(1), kind=source, pinned=pinned)
    moved = data_loading.to_device([tensor], target)
    assert moved == [(target, (source, target, pinned) == ("cpu", "cuda", True))]


def test_a_sparse_tensor_is_moved_without_asking_whether_it_is_pinned():
    with mock.patch.multiple(
        torch.Tensor, is_pinned=None, to=lambda self, target, non_blocking: (target, non_blocking)
    ):
        moved = data_loading.to_device(torch.ones(2).to_sparse(), "cuda")
    assert moved == (torch.device("cuda"), False)


@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: (x, 1), lambda x: {"x": [x]}])
def test_a_packed_sequence_keeps_its_batch_sizes_on_the_cpu(device, elsewhere, wrap):
    target = "meta" if elsewhere else device
    seen = []
    batch = data_loading.to_device(wrap(packed(1, 2)), target)
    data_loading.map_tensors(lambda x: seen.append(x.device.type) or x, batch)
    assert seen == [target] * 3
    while not isinstance(batch, PackedSequence):
        batch = batch["x"] if isinstance(batch, dict) else batch[0]
    assert batch.batch_sizes.device.type == "cpu"
    if target == device:
        torch.nn.LSTM(3, 2, device=target)(batch)


class Graph:
    """A batch that moves and pins itself, like batches of PyG, DGL and detectron2."""

    def __init__(self, x, done=()):
        self.x, self.done = x, done

    def __len__(self):
        return 0  # without nodes, a batch is falsy, but it is still a batch

    def to(self, device):
        return Graph(self.x, (*self.done, f"to {device}"))

    def pin_memory(self):
        return Graph(self.x, (*self.done, "pinned"))


class GraphDict(UserDict):
    """A mapping that moves itself, like TensorDict and BatchEncoding."""

    to = pin_memory = lambda self, *device: f"by itself {device}"


Edge = namedtuple("Edge", ["source", "to"])


def test_an_object_with_a_method_moves_and_pins_itself():
    graph = Graph(torch.ones(1))
    assert data_loading.to_device({"g": [graph]}, "cpu")["g"][0].done == ("to cpu",)
    assert data_loading.pin_batch({"g": [graph]})["g"][0].done == ("pinned",)
    assert data_loading.to_device(GraphDict(), "cpu") == f"by itself ({torch.device('cpu')!r},)"
    assert data_loading.pin_batch(GraphDict()) == "by itself ()"
    assert data_loading.to_device(Graph, "cpu") is Graph
    assert data_loading.to_device(Edge(torch.ones(1), 3), "cpu") == (1, 3)  # `to` is a field


class Forgetful:
    def pin_memory(self):
        pass

    def to(self, device):
        pass


def test_a_method_that_forgets_to_return_the_batch_is_refused():
    for call, method in (
        (data_loading.pin_batch, "pin_memory"),
        (lambda batch: data_loading.to_device(batch, "cpu"), "to"),
    ):
        message = rf"^Forgetful\.{method}\(\) returned None: expected the batch \(return self\)$"
        with pytest.raises(TypeError, match=message):
            call([Forgetful()])


@pytest.mark.parametrize(
    ("target", "cuda", "expected", "reason"),
    [
        ("cpu", True, False, "batches stay on the CPU: there is no copy to speed up"),
        (
            "mps",
            True,
            False,
            "MPS shares the memory of the CPU, and the DataLoader does not pin for it",
        ),
        ("cuda", True, True, "from pinned memory the copy to CUDA runs beside the computation"),
        ("cuda:1", True, True, "from pinned memory the copy to CUDA runs beside the computation"),
        (
            "cuda",
            False,
            False,
            "torch.cuda.is_available() is False: the DataLoader would ignore the request",
        ),
        ("meta", True, False, "pinning for 'meta' was never measured"),
        ("xpu:1", True, False, "pinning for 'xpu' was never measured"),
    ],
)
def test_pinning_is_decided_with_a_reason(target, cuda, expected, reason):
    with mock.patch("torch.cuda.is_available", return_value=cuda):
        assert data_loading.pin_decision(target) == (expected, reason)


class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]


def identity(samples):
    return samples


def fake_pin(tensor, device=None):
    pinned = tensor.clone()
    pinned.faked = "pinned"
    return pinned


@pytest.mark.parametrize(
    "batch",
    [
        (torch.ones(2), "id"),
        Batch(torch.ones(2)),
        Frozen(torch.ones(2)),
        {"x": [torch.ones(2)]},
        Point(torch.ones(2), 1),
        (packed(1, 2), "id"),
        torch.ones(2).as_subclass(MyTensor),
    ],
)
def test_every_batch_type_is_pinned_and_keeps_its_type_48419(batch):
    with mock.patch.object(torch.Tensor, "pin_memory", fake_pin):
        pinned = data_loading.pin_batch(batch)
    types, before = flatten(batch)
    new_types, after = flatten(pinned)
    assert new_types == types
    assert all(torch.equal(old, new) for old, new in zip(before, after))
    sizes = getattr(batch[0], "batch_sizes", None) if isinstance(batch, tuple) else None
    assert all(getattr(tensor, "faked", "") or tensor is sizes for tensor in after)


def test_a_batch_is_pinned_on_cuda(device):
    if device != "cuda":
        pytest.skip("only CUDA pins")
    (frozen, sequence), mapping = data_loading.pin_batch(
        [(Frozen(torch.ones(2)), packed(1, 2)), {"x": torch.ones(1)}]
    )
    assert all(x.is_pinned() for x in (frozen.x, sequence.data, mapping["x"]))


def nested():
    return torch.nested.nested_tensor([torch.ones(1), torch.ones(2)])


def quantised():
    return torch.quantize_per_tensor(torch.ones(2), 0.5, 0, torch.qint8)


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.ones(2, device="meta"),
        lambda: torch.ones(2).to_sparse(),
        lambda: torch.ones(2, 2).to_sparse_csr(),
        nested,
        quantised,
        lambda: torch.ones(2, 1, 2).expand(2, 2, 2),
    ],
    ids=["device", "sparse", "csr", "nested", "quantised", "expanded"],
)
@pytest.mark.filterwarnings("ignore")  # warnings about prototypes
def test_what_cannot_be_pinned_passes_through(make):
    unpinnable = make()
    with mock.patch.object(torch.Tensor, "pin_memory", side_effect=RuntimeError("cannot pin")):
        assert data_loading.pin_batch([unpinnable])[0] is unpinnable


def test_a_dimension_of_size_1_is_not_expanded():
    with mock.patch.object(torch.Tensor, "pin_memory", fake_pin):
        (pinned,) = data_loading.pin_batch([torch.ones(2).as_strided((1, 2), (0, 1))])
    assert pinned.faked


class Image(torch.Tensor):
    """Like torchvision's Image, whose pin_memory() returns a plain tensor."""

    def pin_memory(self):
        return self.as_subclass(torch.Tensor)


def test_a_subclass_that_pinning_would_lose_stays_unpinned():
    image = torch.ones(2).as_subclass(Image)
    assert data_loading.pin_batch([image])[0] is image


@pytest.mark.parametrize("count", [0, 1, 5])
def test_the_prefetcher_yields_every_batch_once_in_order_on_the_device(device, count):
    rows = [{"x": torch.full((1000,), float(number)), "id": number} for number in range(count)]
    loader = DataLoader(Rows(rows), batch_size=None)
    prefetcher = data_loading.Prefetcher(loader, device)
    for _ in range(2):
        seen = list(prefetcher)
        assert [batch["id"] for batch in seen] == list(range(count))
        assert all(
            batch["x"].device.type == device and bool((batch["x"] == batch["id"]).all())
            for batch in seen
        )
    assert len(prefetcher) == count


def test_the_length_of_a_prefetcher_is_the_number_of_batches():
    loader = DataLoader(Rows(range(5)), batch_size=2)
    assert len(data_loading.Prefetcher(loader, "cpu")) == len(loader) == 3


def test_a_batch_of_the_prefetcher_may_be_dropped_as_soon_as_it_is_used(device):
    rows, sums = [torch.full((2**16,), float(number)) for number in range(8)], []
    for _ in range(2):
        for batch in data_loading.Prefetcher(rows, device):
            sums.append(batch.sum())
            del batch
    assert [one.item() / 2**16 for one in sums] == [*range(8), *range(8)]


def test_batches_of_any_type_arrive_on_the_device(device):
    sparse, expanded = torch.ones(2).to_sparse(), torch.ones(1).expand(2)
    batch = [Frozen(torch.ones(2)), packed(1, 2), expanded, torch.ones(1, device=device)]
    if device != "mps" or TORCH >= (2, 9):  # MPS cannot copy sparse tensors before 2.9
        batch.append(sparse)
    loader = DataLoader(Rows([batch]), batch_size=1, collate_fn=identity)
    ((moved,),) = data_loading.Prefetcher(loader, device)
    assert [type(part) for part in moved] == [type(part) for part in batch]
    assert {part.x.device.type for part in moved[:1]} == {device}
    assert {part.data.device.type for part in moved[1:]} == {device}
    torch.nn.LSTM(3, 2, device=device)(moved[1])


def test_the_host_waits_for_no_copy(device):
    if device != "cuda":
        pytest.skip("only CUDA can be asked about synchronisations")
    rows = [torch.full((1000,), float(number)) for number in range(4)]
    torch.cuda.set_sync_debug_mode("error")
    try:
        batches = list(data_loading.Prefetcher(rows, device))
        batches.append(data_loading.to_device(rows[0].pin_memory(), device))
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert [batch.unique().tolist() for batch in batches] == [[0.0], [1.0], [2.0], [3.0], [0.0]]
    original = data_loading._copy

    def late_copy(batch, copies, before):
        with torch.cuda.stream(copies):
            torch.cuda._sleep(20 * DELAY)
        return original(batch, copies, before)

    with mock.patch.object(data_loading, "_copy", late_copy):
        batches = iter(data_loading.Prefetcher(rows, device))
        next(batches)
        assert not torch.cuda.current_stream().query()  # the host gets here before the copy ends


SIZE, DELAY = 2**22, 30_000_000  # 16 MiB, and about 15 ms of GPU cycles


def rows_from(number, pin):
    """Rows that no earlier call has copied to the device."""
    rows = [torch.full((SIZE,), float(n)) for n in range(number, number + 6)]
    return [row.pin_memory() for row in rows] if pin else rows


def arrive(rows, device, slow):
    """For each row, True if the computation reads it unchanged while copies or computation lag."""
    original, read = data_loading._copy, torch.zeros(len(rows), SIZE, device=device)

    def late_copy(batch, copies, before):
        before.synchronize()  # first, so that the row gets the memory that the next lines free
        with torch.cuda.stream(copies):
            torch.full((SIZE,), -1.0, device=device)  # freed at once; the row overwrites it
            if slow == "copies":
                torch.cuda._sleep(DELAY)
        return original(batch, copies, before)

    places = iter(read)
    torch.cuda.synchronize()
    with mock.patch.object(data_loading, "_copy", late_copy):
        for batch in data_loading.Prefetcher(rows, device):
            if slow == "computation":
                torch.cuda._sleep(DELAY)
            next(places).copy_(batch)
            del batch  # frees its memory before the computation has read it
    torch.cuda.synchronize()
    return [torch.equal(one.cpu(), row) for one, row in zip(read, rows)]


@pytest.mark.parametrize(
    ("slow", "owner", "method"),
    [
        ("copies", torch.cuda.Stream, "wait_event"),
        ("computation", torch.Tensor, "record_stream"),
    ],
)
def test_no_row_is_read_or_overwritten_too_early(device, slow, owner, method):
    if device != "cuda":
        pytest.skip("only CUDA has streams that can overtake each other")
    assert all(arrive(rows_from(0, pin=False), device, slow))
    assert all(arrive(rows_from(10, pin=True), device, slow))
    rows = rows_from(20, pin=True)  # torch may wait for the device when it pins memory
    with mock.patch.object(owner, method):
        assert not all(arrive(rows, device, slow))  # otherwise, the assertion above proves nothing


@pytest.mark.parametrize(
    ("slow", "drops"), [("computation", False), ("computation", True), ("copies", False)]
)
def test_at_most_three_batches_are_on_the_device_however_far_ahead_the_host_is(device, slow, drops):
    if device != "cuda":
        pytest.skip("only on CUDA are copies ahead of the computation")
    rows, original = rows_from(30, pin=True), data_loading._copy

    def late_copy(batch, copies, before):
        before.synchronize()
        if slow == "copies":
            with torch.cuda.stream(copies):
                torch.cuda._sleep(DELAY)
        return original(batch, copies, before)

    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    already = torch.cuda.memory_stats()["active_bytes.all.current"]
    with mock.patch.object(data_loading, "_copy", late_copy):
        for batch in data_loading.Prefetcher(rows, device):
            if slow == "computation":
                torch.cuda._sleep(DELAY)
            batch.neg_()
            if drops:
                del batch
    torch.cuda.synchronize()
    # also counts blocks that are still in use by a stream
    most = torch.cuda.memory_stats()["active_bytes.all.peak"] - already
    assert round(most / (4 * SIZE)) <= 3


def test_a_pass_takes_no_memory_that_the_one_before_has_freed(device):
    if device != "cuda":
        pytest.skip("only on CUDA does a stream keep the memory that it has freed")
    rows, reserved = rows_from(40, pin=True), []
    for _ in range(6):
        for batch in data_loading.Prefetcher(rows, device):
            batch.neg_()
        del batch
        torch.cuda.synchronize()
        reserved.append(torch.cuda.memory_reserved())
    assert reserved[1:] == reserved[1:2] * 5


class OnCuda(torch.Tensor):
    """A tensor that claims to be on CUDA and stores the streams on which it was recorded."""

    device = torch.device("cuda", 0)
    alive = weakref.WeakSet()
    most = 0

    def record_stream(self, stream):
        vars(self).setdefault("recorded", []).append(stream)


@dataclass(eq=False)
class Stream:
    name: str
    waited: list = field(default_factory=list)
    device = torch.device("cuda", 0)

    def wait_event(self, event):
        self.waited.append((event.stream.name, len(EVENTS), event.events))


class Event:
    """An event that is reached immediately, unless a test holds it."""

    hold = False
    made = []  # the events that the host waits for

    def __init__(self, blocking=False):
        self.blocking, self.reached = blocking, threading.Event()
        if blocking:
            self.made.append(self)
        if not self.hold:
            self.reached.set()

    def record(self, stream):
        # self.copies is the number of copies that the work before this event waited for
        self.stream, self.copies, self.events = stream, len(stream.waited), len(EVENTS)

    def synchronize(self):
        assert self.blocking
        assert self.reached.wait(5)


EVENTS = []


def soon(true, within=5.0):
    """True if the thread makes the condition true while the caller is waiting."""
    end = time.monotonic() + within
    while not true() and time.monotonic() < end:
        time.sleep(0.001)
    return true()


def copied(number):
    return ("copy", float(number), "copies of 0", True)


@pytest.fixture
def gpu(monkeypatch):
    """Simulates a CUDA device. Each copy records its stream and its thread."""
    EVENTS.clear()
    OnCuda.alive, OnCuda.most = weakref.WeakSet(), 0
    compute, chosen = Stream("compute"), threading.local()  # torch also stores it per thread
    real_to = torch.Tensor.to

    def current_stream(device):
        assert device == torch.device("cuda", 0)
        return getattr(chosen, "stream", compute)

    @contextlib.contextmanager
    def stream(entered):
        chosen.stream = entered
        yield
        del chosen.stream

    def to(tensor, *target, non_blocking=False, **options):
        if options or torch.device(*target).type != "cuda":
            return real_to(tensor, *target, **options)
        if tensor.layout != torch.strided:
            return tensor
        if isinstance(tensor, OnCuda):
            return tensor
        there = torch.Tensor._make_subclass(OnCuda, tensor.clone())
        OnCuda.alive.add(there)
        OnCuda.most = max(OnCuda.most, len(OnCuda.alive))
        where = current_stream(torch.device("cuda", 0)).name
        assert where == "compute" or chosen.device == 0
        EVENTS.append(("copy", float(tensor.flatten()[0]), where, non_blocking))
        return there

    monkeypatch.setattr("torch.cuda.init", lambda: None)
    monkeypatch.setattr("torch.cuda.Event", Event)
    monkeypatch.setattr(Event, "hold", False)
    Event.made.clear()
    monkeypatch.setattr("torch.cuda.Stream", lambda index: Stream(f"copies of {index}"))
    monkeypatch.setattr("torch.cuda.current_device", lambda: 0)
    monkeypatch.setattr("torch.cuda.set_device", lambda index: setattr(chosen, "device", index))
    monkeypatch.setattr("torch.cuda.stream", stream)
    monkeypatch.setattr("torch.cuda.current_stream", current_stream)
    monkeypatch.setattr(torch.Tensor, "to", to)
    monkeypatch.setattr(torch.Tensor, "pin_memory", fake_pin)
    monkeypatch.setattr(torch.Tensor, "is_pinned", lambda tensor: hasattr(tensor, "faked"))
    data_loading._copy_stream.cache_clear()
    yield compute
    data_loading._copy_stream.cache_clear()


def numbered(count, wrap):
    for number in range(count):
        EVENTS.append(("load", number, threading.current_thread() is threading.main_thread()))
        yield wrap(torch.tensor([float(number)]))


@pytest.mark.parametrize(
    "wrap",
    [
        lambda x: {"x": x},
        lambda x: (Batch(x), "id"),
        lambda x: PackedSequence(x, torch.tensor([1])),
    ],
    ids=["dict", "dataclass", "packed"],
)
def test_the_next_batch_is_pinned_and_copied_while_one_is_used(gpu, wrap):
    def source():
        for batch in numbered(3, wrap):
            assert torch.cuda.current_stream(OnCuda.device) is gpu  # for work of the dataset itself
            yield batch

    for number, batch in enumerate(data_loading.Prefetcher(source(), "cuda")):
        (tensor,) = [x for x in flatten(batch)[1] if x.device.type == "cuda"]
        assert tensor.item() == number
        assert tensor.recorded == [gpu]
        assert number == 2 or soon(lambda number=number: copied(number + 1) in EVENTS)
        EVENTS.append(("used", number))
    expected = [("load", 0, True), copied(0)]  # the caller's thread reads rows
    for number in range(2):
        expected += [("load", number + 1, True), copied(number + 1), ("used", number)]
    assert [*expected, ("used", 2)] == EVENTS
    # the computation waits for its own copy, never for the next one
    waited = [EVENTS[:events] for _, events, _ in gpu.waited]
    assert [seen.count(("used", n - 1)) for n, seen in enumerate(waited)] == [0, 1, 1]
    assert [len([e for e in seen if e[0] == "copy"]) for seen in waited] == [1, 2, 3]
    assert [name for name, _, _ in gpu.waited] == ["copies of 0"] * 3
    assert all(copied(n) in EVENTS[:events] for n, (_, _, events) in enumerate(gpu.waited))


def test_a_copy_begins_when_the_computation_with_the_third_batch_before_has_ended(gpu):
    Event.hold = True  # the fixture resets this
    batches = iter(data_loading.Prefetcher(numbered(6, list), "cuda"))
    threading.Timer(0.2, lambda: Event.made[0].reached.set()).start()
    next(batches)  # is copied as soon as the work before the loop has ended
    assert soon(lambda: copied(1) in EVENTS)
    for number in range(1, 5):
        next(batches)
        time.sleep(0.05)
        assert copied(number + 1) not in EVENTS
        assert ("load", number + 1, True) in EVENTS  # read and pinned in the meantime
        Event.made[number].reached.set()
        assert soon(lambda number=number: copied(number + 1) in EVENTS)
        # Batch number + 1 waited for the computation on the batches up to number - 2, and for the
        # next event, the arrival of batch number - 1.
        assert (Event.made[number].stream, Event.made[number].copies) == (gpu, number)


def test_all_passes_copy_on_one_stream_of_the_device(gpu):
    for name in ("cuda", "cuda:0", "cuda"):
        list(data_loading.Prefetcher(numbered(1, list), name))
    assert data_loading._copy_stream.cache_info().currsize == 1


@pytest.mark.parametrize(("name", "current"), [("cuda:1", 0), ("cuda", 1)])
def test_each_device_has_a_stream_and_a_thread_of_its_own(gpu, name, current):
    with (
        mock.patch("torch.cuda.current_device", return_value=current),
        mock.patch.object(data_loading, "ThreadPoolExecutor") as pool,
    ):
        assert list(data_loading.Prefetcher([], name)) == []
    pool.assert_called_once_with(1, initializer=torch.cuda.set_device, initargs=(1,))
    assert data_loading._copy_stream(1).name == "copies of 1"
    assert data_loading._copy_stream.cache_info().hits == 1


def test_a_batch_is_for_the_stream_that_is_current_at_its_turn(gpu):
    other = Stream("other")
    for number, batch in enumerate(data_loading.Prefetcher(numbered(2, list), "cuda")):
        assert batch[0].recorded == [other if number else gpu]
        torch.cuda.current_stream = lambda device: other  # monkeypatch undoes this


def test_all_tensors_of_a_packed_sequence_are_recorded(gpu):
    ((batch, _),) = data_loading.Prefetcher([(packed(1, 2), "id")], "cuda")
    for tensor in (batch.data, batch.sorted_indices, batch.unsorted_indices):
        assert tensor.recorded == [gpu]
    assert batch.batch_sizes.device.type == "cpu"


def test_what_cannot_be_recorded_on_a_stream_is_moved_in_its_turn(gpu):
    sparse, graph = torch.ones(2).to_sparse(), Graph(torch.ones(1))
    moved = []

    def to(self, device):
        moved.append((torch.cuda.current_stream(device).name, threading.current_thread().name))
        return self

    with (
        mock.patch.object(Graph, "to", to),
        mock.patch.object(data_loading, "to_device", side_effect=data_loading.to_device) as moves,
    ):
        ((x, got),) = data_loading.Prefetcher([[sparse, graph]], "cuda")
    assert moves.call_args_list == [mock.call(sparse, torch.device("cuda", 0))]
    assert x is not None
    assert got.done == ("pinned",)
    assert moved == [("compute", threading.main_thread().name)]


@dataclass
class MovableBatch(Batch):
    def to(self, device):
        return MovableBatch(data_loading.to_device(self.x, device))


class MovableDict(UserDict):
    """Like BatchEncoding in transformers."""

    def to(self, device):
        return MovableDict(data_loading.to_device(self.data, device))


@pytest.mark.parametrize("make", [MovableBatch, lambda x: MovableDict(x=x)], ids=["class", "dict"])
def test_tensors_of_an_object_that_moves_itself_are_not_copied_beside_the_computation(gpu, make):
    # no code would record these tensors, because to() finds them on the device
    assert len(list(data_loading.Prefetcher([make(torch.ones(1))], "cuda"))) == 1
    assert EVENTS == [("copy", 1.0, "compute", True)]


@pytest.mark.parametrize("device", ["cuda", "cuda:0"])
def test_a_cuda_that_is_missing_is_named_before_the_loader_starts(device):
    if torch.cuda.is_available():
        pytest.skip("it is there")

    class Loader:
        def __iter__(self):
            raise AssertionError("started")

    with pytest.raises((AssertionError, RuntimeError), match="NVIDIA|not compiled with CUDA"):
        list(data_loading.Prefetcher(Loader(), device))


class SparseOnCuda(OnCuda):
    layout = torch.sparse_coo


def test_tensors_on_the_device_are_left_where_they_are(gpu):
    tensor = torch.Tensor._make_subclass(OnCuda, torch.ones(1))
    sparse = torch.Tensor._make_subclass(SparseOnCuda, torch.ones(1))
    ((batch, other),) = data_loading.Prefetcher([[tensor, sparse]], "cuda")
    assert batch is tensor
    assert other is sparse
    assert not hasattr(sparse, "recorded")  # torch would raise
    assert EVENTS == []


class Elsewhere(torch.Tensor):
    device = torch.device("cuda", 1)

    def to(self, target, non_blocking):
        return torch.cuda.current_stream(target).name, non_blocking


def test_tensors_on_another_device_are_not_copied_beside_what_may_still_write_them(gpu):
    tensor = torch.Tensor._make_subclass(Elsewhere, torch.ones(1))
    ((moved,),) = data_loading.Prefetcher([[tensor]], "cuda")
    assert moved == ("compute", False)


@pytest.mark.parametrize(("drops", "most"), [(False, 3), (True, 2)])
def test_at_most_three_batches_are_on_a_device_that_keeps_up(gpu, drops, most):
    batches = iter(data_loading.Prefetcher(numbered(5, list), "cuda"))
    for number in range(5):
        batch = next(batches)
        if drops:
            gone = weakref.ref(batch[0])
            del batch
            assert soon(lambda gone=gone: gone() is None)
        assert number == 4 or soon(lambda number=number: copied(number + 1) in EVENTS)
    assert OnCuda.most <= most


def test_a_batch_that_the_caller_drops_is_gone_off_cuda_too():
    for batch in data_loading.Prefetcher(numbered(3, list), "cpu"):
        gone = weakref.ref(batch[0])
        del batch
        assert gone() is None


def broken(wrong=KeyError):
    for number in range(2):
        yield {"x": torch.full((1,), float(number))}
    raise wrong("row 2")


@pytest.mark.parametrize("kind", ["cpu", "cuda"])
def test_an_error_of_a_row_comes_after_the_batches_before_it(gpu, kind):
    seen = []
    batches = data_loading.Prefetcher(broken(), kind)
    with pytest.raises(KeyError, match="row 2"):
        seen.extend(batch["x"].item() for batch in batches)  # keeps the batches before the error
    assert seen == [0.0, 1.0]


def test_an_interrupt_does_not_wait_for_its_turn(gpu):
    iterator = iter(data_loading.Prefetcher(broken(KeyboardInterrupt), "cuda"))
    next(iterator)
    with pytest.raises(KeyboardInterrupt):
        next(iterator)


def test_an_error_of_the_copy_comes_in_its_turn(gpu):
    with pytest.raises(TypeError, match=r"Forgetful\.pin_memory\(\) returned None"):
        list(data_loading.Prefetcher([torch.ones(1), Forgetful()], "cuda"))


def test_the_prefetcher_passes_errors_on(device):
    seen = []
    with pytest.raises(KeyError, match="row 2"):
        seen.extend(data_loading.Prefetcher(broken(), device))


def test_the_thread_ends_with_the_loop(gpu):
    before = threading.active_count()
    iterator = iter(data_loading.Prefetcher(numbered(3, list), "cuda"))
    with mock.patch.object(
        data_loading, "ThreadPoolExecutor", side_effect=ThreadPoolExecutor
    ) as pool:
        next(iterator)
    # a larger pool would sometimes start a second thread
    pool.assert_called_once_with(1, initializer=torch.cuda.set_device, initargs=(0,))
    assert threading.active_count() == before + 1
    iterator.close()  # as with `break`
    assert threading.active_count() == before


@pytest.fixture
def limit():
    """Ends a hanging test after two minutes. Windows has no such timer."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def ended(number, frame):
        raise TimeoutError("the test took longer than two minutes")

    before = signal.signal(signal.SIGALRM, ended)
    signal.setitimer(signal.ITIMER_REAL, 120)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def forked(workers, **options):
    if not workers:
        return {}
    # A hanging worker ends the test, even on Windows.
    context = "fork" if hasattr(os, "fork") else None
    return {"num_workers": workers, "multiprocessing_context": context, "timeout": 120, **options}


@pytest.fixture(autouse=True)
def no_worker_stays_behind():
    """Stops all workers, even if a test fails and its traceback keeps the loader."""
    before = set(multiprocessing.active_children())
    yield
    if set(multiprocessing.active_children()) - before:
        for each in gc.get_objects():
            if type(each).__name__ == "_MultiProcessingDataLoaderIter":
                each._shutdown_workers()
    assert set(multiprocessing.active_children()) <= before


class Noise(Dataset):
    """Draws from every kind of generator that a dataset may have."""

    def __init__(self, inner=None):
        self.python, self.torch = random.Random(0), torch.Generator()
        self.numpy, self.legacy = numpy.random.default_rng(0), numpy.random.RandomState(0)
        self.inner, self.itself = inner, self

    def __len__(self):
        return 4

    def __getitem__(self, index):
        own = [
            self.python.random(),
            torch.rand(1, generator=self.torch).item(),
            self.numpy.random(),
            self.legacy.random_sample(),
        ]
        return torch.tensor(
            own + (self.inner[index].tolist() if self.inner else []), dtype=torch.float64
        )


class Draws(Dataset):
    """Each row is the result of one call of a function."""

    def __init__(self, draw, **held):
        self.draw = draw
        vars(self).update(held)

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.tensor(self.draw(self), dtype=torch.float64)


class Augment:
    def __init__(self, generator):
        self.generator = generator

    def __call__(self):
        return self.generator.random()


class Shared(Dataset):
    generator = random.Random(0)

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.tensor(self.generator.random(), dtype=torch.float64)


@dataclass(frozen=True)
class FrozenDataset(Dataset):
    generator: numpy.random.Generator

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return self.generator.random()


class SlottedDataset:
    __slots__ = ("generator", "unset")

    def __init__(self):
        self.generator = random.Random(0)

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.tensor(self.generator.random(), dtype=torch.float64)


def in_a_transform():
    generator = numpy.random.default_rng(0)
    augment = Augment(generator)  # refers to the same generator, which is reseeded in place
    return Draws(lambda self: augment(), generator=generator, augment=augment)


def behind(make):
    """Rows drawn by a function from a generator to which only make(generator) refers."""

    def dataset():
        return Draws(lambda self: self.held(), held=make(random.Random(0)))

    return dataset


def of_a_closure(generator):
    factor = 1  # its cell comes first

    def draw():
        return factor * generator.random()

    return draw


def of_a_default(generator):
    def draw(own=generator):
        return own.random()

    return draw


def of_a_keyword(generator):
    def draw(*, own=generator):
        return own.random()

    return draw


def of_an_attribute(generator):
    def draw():
        return draw.own.random()

    draw.own = generator
    return draw


def of_a_wrapper(generator):
    @functools.wraps(Augment)
    def draw():
        return sum(Augment(generator)() for _ in range(1))

    return draw


HERE = random.Random(0)  # as at the top of many scripts


def of_the_module(generator):
    globals()["HERE"] = generator

    def draw():
        return sum(HERE.random() for _ in range(1))

    return draw


def of_a_static_method(generator):
    kind = type("Kind", (), {"draw": staticmethod(lambda own=generator: own.random())})
    return SimpleCall(kind())


def of_a_class_method(generator):
    kind = type("Kind", (), {"draw": classmethod(lambda cls, own=generator: own.random())})
    return SimpleCall(kind())


class SimpleCall:
    def __init__(self, owner):
        self.owner = owner

    def __call__(self):
        return self.owner.draw()


class Has:
    """Draws from the only generator in a container."""

    def __init__(self, kind, generator):
        self.held = kind([generator])

    def __call__(self):
        return next(iter(self.held)).random()


DATASETS = {
    "closure": behind(of_a_closure),
    "default": behind(of_a_default),
    "keyword": behind(of_a_keyword),
    "attribute of a function": behind(of_an_attribute),
    "wrapper": behind(of_a_wrapper),
    "global variable": behind(of_the_module),
    "static method": behind(of_a_static_method),
    "class method": behind(of_a_class_method),
    "function of a bound method": behind(
        lambda generator: MethodType(lambda owner: generator.random(), object())
    ),
    "bound method": behind(lambda generator: Augment(generator).__call__),
    "method of the generator": behind(lambda generator: generator.random),
    "method of NumPy's": behind(lambda _: numpy.random.default_rng(0).random),
    "method of torch's": lambda: Draws(
        lambda self: torch.rand(1, generator=self.seeds.__self__).item(),
        seeds=torch.Generator().manual_seed,
    ),
    "partial": behind(lambda generator: functools.partial(lambda own: own.random(), generator)),
    "partial of a method": behind(lambda generator: functools.partial(generator.uniform, 0, 1)),
    "set": behind(lambda generator: Has(set, generator)),
    "frozenset": behind(lambda generator: Has(frozenset, generator)),
    "deque": behind(lambda generator: Has(deque, generator)),
    "own": Noise,
    "subclass": lambda: Draws(
        lambda self: self.held.random(), held=type("Own", (random.Random,), {})(0)
    ),
    "nested": lambda: Noise(inner=Noise()),
    "Subset": lambda: Subset(Noise(), range(4)),
    "ConcatDataset": lambda: ConcatDataset([Noise()]),
    "frozen": lambda: FrozenDataset(numpy.random.default_rng(0)),
    "slots": SlottedDataset,
    "slots of a base class": type("Derived", (SlottedDataset,), {}),
    "class": Shared,
    "base class of a base class": type("Derived", (type("Base", (Shared,), {}),), {}),
    "transform": in_a_transform,
    "list of transforms": lambda: Draws(
        lambda self: self.steps[1](), steps=[None, Augment(random.Random(0))]
    ),
    "dict of tuples": lambda: Draws(
        lambda self: self.steps["train"][0](), steps={"train": (Augment(random.Random(0)),)}
    ),
}


@pytest.mark.usefixtures("limit")
@pytest.mark.parametrize("kind", ["nested", "Subset", "bound method", "global variable", "set"])
def test_workers_draw_different_numbers_and_the_same_at_the_next_run_5059(kind):
    def draw():
        loader = DataLoader(
            DATASETS[kind](),
            batch_size=None,
            **forked(2),
            worker_init_fn=data_loading.seed_worker,
            generator=torch.Generator().manual_seed(3),
        )
        return torch.stack(list(loader))

    once, again = draw(), draw()
    assert torch.equal(once, again)
    for column in once.reshape(4, -1).T:
        assert len(set(column.tolist())) == 4


def in_worker(**info):
    """Makes the test process look like a worker process."""
    return mock.patch.object(data_loading, "get_worker_info", return_value=SimpleNamespace(**info))


class Slotted:
    __slots__ = ()


class RandomState:
    """A namesake of NumPy's."""


class Generator:
    """A namesake of NumPy's."""


def seeded(dataset, seed=3 * 2**32 + 5):
    with in_worker(dataset=dataset, seed=seed):
        data_loading.seed_worker(0)
    return dataset


def test_generators_of_equal_seeds_draw_different_numbers_and_none_of_the_workers_own():
    seed = 3 * 2**32 + 5
    kinds = (random.Random, numpy.random.default_rng, numpy.random.RandomState)
    dataset = Draws(None, rngs=[[kind(0) for _ in range(1000)] for kind in kinds])
    numbers = [generator.random() for rngs in seeded(dataset, seed).rngs for generator in rngs]
    assert len({*numbers, random.Random(seed).random()}) == 3001
    several = seeded([torch.Generator() for _ in range(1000)], seed)
    assert len({generator.initial_seed() for generator in several}) == 1000
    noises = [torch.rand(1, generator=torch.Generator().manual_seed(seed)).item()]
    dataset = Draws(None, a=torch.Generator(), b=torch.Generator())
    seeded(dataset, seed)
    noises += [torch.rand(1, generator=generator).item() for generator in (dataset.a, dataset.b)]
    assert len(set(noises)) == 3
    own = random.Random(seed)  # the worker's `random`, seeded as by torch
    seeds = {generator.initial_seed() for generator in (dataset.a, dataset.b)}
    assert not seeds & {own.getrandbits(63) for _ in seeds}


def test_all_bits_of_the_workers_seed_count_and_nothing_else():
    firsts = [seeded([random.Random(0)], seed)[0].random() for seed in (1, 1 + 2**32)]
    assert firsts[0] == 0.4498763020585105  # equal in every process, unlike hash() of a string
    assert firsts[1] != firsts[0]


def test_generators_keep_their_kind_and_their_identity():
    dataset = Noise(inner=Noise())
    dataset.inner.numpy = numpy.random.Generator(numpy.random.Philox(0))
    dataset.others = others = [RandomState(), Generator()]
    dataset.state, dataset.generator = others
    before = [dataset.numpy, dataset.inner.numpy, dataset.legacy]
    seeded(dataset)
    assert [dataset.numpy, dataset.inner.numpy, dataset.legacy] == before
    assert type(dataset.inner.numpy.bit_generator) is numpy.random.Philox
    assert [dataset.state, dataset.generator] == others
    seeded(Slotted())  # nothing to seed, but no error


def test_a_normal_that_is_kept_for_later_is_not_drawn_by_every_worker():
    firsts = set()
    for worker in range(2):
        generator = numpy.random.RandomState(0)
        generator.standard_normal()  # draws two numbers and keeps one of them
        firsts.add(seeded(Draws(None, held=generator), seed=worker).held.standard_normal())
    assert len(firsts) == 2


@pytest.mark.usefixtures("limit")
@pytest.mark.parametrize("make", DATASETS.values(), ids=DATASETS)
def test_generators_are_found_wherever_a_dataset_holds_them(make):
    def draw(seed):
        return torch.as_tensor(seeded(make(), seed)[0]).reshape(-1).tolist()

    first = draw(1)
    assert draw(1) == first
    assert not set(draw(2)) & set(first)


@pytest.mark.parametrize(("entries", "found"), [(1000, True), (1001, False)])
def test_lists_longer_than_1000_are_data(entries, found):
    generator = random.Random(0)
    others = [random.Random(0), random.Random(0)]
    rows = [generator] + [1] * (entries - 1)
    seeded(Draws(None, before=others[0], rows=rows, after=others[1]))
    assert (generator.random() != random.Random(0).random()) is found
    assert all(other.random() != random.Random(0).random() for other in others)


@pytest.mark.parametrize("kind", [set, frozenset, deque, tuple, lambda rows: dict(enumerate(rows))])
def test_containers_longer_than_1000_are_data(kind):
    generator = random.Random(0)
    seeded(Draws(None, rows=kind([generator, *range(1000)])))
    assert generator.random() == random.Random(0).random()


class Counted(list):
    """Stops a search that visits the list too often."""

    def __len__(self):
        self.visits = getattr(self, "visits", 0) + 1
        if self.visits > 9:
            raise AssertionError("walks for ever")
        return super().__len__()


@pytest.mark.usefixtures("limit")
def test_what_holds_itself_is_walked_once():
    rows = Counted([random.Random(0)])
    rows.append(rows)
    dataset = Draws(None, rows=rows)
    dataset.draw = lambda: dataset
    dataset.itself = dataset.draw
    seeded(dataset)
    assert rows[0].random() != random.Random(0).random()


@pytest.mark.parametrize("kind", [set, frozenset])
def test_the_order_of_a_set_of_several_classes_does_not_change_the_seeds(kind):
    class First(Augment):
        class Second(Augment):
            pass

    class Second(Augment):
        pass

    def numbers():
        spacers = [object() for _ in range(random.SystemRandom().randrange(50))]
        held = kind(each(random.Random(0)) for each in (Second, First, First.Second))
        dataset = seeded(Draws(None, held=held, spacers=spacers))
        return {type(each).__qualname__: each() for each in dataset.held}

    assert all(numbers() == numbers() for _ in range(20))


class Lazy(Dataset):
    """Creates its generator at the first row."""

    def __init__(self, seed):
        self.seed, self.generator = seed, None

    def __len__(self):
        return 4

    def __getitem__(self, index):
        self.generator = self.generator or random.Random(self.seed())
        return self.generator.random()


@pytest.mark.usefixtures("limit")
def test_a_generator_that_does_not_exist_yet_is_not_found():
    numbers = []
    for seed in (lambda: 0, torch.initial_seed):  # the docstring recommends the second
        loader = DataLoader(
            Lazy(seed), batch_size=None, worker_init_fn=data_loading.seed_worker, **forked(2)
        )
        numbers.append(len(set(loader)))
    assert numbers == [2, 4]


def test_an_empty_cell_of_a_closure_is_passed_over():
    def generator_of():
        rng = random.Random(0)  # its cell comes after the empty cell

        def draw():
            return later, rng

        seeded(Draws(draw))
        later = rng
        return later

    assert generator_of().random() != random.Random(0).random()


def test_other_global_variables_are_left_alone():
    def draw():
        return DATASETS  # contains generators, but is not a generator

    assert data_loading._generators(Draws(draw)) == []


class Expensive:
    @property
    def table(self):
        raise AssertionError("read from disk")


def test_properties_are_not_evaluated():
    seeded(Draws(None, rows=Expensive()))


def test_modules_and_tensors_are_not_walked():
    tensor = torch.ones(1)
    tensor.generator, held = random.Random(0), random.Random(0)
    before = random.getstate()
    seeded(Draws(None, tensor=tensor, module=SimpleNamespace, random=random, kind=type(held)))
    assert random.getstate() == before
    assert tensor.generator.random() == held.random()


def test_seed_worker_outside_a_worker_raises():
    with pytest.raises(
        RuntimeError,
        match=r"^seed_worker\(\) outside of a DataLoader worker: pass it as worker_init_fn$",
    ):
        data_loading.seed_worker(0)


def test_rows_are_read_as_they_are_asked_for_and_whole_numbers_may_be_of_any_type():
    def rows():
        yield from "ab"
        raise AssertionError("read too far")

    assert next(data_loading.shard(rows(), numpy.int64(1), numpy.int64(2))) == "b"


def test_a_shuffle_that_differs_between_workers_loses_rows_and_doubles_others():
    shares = []
    for worker, rows in enumerate([[0, 1, 2, 3], [0, 2, 1, 3]]):
        with in_worker(id=worker, num_workers=2):
            shares += data_loading.shard(rows)
    assert sorted(shares) == [0, 2, 2, 3]


class Sharded(IterableDataset):
    def __init__(self, rows, **rank):
        self.rows, self.generator, self.rank = rows, random.Random(0), rank

    def __iter__(self):
        rows = list(range(self.rows))
        self.generator.shuffle(rows)  # the same order in every worker
        return data_loading.shard(rows, **self.rank)


@pytest.mark.parametrize("rows", [0, 1, 7])
@pytest.mark.parametrize("workers", [0, 1, 2])
def test_sharded_rows_arrive_exactly_once(rows, workers):
    loader = DataLoader(Sharded(rows), batch_size=None, **forked(workers))
    assert sorted(data_loading.Prefetcher(loader, "cpu")) == list(range(rows))


@pytest.mark.parametrize("rows", [0, 3, 11])
@pytest.mark.parametrize("workers", [0, 1, 2])
def test_two_ranks_get_every_sample_exactly_once(rows, workers):
    shares = []
    for rank in range(2):
        dataset = Sharded(rows, rank=rank, world_size=2)
        shares.append(list(DataLoader(dataset, batch_size=None, **forked(workers))))
        order = list(range(rows))
        random.Random(0).shuffle(order)
        assert sorted(shares[-1]) == sorted(order[rank::2])  # for any number of workers
    assert sorted(shares[0] + shares[1]) == list(range(rows))


@pytest.mark.parametrize(
    ("rank", "world_size", "error", "text"),
    [
        (2, 2, ValueError, "rank=2, world_size=2: expected 0 <= rank < world_size"),
        (-1, 2, ValueError, "rank=-1, world_size=2: expected"),
        (0, 0, ValueError, "rank=0, world_size=0: expected"),
        (0.5, 2, TypeError, "rank=0.5: expected a whole number"),
        (0, None, TypeError, "world_size=None: expected a whole number"),
    ],
)
def test_a_rank_that_is_none_is_refused(rank, world_size, error, text):
    with pytest.raises(error, match=f"^{text}"):
        data_loading.shard([1, 2], rank=rank, world_size=world_size)


@given(st.integers(0, 20), st.integers(1, 4), st.integers(1, 3))
def test_a_worker_of_a_rank_gets_every_nth_row_of_the_rank_from_its_own_number_on(
    rows, workers, ranks
):
    for rank in range(ranks):
        own = list(range(rank, rows, ranks))
        for worker in range(workers):
            with in_worker(id=worker, num_workers=workers):
                share = list(data_loading.shard(iter(range(rows)), rank, ranks))
            assert share == own[worker::workers]
        assert list(data_loading.shard(range(rows), rank, ranks)) == own


@given(st.integers(1, 10**9), st.integers(1, 10**12), st.integers(1, 8), st.integers(-1, 16))
@example(10**17, 2 * 10**17 - 1, 1, 8)
def test_workers_fit_the_cores_and_the_memory(batch_bytes, memory_bytes, prefetch_factor, limit):
    with mock.patch("os.sched_getaffinity", return_value=set(range(6)), create=True):
        count = data_loading.worker_count(batch_bytes, memory_bytes, prefetch_factor, limit)
    assert 0 <= count <= max(0, min(6, limit))
    assert count * prefetch_factor * batch_bytes <= memory_bytes
    if count < min(6, limit):
        assert (count + 1) * prefetch_factor * batch_bytes > memory_bytes


def test_at_most_eight_workers_unless_asked_for_more_and_two_batches_each():
    with mock.patch("os.sched_getaffinity", return_value=set(range(64)), create=True):
        assert data_loading.worker_count(1, 2**30) == 8
        found = data_loading.worker_count(2**20, 7.5 * 2**20)
    assert (found, type(found)) == (3, int)


@pytest.mark.parametrize(("counted", "expected"), [(3, 3), (None, 1)])
def test_all_cores_count_where_the_system_does_not_report_those_of_a_process(
    monkeypatch, counted, expected
):
    monkeypatch.delattr("os.sched_getaffinity", raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: counted)
    assert data_loading.worker_count(1, 2**30) == expected


@pytest.mark.parametrize(
    "wrong",
    [{"batch_bytes": 0}, {"memory_bytes": -1}, {"memory_bytes": math.nan}, {"prefetch_factor": 0}],
)
def test_impossible_sizes_are_refused(wrong):
    (name, value), *_ = wrong.items()
    with pytest.raises(ValueError, match=f"{name}={value}"):
        data_loading.worker_count(**{"batch_bytes": 1, "memory_bytes": 1, **wrong})


ROW = {"image": torch.ones(3, 2, 2), "label": 1, "boxes": [torch.zeros(1, 4), 0.5], "name": "a"}
arrays = st.builds(
    lambda shape, dtype: numpy.ones(shape, dtype),
    st.lists(st.integers(1, 3), max_size=2),
    st.sampled_from(["float32", "float64", "int64"]),
)
tensors = st.builds(
    lambda shape, dtype: torch.ones(shape, dtype=dtype),
    st.lists(st.integers(0, 3), max_size=2),
    st.sampled_from([torch.float32, torch.int64, torch.bool]),
)
samples = st.recursive(
    st.one_of(tensors, arrays, st.integers(-9, 9), st.floats(), st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3),
        st.lists(inner, min_size=1, max_size=3).map(tuple),
        st.dictionaries(st.text(max_size=3), inner, min_size=1, max_size=3),
        st.tuples(inner, inner).map(lambda pair: Point(*pair)),
    ),
    max_leaves=6,
)


def same_batch(one, other):
    if type(one) is not type(other):
        return False
    if isinstance(one, torch.Tensor):
        return one.dtype == other.dtype and torch.equal(one.nan_to_num(), other.nan_to_num())
    if isinstance(one, dict):
        return list(one) == list(other) and all(same_batch(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same_batch, one, other))
    return one == other


@given(samples, st.integers(1, 4))
def test_what_fits_is_collated_as_default_collate_does(sample, count):
    batch = [copy.deepcopy(sample) for _ in range(count)]
    assert same_batch(data_loading.collate(batch), default_collate(batch))


def leaves_of(sample, path="sample"):
    """Yields (path, setter) for every value that is not a container."""
    pairs = (
        sample.items()
        if isinstance(sample, dict)
        else enumerate(sample)
        if isinstance(sample, list)
        else ()
    )
    for key, value in pairs:
        inner = f"{path}[{key!r}]"
        if isinstance(value, (dict, list)):
            yield from leaves_of(value, inner)
        else:
            yield inner, (sample, key)


nested = st.recursive(
    st.one_of(tensors, st.integers(-9, 9)),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3),
        st.dictionaries(st.text(max_size=3), inner, min_size=1, max_size=3),
    ),
    max_leaves=6,
).filter(lambda sample: isinstance(sample, (list, dict)))


@given(nested, st.integers(2, 6), st.data())
def test_the_error_names_the_field_and_the_sample_that_does_not_fit(sample, count, data):
    batch = [copy.deepcopy(sample) for _ in range(count)]
    bad = data.draw(st.integers(0, count - 1))
    path, (owner, key) = data.draw(st.sampled_from(list(leaves_of(batch[bad]))))
    owner[key] = None
    with pytest.raises((RuntimeError, TypeError)) as caught:
        data_loading.collate(batch)
    text = str(caught.value)
    assert text.startswith(f"{path} does not fit: ")
    assert f"NoneType in {bad}" in text.split(" (default_collate: ")[0]


def error_of(batch, kind=RuntimeError):
    with pytest.raises(kind) as caught:
        data_loading.collate(batch)
    return str(caught.value).split(" (default_collate: ")[0]


def row(**changes):
    return {**ROW, **changes}


@pytest.mark.parametrize(
    ("batch", "text"),
    [
        (
            [row(), row(image=torch.ones(1, 2, 2)), row()],
            "sample['image'] does not fit: float32 [3, 2, 2] in 0, 2; float32 [1, 2, 2] in 1",
        ),
        (
            [row(boxes=[torch.zeros(2, 4), 0.5]), row()],
            "sample['boxes'][0] does not fit: float32 [2, 4] in 0; float32 [1, 4] in 1",
        ),
        (
            [row(), row(boxes=[torch.zeros(1, 4)])],
            "sample['boxes'] does not fit: list of 2 in 0; list of 1 in 1",
        ),
        (
            [Point(torch.ones(2), 1), Point(torch.ones(3), 1)],
            "sample.x does not fit: float32 [2] in 0; float32 [3] in 1",
        ),
        (
            [numpy.ones((2, 2)), numpy.ones(2)],
            "sample does not fit: float64 [2, 2] in 0; float64 [2] in 1",
        ),
        (
            [{"a": 1, "b": 2}, {"b": 2}],
            "sample does not fit: dict with ['a', 'b'] in 0; dict with ['b'] in 1",
        ),
        (
            [{"a": torch.ones(1), "b": 2}, {"a": torch.ones(2)}],
            "sample does not fit: dict with ['a', 'b'] in 0; dict with ['a'] in 1",
        ),
        (
            [(torch.ones(1), "a"), (torch.ones(2), "a"), torch.ones(3)],
            "sample[0] does not fit: float32 [1] in 0; float32 [2] in 1; nothing in 2",
        ),
        (
            [{"a": torch.ones(1)}, {"a": torch.ones(2)}, [1], {"b": 1}],
            "sample['a'] does not fit: float32 [1] in 0; float32 [2] in 1; nothing in 2, 3",
        ),
        (
            [{"a": torch.ones(1)}, {"a": torch.ones(2), "b": 2}],  # default_collate() ignores "b"
            "sample['a'] does not fit: float32 [1] in 0; float32 [2] in 1",
        ),
        (
            [(1, torch.ones(1)), (1, torch.ones(2)), (1,), "ab"],
            "sample[1] does not fit: float32 [1] in 0; float32 [2] in 1; nothing in 2, 3",
        ),
        (
            [UserList([torch.ones(1)]), UserList([torch.ones(2)])],
            "sample[0] does not fit: float32 [1] in 0; float32 [2] in 1",
        ),
        (
            [OrderedDict.fromkeys(range(9), 1), {0: 1}],
            "sample does not fit: OrderedDict with [0, 1, 2, 3, 4, 5, ...] in 0; dict with [0] in 1",
        ),
        (
            [1, "ab", b"ab", (1, 2), [1]],
            "sample does not fit: int in 0; str in 1; bytes in 2; tuple of 2 in 3; list of 1 in 4",
        ),
        (
            [{"a": 1}, 2],
            "sample does not fit: dict with ['a'] in 0; int in 1",
        ),
        (
            [torch.ones(2), torch.ones(3, device="meta")],
            "sample does not fit: float32 [2] in 0; float32 [3] on meta in 1",
        ),
        (
            [torch.ones(2), torch.ones(2).to_sparse()],
            "sample does not fit: float32 [2] in 0; float32 [2], sparse_coo in 1",
        ),
    ],
)
def test_the_error_says_what_each_sample_holds_in_that_field(batch, text):
    assert error_of(batch, (RuntimeError, TypeError)) == text


@pytest.mark.parametrize(
    ("alike", "others", "text"),
    [
        (8, 4, "0, 1, 2, 3, 4, 5, 6, 7; [2] in 8; [3] in 9; [4] in 10; [5] in 11"),
        (
            9,
            5,
            "0, 1, 2, 3, 4, 5, 6, 7 and 1 more; [2] in 9; [3] in 10; [4] in 11; [5] in 12; 1 not shown",
        ),
    ],
)
def test_long_lists_of_samples_and_of_shapes_are_cut(alike, others, text):
    batch = [torch.ones(1)] * alike + [torch.ones(2 + n) for n in range(others)]
    text = f"sample does not fit: [1] in {text}"
    assert error_of(batch).replace("float32 ", "") == text


class Column:
    """Like an array without a device, as in NumPy before version 2."""

    def __init__(self, **fields):
        vars(self).update(fields)


def test_what_has_a_dtype_and_a_shape_is_an_array():
    batch = [Column(dtype="float32", shape=(2,)), Column(shape=(2,)), Column(dtype="float32")]
    assert error_of(batch, TypeError) == "sample does not fit: float32 [2] in 0; Column in 1, 2"


def test_a_nested_tensor_is_named():
    make = torch.nested.nested_tensor if hasattr(torch.nested, "nested_tensor") else None
    batch = [(make or torch.nested_tensor)([torch.ones(2)])]
    assert error_of(batch) == "sample does not fit: nested Tensor in 0"


def test_the_error_keeps_the_class_and_the_text_of_default_collate():
    with pytest.raises(TypeError, match=r"NoneType in 1 \(default_collate: .{1,200}\)$"):
        data_loading.collate([torch.ones(1), None])
    with pytest.raises(RuntimeError, match="stack expects each tensor to be equal size") as caught:
        data_loading.collate([torch.ones(1), torch.ones(2)])
    assert isinstance(caught.value.__cause__, RuntimeError)
    with pytest.raises(RuntimeError, match="list index out of range"):  # an IndexError
        data_loading.collate([])
    assert error_of([]) == "the batch has no sample: []"
    kind = type("Mine", (TypeError,), {})
    with mock.patch.object(data_loading, "default_collate", side_effect=kind):
        assert error_of([1], TypeError) == "sample does not fit: int in 0"


def test_an_error_without_a_sample_as_its_cause_passes_as_it_is():
    def full(batch):
        if len(batch) > 2:
            raise MemoryError("full")

    patch = mock.patch.object(data_loading, "default_collate", full)
    with patch, pytest.raises(MemoryError, match="^full$"):
        data_loading.collate([1, 2, 3])
    with pytest.raises(TypeError, match="is not subscriptable$"):
        data_loading.collate(None)


@pytest.mark.parametrize("errors", [0, 1])  # the number of errors before the interrupt
def test_an_interrupt_of_collate_passes_as_it_is(errors):
    raised = [ValueError] * errors + [KeyboardInterrupt] + [ValueError] * 9
    patch = mock.patch.object(data_loading, "default_collate", side_effect=raised)
    with patch, pytest.raises(KeyboardInterrupt):
        data_loading.collate([1, 2])


@pytest.mark.parametrize("workers", [0, 1])
def test_collate_in_a_loader_names_the_sample_74337(workers):
    rows = [torch.ones(2), torch.ones(2), torch.ones(2), None]
    loader = DataLoader(rows, batch_size=2, collate_fn=data_loading.collate, num_workers=workers)
    text = r"sample does not fit: float32 \[2\] in 0; NoneType in 1 "
    with pytest.raises((TypeError, RuntimeError), match=text):  # the type differs in a worker
        list(loader)


def test_collating_what_fits_looks_at_it_once():
    with mock.patch.object(data_loading, "default_collate", wraps=default_collate) as calls:
        data_loading.collate([torch.ones(2)] * 4)
    assert calls.call_count == 1


# ---- ResumableBatches ----


ROWS = 11  # in batches of 4, so the last batch is short


class Reversed:
    """A sampler without a generator, around a sampler that has one."""

    def __init__(self, sampler):
        self.sampler = sampler

    def __len__(self):
        return len(self.sampler)

    def __iter__(self):
        return reversed(list(self.sampler))


class Resumable:
    """The objects in a script: a dataset, a sampler and a loader."""

    def __init__(
        self, kind="shuffled", workers=0, seed=5, shared=False, drop_last=False, **options
    ):
        generator = torch.Generator().manual_seed(seed)
        dataset = TensorDataset(torch.arange(ROWS))
        sampler = {
            "shuffled": lambda: RandomSampler(dataset, generator=generator),
            "replaced": lambda: RandomSampler(
                dataset, replacement=True, num_samples=ROWS, generator=generator
            ),
            "weighted": lambda: WeightedRandomSampler(
                torch.arange(1.0, ROWS + 1), ROWS, generator=generator
            ),
            "subset": lambda: SubsetRandomSampler(range(ROWS), generator=generator),
            "wrapped": lambda: Reversed(RandomSampler(dataset, generator=generator)),
            "in order": lambda: SequentialSampler(dataset),
        }[kind]()
        self.batches = data_loading.ResumableBatches(BatchSampler(sampler, 4, drop_last))
        self.loader = DataLoader(
            dataset,
            batch_sampler=self.batches,
            generator=generator if shared else None,
            **forked(workers, **options),
        )

    def epoch(self, source=None):
        for (numbers,) in self.batches.counted(source or self.loader):
            yield numbers.tolist()


def epochs(run, count):
    return [list(run.epoch()) for _ in range(count)]


def resumed_after(given, **options):
    """The batches before the interruption, and a restarted script that has loaded the state."""
    first, seen, state = Resumable(**options), [], None
    while state is None:
        for numbers in first.epoch():
            seen.append(numbers)
            if len(seen) == given:
                state = first.batches.state_dict()
                break
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    again = Resumable(**{**options, "seed": 99})
    again.batches.load_state_dict(torch.load(file, weights_only=True))
    return seen, again


@pytest.mark.usefixtures("limit")
@pytest.mark.parametrize(
    "kind", ["shuffled", "replaced", "weighted", "subset", "wrapped", "in order"]
)
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("given", range(1, 8))
def test_a_resumed_epoch_has_its_rest_and_so_have_the_next_ones(kind, shared, given):
    expected = [batch for epoch in epochs(Resumable(kind, shared=shared), 4) for batch in epoch]
    seen, again = resumed_after(given, kind=kind, shared=shared)
    assert seen == expected[:given]
    rest = [batch for epoch in epochs(again, 4 - (given - 1) // 3) for batch in epoch]
    assert rest == expected[given:]


@pytest.mark.usefixtures("limit")
@pytest.mark.parametrize(
    ("persistent", "shared", "given"),
    [(False, False, 1), (False, True, 3), (True, False, 5), (True, True, 4)],
)
def test_what_workers_have_read_ahead_does_not_count(persistent, shared, given):
    options = {"shared": shared, "workers": 2, "persistent_workers": persistent}
    expected = [batch for epoch in epochs(Resumable(shared=shared), 3) for batch in epoch]
    seen, again = resumed_after(given, **options)
    assert seen == expected[:given]
    rest = [batch for epoch in epochs(again, 3 - (given - 1) // 3) for batch in epoch]
    assert rest == expected[given:]


def test_short_batches_may_be_dropped():
    expected = [batch for epoch in epochs(Resumable(drop_last=True), 2) for batch in epoch]
    assert [len(batch) for batch in expected] == [4] * 4
    seen, again = resumed_after(1, drop_last=True)
    assert seen + [batch for epoch in epochs(again, 2) for batch in epoch] == expected


@pytest.mark.usefixtures("limit")
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("options", [{}, {"workers": 1, "persistent_workers": True}])
def test_between_epochs_the_next_one_follows(shared, options):
    expected = epochs(Resumable(shared=shared), 3)
    first, again = (Resumable(shared=shared, seed=seed, **options) for seed in (5, 99))
    again.batches.load_state_dict(first.batches.state_dict())  # before the first batch
    assert epochs(again, 1) == expected[:1]
    epochs(first, 1)
    again.batches.load_state_dict(first.batches.state_dict())
    assert again.batches.state_dict()["consumed"] == 0
    assert epochs(again, 2) == expected[1:]


@pytest.mark.parametrize("shared", [False, True])
def test_an_epoch_that_was_interrupted_before_its_first_batch_is_not_lost(shared):
    expected = epochs(Resumable(shared=shared), 2)

    def interrupted(loader):
        next(iter(loader))
        raise KeyboardInterrupt
        yield

    first, again = Resumable(shared=shared), Resumable(shared=shared, seed=99)
    with pytest.raises(KeyboardInterrupt):
        list(first.epoch(interrupted(first.loader)))
    again.batches.load_state_dict(first.batches.state_dict())
    assert epochs(again, 2) == expected


def test_a_state_may_be_saved_and_loaded_again_and_again():
    expected = [batch for epoch in epochs(Resumable(), 3) for batch in epoch]
    seen, state = [], Resumable().batches.state_dict()
    for n in range(9):
        run = Resumable(seed=n)
        run.batches.load_state_dict(state)
        assert run.batches.state_dict()["consumed"] == state["consumed"]
        run.batches.load_state_dict(run.batches.state_dict())  # before its first batch
        epoch = run.epoch()
        batch = next(epoch, None)
        seen.append(next(run.epoch()) if batch is None else batch)
        state = run.batches.state_dict()
    assert seen == expected


def test_the_state_is_a_copy():
    _, again = resumed_after(2)
    for _ in range(2):  # first a loaded state, then the state of a running epoch
        state = again.batches.state_dict()
        state["generator"].zero_()
        assert again.batches.state_dict()["generator"].any()
        next(again.epoch())
    other = Resumable(seed=99)
    state = resumed_after(2)[1].batches.state_dict()
    other.batches.load_state_dict(state)
    state["generator"].zero_()
    assert epochs(other, 1)[0] == epochs(Resumable(), 1)[0][2:]


def test_what_was_consumed_is_not_loaded_again():
    loaded = []

    class Loads(Dataset):
        def __len__(self):
            return ROWS

        def __getitem__(self, index):
            loaded.append(index)
            return index

    sampler = RandomSampler(range(ROWS), generator=torch.Generator().manual_seed(5))
    batches = data_loading.ResumableBatches(BatchSampler(sampler, 4, False))
    batches.load_state_dict(resumed_after(2)[1].batches.state_dict())
    assert len(batches) == 3  # the length of a whole epoch
    rest = list(batches.counted(DataLoader(Loads(), batch_sampler=batches)))
    assert len(loaded) == sum(map(len, rest)) == 3


@pytest.mark.usefixtures("limit")
@pytest.mark.parametrize(
    ("workers", "shared", "given"),
    [(0, False, 1), (0, False, 3), (0, True, 4), (2, False, 1), (2, True, 4)],
)
def test_the_loss_draws_what_it_would_have_drawn(workers, shared, given):
    def train(run, drawn, at=None):
        for numbers in run.epoch():
            drawn.append((numbers, torch.rand(1).item()))  # as dropout would
            if len(drawn) == at:
                return run.batches.state_dict(), torch.get_rng_state()
        return None

    kept, options = torch.get_rng_state(), {"workers": workers, "shared": shared}
    try:
        torch.manual_seed(0)
        expected = []
        run = Resumable(**options)
        for _ in range(2):
            train(run, expected)
        torch.manual_seed(0)
        drawn, run, state = [], Resumable(**options), None
        while state is None:
            state = train(run, drawn, given)
        again = Resumable(**options, seed=99)
        again.batches.load_state_dict(state[0])
        torch.set_rng_state(state[1])
        while len(drawn) < len(expected):
            train(again, drawn)
        assert drawn == expected
    finally:
        torch.set_rng_state(kept)


@pytest.mark.usefixtures("limit")
@pytest.mark.parametrize("finished", [0, 1])
@pytest.mark.parametrize("persistent", [False, True])
def test_the_loss_draws_so_after_a_state_from_between_two_epochs_too(persistent, finished):
    def train(run, count):
        return [torch.rand(1).item() for _ in range(count) for _ in run.epoch()]

    kept, options = torch.get_rng_state(), {"workers": 1, "persistent_workers": persistent}
    try:
        torch.manual_seed(0)
        run = Resumable(**options)
        train(run, finished)
        state, numbers = run.batches.state_dict(), torch.get_rng_state()
        expected = train(run, 2)
        again = Resumable(**options, seed=99)
        again.batches.load_state_dict(state)
        torch.set_rng_state(numbers)
        assert train(again, 2) == expected
    finally:
        torch.set_rng_state(kept)


def test_an_older_state_without_its_last_entry_is_loaded():
    expected = epochs(Resumable(), 1)[0]
    state = resumed_after(1)[1].batches.state_dict()
    del state["begun"]
    again = Resumable(seed=99)
    again.batches.load_state_dict(state)
    assert epochs(again, 1) == [expected[1:]]


def test_a_whole_epoch_moves_the_global_random_state_as_the_loader_alone_does():
    kept, drawn = torch.get_rng_state(), []
    try:
        for counted in (True, False):
            run = Resumable("in order")
            torch.manual_seed(0)
            list(run.epoch() if counted else DataLoader(range(ROWS), batch_size=4))
            drawn.append(torch.rand(1).item())
    finally:
        torch.set_rng_state(kept)
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("prefetched", [False, True])
def test_the_seed_of_new_workers_is_put_back_only_after_a_load(prefetched):
    class NewWorkers:
        persistent_workers = True

        def __iter__(self):
            torch.rand(1)
            return iter(run.loader)

        def __len__(self):
            return len(run.loader)

    loader = data_loading.Prefetcher(NewWorkers(), "cpu") if prefetched else NewWorkers()
    run = Resumable()
    epochs(run, 1)
    state = run.batches.state_dict()
    older = {key: value for key, value in state.items() if key != "begun"}
    for loaded, put_back in ((None, False), (state, True), (older, False)):
        if loaded:
            run.batches.load_state_dict(loaded)
        before = torch.get_rng_state()
        list(run.epoch(loader))
        assert torch.equal(torch.get_rng_state(), before) is put_back


def test_a_loader_that_names_no_workers_draws_its_seed_after_a_load_between_two_epochs():
    class Plain:
        def __iter__(self):
            torch.rand(1)
            return iter(run.loader)

    run = Resumable()
    epochs(run, 1)
    run.batches.load_state_dict(run.batches.state_dict())
    before = torch.get_rng_state()
    list(run.epoch(Plain()))
    assert not torch.equal(torch.get_rng_state(), before)


def test_a_pass_says_whether_it_was_resumed():
    fresh = Resumable()
    assert fresh.batches.state_dict()["begun"] is False
    assert fresh.batches.counted(fresh.loader).resumed is False
    for count in (1, 2):
        _, run = resumed_after(count)
        assert run.batches.counted(run.loader).resumed is True


def test_the_generator_may_move_between_the_load_and_the_pass():
    expected = epochs(Resumable(), 2)
    _, again = resumed_after(2)
    again.batches.generator.manual_seed(7)  # as if a checkpoint had its own copy
    assert epochs(again, 2) == [expected[0][2:], expected[1]]


def test_a_sampler_without_a_length_is_resumed():
    class Unsized:
        def __iter__(self):
            return iter([[0], [1], [2]])

    def make():
        batches = data_loading.ResumableBatches(Unsized())
        return batches, batches.counted(DataLoader(range(3), batch_sampler=batches))

    (batches, epoch), (again, rest) = make(), make()
    next(epoch)
    again.load_state_dict(batches.state_dict())
    assert [numbers.tolist() for numbers in rest] == [[1], [2]]


def test_a_loader_need_not_ask_for_more_than_the_last_batch():
    class Loader:
        def __iter__(self):
            return (indices for _, indices in zip(range(3), iter(batches)))

    batches = data_loading.ResumableBatches([[0], [1], [2]])
    assert list(batches.counted(Loader())) == [[0], [1], [2]]


def test_a_pass_knows_how_many_batches_are_left():
    for run, count in ((Resumable(), 3), (resumed_after(1)[1], 2)):
        epoch = run.batches.counted(run.loader)
        assert [epoch.left, *(epoch.left for _ in epoch)] == [*range(count, -1, -1)]


def test_a_prefetcher_reads_ahead_inside():
    expected = epochs(Resumable(), 1)[0]
    run, again = Resumable(), Resumable(seed=99)
    epoch = run.epoch(data_loading.Prefetcher(run.loader, "cpu"))
    assert next(epoch) == expected[0]
    again.batches.load_state_dict(run.batches.state_dict())
    assert list(again.epoch(data_loading.Prefetcher(again.loader, "cpu"))) == expected[1:]


def test_of_an_epoch_that_was_saved_after_its_last_batch_nothing_is_left():
    expected = epochs(Resumable(), 2)
    run, again = Resumable(), Resumable(seed=99)
    epoch = run.epoch()
    assert [next(epoch) for _ in expected[0]] == expected[0]
    again.batches.load_state_dict(run.batches.state_dict())
    assert epochs(again, 2) == [[], expected[1]]


def test_an_epoch_that_was_left_goes_on_if_resumed_and_else_the_next_begins():
    expected = epochs(Resumable(), 2)
    run = Resumable()
    for numbers in run.epoch():
        assert numbers == expected[0][0]
        break
    again = Resumable(seed=99)
    again.batches.load_state_dict(run.batches.state_dict())
    assert epochs(again, 2) == [expected[0][1:], expected[1]]
    (whole,) = epochs(run, 1)
    assert sorted(number for batch in whole for number in batch) == list(range(ROWS))
    assert whole != expected[0]


def test_a_sampler_of_ranks_keeps_its_own_order():
    def make():
        sampler = DistributedSampler(range(ROWS), num_replicas=2, rank=1, seed=3)
        batches = data_loading.ResumableBatches(BatchSampler(sampler, 2, False))
        return sampler, batches, DataLoader(range(ROWS), batch_sampler=batches)

    def epoch(made, number):
        made[0].set_epoch(number)
        for numbers in made[1].counted(made[2]):
            yield numbers.tolist()

    first, again = make(), make()
    expected = [list(epoch(first, number)) for number in range(2)]
    running = epoch(first, 0)
    next(running)
    state = first[1].state_dict()
    assert state == {"consumed": 1, "length": 3, "generator": None, "begun": True}
    again[1].load_state_dict(state)
    assert [list(epoch(again, number)) for number in range(2)] == [expected[0][1:], expected[1]]


def test_a_pass_that_nobody_counts_raises():
    run = Resumable()
    with pytest.raises(RuntimeError, match=r"^iterate over counted\(loader\), not over the loader"):
        list(run.loader)
    assert len(epochs(run, 1)[0]) == 3
    with pytest.raises(RuntimeError, match="^iterate over counted"):
        list(run.loader)


def test_of_two_passes_at_once_the_first_raises():
    run = Resumable()
    first = run.epoch()
    next(first)
    next(run.epoch())
    with pytest.raises(RuntimeError, match="^another pass has begun or a state was loaded"):
        next(first)
    third = run.epoch()
    next(third)
    run.batches.load_state_dict(run.batches.state_dict())
    with pytest.raises(RuntimeError, match="^another pass has begun or a state was loaded"):
        next(third)
    assert run.batches.state_dict()["consumed"] == 1  # rejected batches do not count


def test_batches_that_a_wrapper_joins_are_not_counted_silently():
    run = Resumable()

    def joined():
        yield max(run.loader, key=len)

    text = (
        "^3 batches of indices became 1 batches: count what the loader itself gives, one for one$"
    )
    with pytest.raises(RuntimeError, match=text):
        list(run.epoch(joined()))
    with pytest.raises(RuntimeError, match="^0 batches of indices became 2 batches"):
        list(run.epoch([[torch.ones(1)], [torch.ones(1)]]))


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"consumed": 4}, ValueError, "the state is of batch 4 of 3, and here are 3: another"),
        ({"consumed": -1}, ValueError, "the state is of batch -1 of 3"),
        ({"length": 7}, ValueError, "the state is of batch 2 of 7, and here are 3: another"),
        ({"length": None}, ValueError, "the state is of batch 2 of None, and here are 3: another"),
        ({"consumed": 1.5}, TypeError, "'float' object"),
        (
            {"generator": None},
            ValueError,
            "the sampler of the state has no generator, that of here",
        ),
        ({"consumed": 1, "generator": torch.zeros(3, dtype=torch.uint8)}, RuntimeError, ""),
    ],
)
def test_a_state_that_does_not_fit_changes_nothing(change, error, text):
    _, run = resumed_after(2)
    state = run.batches.state_dict()
    with pytest.raises(error, match=f"^{text}"):
        run.batches.load_state_dict({**state, **change})
    for key in ("consumed", "length", "generator"):
        short = {each: value for each, value in state.items() if each != key}
        with pytest.raises(KeyError, match=key):
            run.batches.load_state_dict(short)
    whole, following = epochs(Resumable(), 2)
    assert epochs(run, 1)[0] == whole[2:]
    epoch = run.epoch()
    first = next(epoch)
    with pytest.raises(error, match=f"^{text}"):
        run.batches.load_state_dict({**state, **change})
    assert [first, *epoch] == following
    other = Resumable("in order").batches
    before = other.state_dict()
    with pytest.raises(ValueError, match="^the sampler of the state has one, that of here no gen"):
        other.load_state_dict(state)
    assert other.state_dict() == before


def test_a_state_from_the_start_of_an_epoch_of_another_length_is_refused():
    run, other = Resumable(), Resumable()
    text = r"^the state is of batch 0 of 7, and here are 3: another dataset or batch size\?$"
    with pytest.raises(ValueError, match=text):
        run.batches.load_state_dict({**other.batches.state_dict(), "length": 7})
    assert epochs(run, 1) == epochs(Resumable(), 1)


class ShuffledLists:
    """A batch sampler that draws its batches itself."""

    def __init__(self, generator):
        self.generator = generator

    def __iter__(self):
        return iter(torch.randperm(9, generator=self.generator).view(3, 3).tolist())


def test_samplers_whose_order_cannot_be_restored_are_refused():
    for generator in (None, torch.default_generator):
        sampler = BatchSampler(RandomSampler(range(9), generator=generator), 4, False)
        text = r"^RandomSampler (has no|draws from the global) generator.*(but None|uses): give it generator=torch"
        with pytest.raises(ValueError, match=rf"{text}\.Generator\(\)$"):
            data_loading.ResumableBatches(sampler)
        # The generator may also belong to the batch sampler itself.
        with pytest.raises(ValueError, match=text.replace("RandomSampler", "ShuffledLists")):
            data_loading.ResumableBatches(ShuffledLists(generator))
    own = torch.Generator().manual_seed(torch.initial_seed())  # a different generator object
    data_loading.ResumableBatches(BatchSampler(RandomSampler(range(9), generator=own), 4, False))
    assert data_loading.ResumableBatches(ShuffledLists(own)).generator is own
    for batches in (None, 3, iter([[1]]), BatchSampler):
        text = f"^expected a batch sampler, which yields lists .* got {re.escape(repr(batches))}$"
        with pytest.raises(TypeError, match=text):
            data_loading.ResumableBatches(batches)
    batches = data_loading.ResumableBatches(SequentialSampler(range(9)))
    with pytest.raises(
        TypeError,
        match="^expected lists of indices, got 0: pass a BatchSampler, and this as batch_sampler$",
    ):
        list(batches.counted(DataLoader(range(9), sampler=batches)))
