import contextlib
import copy
import random
from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass, field, fields
from types import MappingProxyType, SimpleNamespace
from typing import Any
from unittest import mock

import numpy
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from torch.nn.utils.rnn import PackedSequence, pack_sequence
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, TensorDataset

from reference_fixes import data_loading

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


class MyList(list):
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
    """(types on the way, leaves) in order: two batches of one structure agree in the types."""
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
    _, left = flatten(batch)  # the argument is left alone
    assert all(
        tensor is same and torch.equal(tensor, old)
        for tensor, same, old in zip(tensors, left, before)
    )


def test_map_tensors_keeps_what_a_container_carries():
    batch = defaultdict(int, x=torch.ones(1))
    assert data_loading.map_tensors(torch.neg, batch)["missing"] == 0
    (moved,) = data_loading.map_tensors(torch.neg, {torch.ones(1)})
    assert moved == -1
    assert data_loading.map_tensors(torch.neg, MappingProxyType({"x": torch.ones(1)}))["x"] == -1
    unset = copy.copy(Frozen(torch.ones(1)))
    object.__delattr__(unset, "x")
    assert not hasattr(data_loading.map_tensors(torch.neg, unset), "x")
    other = SimpleNamespace(x=torch.ones(1))
    assert data_loading.map_tensors(torch.neg, other) is other
    assert data_loading.map_tensors(torch.neg, Batch) is Batch


@given(batches)
def test_to_device_moves_everything_and_back(device, batch):
    types, tensors = flatten(batch)
    there_types, there = flatten(data_loading.to_device(batch, device))
    _, back = flatten(data_loading.to_device(data_loading.to_device(batch, device), "cpu"))
    assert there_types == types
    assert all(tensor.device.type == device for tensor in there)
    assert all(torch.equal(tensor, home) for tensor, home in zip(tensors, back))


class Spy:
    """A tensor that tells how it was asked to move."""

    def __init__(self, kind, pinned):
        self.device, self.pinned = torch.device(kind), pinned

    def is_pinned(self):
        return self.pinned

    def to(self, target, non_blocking):
        return (target.type, non_blocking)


@pytest.mark.parametrize("source", ["cpu", "cuda", "mps"])
@pytest.mark.parametrize("target", ["cpu", "cuda", "mps"])
@pytest.mark.parametrize("pinned", [False, True])
def test_only_copies_from_pinned_memory_to_cuda_are_asynchronous(source, target, pinned):
    with mock.patch.object(data_loading, "map_tensors", lambda function, batch: function(batch)):
        moved = data_loading.to_device(Spy(source, pinned), target)
    assert moved == (target, (source, target, pinned) == ("cpu", "cuda", True))


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_packed_sequence_moves_itself(device, elsewhere):
    target = "meta" if elsewhere else device
    packed = data_loading.to_device(pack_sequence([torch.ones(2), torch.ones(1)]), target)
    assert packed.data.device.type == target
    assert packed.batch_sizes.device.type == "cpu"


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


def counted_pin(tensor, device=None):
    return torch.Tensor._make_subclass(Pinned, tensor)


class Pinned(torch.Tensor):
    pass


@pytest.mark.parametrize(
    "batch",
    [
        (torch.ones(2), "id"),
        Batch(torch.ones(2)),
        Frozen(torch.ones(2)),
        {"x": [torch.ones(2)]},
        Point(torch.ones(2), 1),
    ],
)
def test_every_batch_type_is_pinned_and_keeps_its_type_48419(batch):
    with mock.patch.object(torch.Tensor, "pin_memory", counted_pin):
        pinned = data_loading._Pinnable(batch).pin_memory()
    assert type(pinned) is type(batch)
    assert [type(tensor) for tensor in flatten(pinned)[1]] == [Pinned]


def test_a_packed_sequence_pins_itself():
    with mock.patch.object(PackedSequence, "pin_memory", return_value="pinned"):
        pinned = data_loading._Pinnable(pack_sequence([torch.ones(2)])).pin_memory()
    assert pinned == "pinned"


@pytest.mark.parametrize(
    "unpinnable",
    [torch.ones(2, device="meta"), torch.ones(2).to_sparse()],
    ids=["device", "sparse"],
)
def test_what_cannot_be_pinned_passes_through(unpinnable):
    with mock.patch.object(torch.Tensor, "pin_memory", side_effect=RuntimeError("cannot pin")):
        assert data_loading._Pinnable([unpinnable]).pin_memory()[0] is unpinnable


def test_a_loader_for_an_accelerator_yields_plain_batches_never_the_wrapper():
    with mock.patch.multiple(
        data_loading, pin_decision=lambda device: data_loading.PinDecision(True, "")
    ):
        loader = data_loading.make_loader(
            Rows([Batch(torch.ones(1))]), "cuda", batch_size=1, collate_fn=identity
        )
    assert loader.pin_memory
    collated = loader.collate_fn([Batch(torch.ones(1))])
    with mock.patch.object(torch.Tensor, "pin_memory", counted_pin):
        (batch,) = collated.pin_memory()
    assert type(batch) is Batch
    assert type(batch.x) is Pinned


def test_batches_on_cuda_come_pinned(device):
    loader = data_loading.make_loader(Rows([{"x": torch.ones(2)}] * 4), device, batch_size=2)
    batches = list(loader)
    assert [batch["x"].shape for batch in batches] == [(2, 2), (2, 2)]
    assert loader.pin_memory is (device == "cuda")
    if device == "cuda":
        assert all(batch["x"].is_pinned() for batch in batches)


def test_device_tensors_pass_a_loader_that_pins(device):
    loader = data_loading.make_loader(
        TensorDataset(torch.ones(4, device=device)), device, batch_size=2
    )
    assert [batch[0].device.type for batch in loader] == [device, device]


def test_collating_ignores_the_default_device():
    if not hasattr(torch, "set_default_device"):
        pytest.skip("torch 1.13 has no default device")
    loader = data_loading.make_loader(Rows([1.0, 2.0]), "cpu", batch_size=2)
    torch.set_default_device("meta")
    try:
        batch = loader.collate_fn([1.0, 2.0])
        outside = torch.ones(1)
    finally:
        torch.set_default_device(None)
    assert (batch.device.type, outside.device.type) == ("cpu", "meta")


def test_the_detour_through_the_cpu_is_taken_only_where_a_default_device_may_be_set(monkeypatch):
    monkeypatch.setattr(torch, "set_default_device", None, raising=False)
    for kind in ("cpu", "meta"):
        monkeypatch.setattr(
            torch, "get_default_device", lambda kind=kind: torch.device(kind), raising=False
        )
        assert data_loading._default_device_is_elsewhere() is (kind == "meta")
    monkeypatch.setattr(
        torch, "get_default_device", lambda: None.device
    )  # as torch 2.3 does after set_default_device(None)
    assert data_loading._default_device_is_elsewhere() is True
    monkeypatch.delattr(torch, "get_default_device")
    assert data_loading._default_device_is_elsewhere() is True
    monkeypatch.delattr(torch, "set_default_device")
    assert data_loading._default_device_is_elsewhere() is False


@pytest.mark.parametrize("batch_size", [None, 1, 3])
def test_batching_is_that_of_a_dataloader(batch_size):
    rows = [torch.full((2,), float(number)) for number in range(4)]
    ours = list(data_loading.make_loader(Rows(rows), "cpu", batch_size=batch_size))
    theirs = list(DataLoader(Rows(rows), batch_size=batch_size))
    assert len(ours) == len(theirs)
    assert all(torch.equal(a, b) for a, b in zip(ours, theirs))


def test_without_a_batch_size_batches_are_of_one_row():
    assert next(iter(data_loading.make_loader(Rows([1.0, 2.0]), "cpu"))).tolist() == [1.0]


def test_a_batch_sampler_still_collates():
    loader = data_loading.make_loader(Rows([1.0, 2.0]), "cpu", batch_sampler=[[0, 1]])
    assert next(iter(loader)).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("option", ["pin_memory", "pin_memory_device"])
def test_deciding_twice_is_refused(option):
    with pytest.raises(
        ValueError,
        match=rf"{option}=True: make_loader decides about pinning; see pin_decision\('cpu'\)",
    ):
        data_loading.make_loader(Rows([1.0]), "cpu", **{option: True})


@pytest.mark.parametrize("count", [0, 1, 5])
def test_the_prefetcher_yields_every_batch_once_in_order_on_the_device(device, count):
    rows = [{"x": torch.full((1000,), float(number)), "id": number} for number in range(count)]
    loader = data_loading.make_loader(Rows(rows), device, batch_size=None)
    prefetcher = data_loading.Prefetcher(loader, device)
    for _ in range(2):
        seen = list(prefetcher)
        assert [batch["id"] for batch in seen] == list(range(count))
        assert all(
            batch["x"].device.type == device and bool((batch["x"] == batch["id"]).all())
            for batch in seen
        )
    assert len(prefetcher) == count


def test_the_prefetcher_passes_errors_on(device):
    def broken():
        yield {"x": torch.ones(1)}
        raise KeyError("row 2")

    iterator = iter(data_loading.Prefetcher(broken(), device))
    with pytest.raises(KeyError, match="row 2"):
        list(iterator)


class OnCuda(torch.Tensor):
    """A tensor that says it is on CUDA, and keeps which streams it was recorded on."""

    device = torch.device("cuda")

    def record_stream(self, stream):
        EVENTS.append(("record", float(self.as_subclass(torch.Tensor)), stream))


EVENTS = []


class Stream:
    def __init__(self, device):
        self.device = device

    def wait_stream(self, other):
        EVENTS.append(("wait", self.device, other.device))


@pytest.mark.parametrize(
    "wrap",
    [lambda x: {"x": x}, lambda x: PackedSequence(x, torch.tensor([1]))],
    ids=["dict", "packed"],
)
def test_the_next_copy_starts_before_a_batch_is_used_and_on_a_stream_of_its_own(wrap):
    EVENTS.clear()
    entered = []

    def source():
        for number in range(3):
            EVENTS.append(("load", number))
            yield number

    @contextlib.contextmanager
    def stream(chosen):
        entered.append(chosen)
        yield
        entered.pop()

    def to_device(batch, device):
        EVENTS.append(("copy", batch, device.type, entered[-1].device))
        return wrap(torch.Tensor._make_subclass(OnCuda, torch.tensor(float(batch))))

    current = Stream("compute")
    with (
        mock.patch.multiple(
            "torch.cuda", Stream=lambda device: Stream(f"copies of {device}"), stream=stream
        ),
        mock.patch(
            "torch.cuda.current_stream",
            lambda device: current if device == torch.device("cuda") else None,
        ),
        mock.patch.object(data_loading, "to_device", to_device),
    ):
        for number, _batch in enumerate(data_loading.Prefetcher(source(), "cuda")):
            EVENTS.append(("use", number))
    copied, used = (
        [[("load", n), ("copy", n, "cuda", "copies of cuda")] for n in range(3)],
        "copies of cuda",
    )
    ready = [[("wait", "compute", used), ("record", float(n), current)] for n in range(3)]
    expected = [
        *copied[0], *ready[0], *copied[1], ("use", 0),
        *ready[1], *copied[2], ("use", 1), *ready[2], ("use", 2),
    ]  # fmt: skip
    assert expected == EVENTS


def test_what_stays_on_the_cpu_is_not_recorded_on_a_stream():
    data_loading._record({"x": torch.ones(1)}, None)  # a CPU tensor has no record_stream


class Noise(Dataset):
    """Draws from every kind of generator that a dataset may hold."""

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


@pytest.mark.parametrize(
    "dataset",
    [Noise(), Noise(inner=Noise()), Subset(Noise(), range(4))],
    ids=["own", "nested", "Subset"],
)
def test_workers_draw_different_numbers_and_the_same_at_the_next_run_5059(dataset):
    def draw():
        torch.manual_seed(3)
        return torch.stack(
            list(
                data_loading.make_loader(
                    dataset, "cpu", batch_size=None, num_workers=2, multiprocessing_context="fork"
                )
            )
        )

    once, again = draw(), draw()
    assert torch.equal(once, again)
    for column in once.T:
        assert len(set(column.tolist())) == 4


def in_worker(**info):
    """What a worker's process sees, here in the process of the tests."""
    return mock.patch.object(data_loading, "get_worker_info", return_value=SimpleNamespace(**info))


class Slotted:
    __slots__ = ()


class RandomState:
    """A namesake of NumPy's."""


class Generator:
    """A namesake of NumPy's."""


def test_every_generator_in_a_dataset_gets_the_seed_of_the_worker_and_keeps_its_kind():
    seed = 3 * 2**32 + 5
    dataset = Noise(inner=Noise())
    dataset.inner.numpy = numpy.random.Generator(numpy.random.Philox(0))
    dataset.others = others = [RandomState(), Generator()]
    dataset.state, dataset.generator = others
    with in_worker(dataset=dataset, seed=seed):
        data_loading.seed_worker(0)
    for noise, kind in ((dataset, numpy.random.PCG64), (dataset.inner, numpy.random.Philox)):
        assert noise.python.random() == random.Random(seed).random()
        assert noise.torch.initial_seed() == seed
        assert type(noise.numpy.bit_generator) is kind
        assert noise.numpy.random() == numpy.random.Generator(kind(seed)).random()
        assert noise.legacy.random_sample() == numpy.random.RandomState(5).random_sample()
    assert [dataset.state, dataset.generator] == others
    with in_worker(dataset=Slotted(), seed=seed):
        data_loading.seed_worker(0)  # nothing to seed, nothing to fail on


def test_seed_worker_outside_a_worker_raises():
    with pytest.raises(
        RuntimeError,
        match=r"^seed_worker\(\) outside of a DataLoader worker: pass it as worker_init_fn$",
    ):
        data_loading.seed_worker(0)


class Sharded(IterableDataset):
    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        return data_loading.shard(range(self.rows))


@pytest.mark.parametrize("rows", [0, 1, 7])
@pytest.mark.parametrize("workers", [0, 1, 2])
def test_sharded_rows_arrive_exactly_once(rows, workers):
    options = {"num_workers": workers, "multiprocessing_context": "fork"} if workers else {}
    assert sorted(DataLoader(Sharded(rows), batch_size=None, **options)) == list(range(rows))


@given(st.integers(0, 9), st.integers(1, 4))
def test_a_worker_gets_every_nth_row_from_its_own_number_on(rows, workers):
    shares = []
    for worker in range(workers):
        with in_worker(id=worker, num_workers=workers):
            shares.append(list(data_loading.shard(iter(range(rows)))))
    assert shares == [list(range(worker, rows, workers)) for worker in range(workers)]


@given(st.integers(1, 10**9), st.integers(1, 10**12), st.integers(1, 8), st.integers(0, 16))
@example(10**17, 2 * 10**17 - 1, 1, 8)
def test_workers_fit_the_cores_and_the_memory(batch_bytes, memory_bytes, prefetch_factor, limit):
    with mock.patch("os.sched_getaffinity", return_value=set(range(6)), create=True):
        count = data_loading.worker_count(batch_bytes, memory_bytes, prefetch_factor, limit)
    assert 0 <= count <= min(6, limit)
    assert count * prefetch_factor * batch_bytes <= memory_bytes
    if count < min(6, limit):
        assert (count + 1) * prefetch_factor * batch_bytes > memory_bytes


def test_at_most_eight_workers_unless_asked_for_more_and_two_batches_each():
    with mock.patch("os.sched_getaffinity", return_value=set(range(64)), create=True):
        assert data_loading.worker_count(1, 2**30) == 8
        assert data_loading.worker_count(2**20, 7 * 2**20) == 3


@pytest.mark.parametrize(("counted", "expected"), [(3, 3), (None, 1)])
def test_all_cores_count_where_the_system_does_not_report_those_of_a_process(
    monkeypatch, counted, expected
):
    monkeypatch.delattr("os.sched_getaffinity", raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: counted)
    assert data_loading.worker_count(1, 2**30) == expected


@pytest.mark.parametrize(
    "wrong", [{"batch_bytes": 0}, {"memory_bytes": -1}, {"prefetch_factor": 0}]
)
def test_impossible_sizes_are_refused(wrong):
    (name, value), *_ = wrong.items()
    with pytest.raises(ValueError, match=f"{name}={value}"):
        data_loading.worker_count(**{"batch_bytes": 1, "memory_bytes": 1, **wrong})
