import contextlib
import copy
import datetime
import difflib
import functools
import importlib
import inspect
import itertools
import math
import multiprocessing
import pickle
import re
import time
import types
import weakref
from unittest import mock

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from torch import nn

from reference_fixes import amp

TORCH = tuple(map(int, torch.__version__.split(".")[:2]))


@contextlib.contextmanager
def pretend(torch_version=(2, 15), macos="15.1", there=True, capability=(9, 0), capabilities=None):
    """Simulates the machine for a decision. `capabilities` lists the capability of each GPU."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(amp, "_TORCH", torch_version)
        patch.setattr("platform.mac_ver", lambda: (macos, ("", "", ""), ""))
        patch.setattr(torch.cuda, "is_available", lambda: there)
        patch.setattr(torch.backends.mps, "is_available", lambda: there)
        patch.setattr(
            torch.cuda,
            "get_device_capability",
            lambda device: (capabilities or {}).get(str(device), capability),
        )
        yield


@pytest.mark.parametrize(
    ("device", "dtype", "machine", "expected"),
    [
        ("cpu:0", None, {}, (torch.float32, False)),
        ("mps", None, {}, (torch.float32, False)),
        ("cuda:1", None, {}, (torch.bfloat16, False)),
        ("cuda:1", None, {"capability": (7, 5)}, (torch.float16, True)),
        ("cuda:1", None, {"capabilities": {"cuda:1": (7, 5)}}, (torch.float16, True)),
        (
            torch.device("cuda", 1),
            None,
            {"capabilities": {"cuda:1": (7, 5)}},
            (torch.float16, True),
        ),
        ("cuda", None, {"capability": (8, 0)}, (torch.bfloat16, False)),
        ("cuda:1", torch.float32, {}, (torch.float32, False)),
        ("cuda:1", torch.float16, {"capability": (7, 0)}, (torch.float16, True)),
        ("mps", torch.float32, {"torch_version": (1, 13)}, (torch.float32, False)),
        ("mps", torch.float16, {"macos": "13.6"}, (torch.float16, True)),
        ("cpu", torch.bfloat16, {"torch_version": (1, 13)}, (torch.bfloat16, False)),
        ("cpu", torch.float16, {"torch_version": (2, 3)}, (torch.float16, True)),
        ("mps", torch.float16, {"torch_version": (2, 8)}, (torch.float16, True)),
        (
            "mps",
            torch.bfloat16,
            {"torch_version": (2, 6), "macos": "14.0"},
            (torch.bfloat16, False),
        ),
    ],
)
def test_precision_is_decided_per_device(device, dtype, machine, expected):
    with pretend(**machine):
        precision = amp.choose_precision(device, dtype)
    assert (precision.dtype, precision.scaler) == expected
    assert precision.device == str(device).split(":")[0]
    assert precision.reason


@pytest.mark.parametrize(
    ("device", "dtype", "machine", "text"),
    [
        (
            "cuda",
            torch.bfloat16,
            {"capability": (7, 5)},
            r"compute capability \(7, 5\), bfloat16 needs \(8, 0\)",
        ),
        (
            "cuda:1",
            torch.bfloat16,
            {"capabilities": {"cuda:1": (7, 0)}},
            r"compute capability \(7, 0\)",
        ),
        (
            "cuda:1",
            None,
            {"there": False},
            r"^device 'cuda:1': torch.cuda.is_available\(\) is False$",
        ),
        ("cuda", torch.float32, {"there": False}, "is_available"),
        (
            "mps",
            torch.float16,
            {"there": False},
            r"^device 'mps': torch.backends.mps.is_available\(\) is False$",
        ),
        (
            "cpu",
            torch.float16,
            {"torch_version": (2, 2)},
            rf"^torch.float16 on cpu: needs torch 2.3, this is {re.escape(torch.__version__)}$",
        ),
        ("mps", torch.float16, {"torch_version": (2, 7)}, "needs torch 2.8"),
        ("mps", torch.bfloat16, {"torch_version": (2, 5)}, "needs torch 2.6"),
        ("mps", torch.bfloat16, {"macos": "13.6"}, "needs macOS 14, this is 13.6"),
        ("meta:1", None, {}, "^device 'meta:1': expected cpu, cuda or mps"),
        ("cpu", torch.float64, {}, r"torch\.float64: expected"),
    ],
)
def test_an_impossible_precision_is_refused_with_the_reason(device, dtype, machine, text):
    with pretend(**machine), pytest.raises(ValueError, match=text):
        amp.choose_precision(device, dtype)


@pytest.fixture
def autocast_device(device):
    if device == "mps" and TORCH < (2, 5):
        pytest.skip("no autocast for MPS before torch 2.5; choose_precision refuses float16 there")
    return device


def test_float32_ends_an_outer_autocast(autocast_device):
    device = autocast_device
    low = torch.float16 if device == "mps" else torch.bfloat16
    model, x = nn.Linear(2, 1).to(device), torch.ones(1, 2, device=device)
    with amp.Precision(device, low, False, "").autocast():
        with amp.Precision(device, torch.float32, False, "").autocast():
            assert model(x).dtype == torch.float32
        assert model(x).dtype == low


@pytest.mark.parametrize(("torch_version", "entered"), [((2, 4), False), ((2, 5), True)])
def test_float32_enters_no_autocast_where_autocast_does_not_know_mps(torch_version, entered):
    with pretend(torch_version=torch_version), mock.patch("torch.autocast") as autocast:
        with amp.Precision("mps", torch.float32, False, "").autocast():
            pass
        assert autocast.call_args_list == ([mock.call("mps", enabled=False)] if entered else [])
        with amp.Precision("cpu", torch.float32, False, "").autocast():
            pass
        assert autocast.call_args == mock.call("cpu", enabled=False)


def test_autocast_computes_in_its_dtype(autocast_device):
    device = autocast_device
    precision = amp.Precision(
        device, torch.float16 if device == "mps" else torch.bfloat16, False, ""
    )
    with precision.autocast():
        assert nn.Linear(2, 1).to(device)(torch.ones(1, 2, device=device)).dtype == precision.dtype


@pytest.mark.parametrize("kind", ["cpu", "cuda", "mps"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_autocast_is_entered_for_the_device_with_the_dtype_that_was_decided(kind, dtype):
    with mock.patch("torch.autocast") as autocast:
        amp.Precision(kind, dtype, False, "").autocast()
    assert autocast.call_args.args == (kind, dtype)


def test_a_no_grad_forward_in_the_same_block_costs_no_gradient_112583(autocast_device):
    device = autocast_device
    precision = amp.Precision(
        device, torch.float16 if device == "mps" else torch.bfloat16, False, ""
    )
    model, x = (
        nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1)).to(device),
        torch.ones(2, 4, device=device),
    )
    with precision.autocast():
        with torch.no_grad():
            model[0](x)
        loss = model(x).sum()
    loss.backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


@pytest.mark.parametrize(("torch_version", "cached"), [((2, 10), False), ((2, 11), True)])
def test_weights_are_cached_only_where_the_cache_knows_about_no_grad_112583(torch_version, cached):
    with (
        pretend(torch_version=torch_version),
        amp.choose_precision("cpu", torch.bfloat16).autocast(),
    ):
        assert torch.is_autocast_cache_enabled() is cached


@pytest.mark.parametrize("scaler", [False, True])
def test_the_scaler_is_enabled_exactly_where_the_precision_needs_one(device, scaler):
    if scaler and TORCH < (2, 3) and device != "cuda":
        pytest.skip(
            "no scaler for this device before torch 2.3; choose_precision refuses float16 there"
        )
    made = amp.make_grad_scaler(amp.Precision(device, torch.float16, scaler, ""), init_scale=8.0)
    assert made.is_enabled() is scaler
    if scaler:
        made.scale(torch.ones(1, device=device))
        assert made.get_scale() == 8.0


@pytest.mark.parametrize("enabled", [False, True])
@pytest.mark.parametrize(
    ("torch_version", "maker", "arguments"),
    [
        ((2, 2), "torch.cuda.amp.GradScaler", ()),
        ((2, 3), "torch.amp.GradScaler", ("mps",)),
        ((2, 3), "torch.amp.GradScaler", ("cuda",)),
    ],
)
def test_the_scaler_is_made_by_what_this_torch_has(torch_version, maker, arguments, enabled):
    precision = amp.Precision(*(arguments or ("cuda",)), torch.float16, enabled, "")
    with pretend(torch_version=torch_version), mock.patch(maker, create=True) as made:
        amp.make_grad_scaler(precision, init_scale=8.0)
    made.assert_called_once_with(*arguments, enabled=enabled, init_scale=8.0)


@pytest.mark.parametrize(
    ("device", "dtype", "machine", "reason"),
    [
        ("cpu", torch.float32, {}, "float32 was asked for"),
        ("cpu", torch.bfloat16, {}, "torch.bfloat16 was asked for, and cpu can train in it"),
        ("mps", None, {}, "mps: low precision is seldom faster here; ask for a dtype to have it"),
        ("cuda", None, {}, "bfloat16 has the range of float32, so it needs no GradScaler"),
        (
            "cuda",
            None,
            {"capability": (7, 5)},
            "no bfloat16: this GPU has compute capability (7, 5), bfloat16 needs (8, 0); "
            "float16 needs a GradScaler",
        ),
    ],
)
def test_every_decision_gives_its_reason(device, dtype, machine, reason):
    with pretend(**machine):
        assert amp.choose_precision(device, dtype).reason == reason


# ---- windows ----

numbers = st.floats(-8, 8).map(lambda value: round(value * 8) / 8)  # exact in float32


def with_length(batches, length=None):
    """Batches with a length, which may be wrong. A generator has no length."""

    class Loader:
        def __len__(self):
            return len(batches) if length is None else length

        def __iter__(self):
            yield from batches

    return Loader()


KINDS = [with_length, iter, lambda batches: (batch for batch in batches)]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.integers(1, 5))
@example([1] * 6, 4)
@example([1, 0], 1)
def test_each_window_yields_its_batches_in_order_with_their_shares(weights, size):
    rows = list(enumerate(weights))
    found = [list(window) for window in amp.windows(iter(rows), size, lambda row: row[1])]
    expected = []
    for start in range(0, len(rows), size):
        part = rows[start : start + size]
        kept = [row for row in part if row[1]]
        total = sum(weight for _, weight in part)
        if kept:
            expected.append([(row, row[1] / total, row is kept[-1]) for row in kept])
    assert found == expected


@pytest.mark.parametrize("kind", KINDS)
@given(st.integers(1, 12), st.integers(1, 5))
@example(6, 4)
@example(8, 4)
def test_without_weights_all_batches_of_a_window_count_the_same(kind, count, size):
    found = [list(window) for window in amp.windows(kind(range(count)), size)]
    parts = [range(count)[start : start + size] for start in range(0, count, size)]
    assert found == [
        [(batch, 1 / len(part), batch == part[-1]) for batch in part] for part in parts
    ]


@given(st.lists(st.floats(1e-3, 1e9), min_size=1, max_size=9))
def test_the_shares_of_a_window_sum_to_1(weights):
    for window in amp.windows(weights, 4, weight=lambda weight: weight):
        assert math.fsum(share for _, share, _ in window) == pytest.approx(1, rel=1e-12)


def test_weights_may_be_tensors_and_shares_are_exact_numbers():
    weight = 2.0**24 + 1  # float32 cannot represent this number
    rows = [torch.tensor(weight, dtype=torch.float64), torch.tensor(1)]
    shares = [share for _, share, _ in next(amp.windows(rows, 2, weight=lambda row: row))]
    assert shares == [weight / (weight + 1), 1 / (weight + 1)]
    assert {type(share) for share in shares} == {float}


def train(batches, size, scaler=None, weight=None, lr=1.0, log=None, **options):
    """Trains for one epoch. The model's gradient on a batch equals the batch's number.

    Returns the values of one weight over time, and the results of the steps. A second weight, in a
    group with half the learning rate, must follow the first.
    """
    parameter, other = nn.Parameter(torch.zeros(())), nn.Parameter(torch.zeros(()))
    path, answers = [], []
    optimizer = torch.optim.SGD([{"params": [parameter]}, {"params": [other], "lr": lr / 2}], lr=lr)
    for window in amp.windows(batches, size, **({"weight": weight} if weight else {})):
        optimizer.zero_grad()
        for row, share, _ in window:
            loss = (parameter + other) * row + row
            if log is not None:
                log.append(loss.item())
            (scaler.scale(loss * share) if scaler else loss * share).backward()
        answers.append(amp.optimizer_step(optimizer, scaler, **options))
        path.append(parameter.item())
        assert other.item() == path[-1] / 2
    return path, answers


@given(st.lists(numbers, min_size=1, max_size=12), st.integers(1, 5))
@example([1.0] * 6, 4)
def test_each_window_takes_one_step_with_the_mean_gradient_of_its_batches(batches, size):
    for scaler in (None, FakeScaler()):
        path, answers = train(batches, size, scaler)
        assert answers == [True] * math.ceil(len(batches) / size)
        weight = 0.0
        for start, found in zip(range(0, len(batches), size), path):
            rows = batches[start : start + size]
            weight -= math.fsum(rows) / len(rows)
            assert found == pytest.approx(weight, abs=1e-4)


@given(st.lists(numbers, min_size=1, max_size=12), st.integers(1, 5))
def test_the_logged_loss_does_not_depend_on_the_window(batches, size):
    log = []
    train(batches, size, lr=0.0, log=log)
    assert math.fsum(log) == pytest.approx(math.fsum(batches), abs=1e-6)


def test_a_batch_of_weight_0_is_left_out_even_if_its_loss_is_nan():
    rows = [(2.0, 3), (math.nan, 0), (4.0, 1), (math.nan, 0)]
    weight = nn.Parameter(torch.zeros(()))
    for window in amp.windows(rows, 3, weight=lambda row: row[1]):
        for (factor, _), share, _ in window:
            (weight * factor * share).backward()
    assert weight.grad.item() == 2.5


class Batch:
    alive = peak = 0

    def __init__(self):
        Batch.alive += 1
        Batch.peak = max(Batch.peak, Batch.alive)
        weakref.finalize(self, self.gone)

    @staticmethod
    def gone():
        Batch.alive -= 1


class Loader:
    """Yields 12 batches and has a length."""

    def __len__(self):
        return 12

    def __iter__(self):
        return (Batch() for _ in range(12))


@pytest.mark.parametrize(
    ("ahead", "deleted", "most"),
    [(False, True, 1), (False, False, 2), (True, True, 4), (True, False, 5)],
)
def test_no_more_batches_than_a_window_are_held_and_none_where_shares_are_known(
    ahead, deleted, most
):
    Batch.peak = Batch.alive
    started = Batch.alive
    for window in amp.windows(iter(Loader()) if ahead else Loader(), 4):
        for item in window:
            assert Batch.alive - started <= most
            if deleted:
                del item
                assert Batch.alive - started < most
    assert Batch.peak - started == most


def test_with_weights_a_window_is_held():
    Batch.peak = Batch.alive
    started = Batch.alive
    for window in amp.windows(Loader(), 4, weight=lambda batch: 1):
        for item in window:
            del item
    assert Batch.peak - started == 4


def test_a_loader_may_fill_the_same_buffer_again_where_it_has_a_length():
    buffer = torch.zeros(1)

    class Reuses(Loader):
        def __iter__(self):
            return (buffer.fill_(number) for number in range(12))

    found = [
        (batch.item(), share) for window in amp.windows(Reuses(), 5) for batch, share, _ in window
    ]
    assert found == [(number, 1 / (5 if number < 10 else 2)) for number in range(12)]


def test_batches_are_drawn_when_it_is_their_turn_or_else_their_windows():
    source = itertools.count()
    found = amp.windows(source, 3)
    next(found)
    assert next(source) == 3
    drawn = []

    class Notes(Loader):
        def __iter__(self):
            return (drawn.append(n) or n for n in range(12))

    window = next(amp.windows(Notes(), 3))
    assert drawn == []
    next(window)
    assert drawn == [0]


@pytest.mark.parametrize("kind", KINDS)
def test_a_window_yields_once_and_keeps_its_batches_until_then(kind):
    first, second = amp.windows(kind("abcd"), 2)
    assert [batch for batch, _, _ in second] == ["c", "d"]
    assert [batch for batch, _, _ in first] == ["a", "b"]
    assert list(first) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_window_that_is_left_early_takes_nothing_from_the_next(kind):
    found = amp.windows(kind("abcdef"), 3)
    first = next(found)
    assert next(first) == ("a", 1 / 3, False)
    assert list(next(found)) == [("d", 1 / 3, False), ("e", 1 / 3, False), ("f", 1 / 3, True)]
    assert list(first) == [("b", 1 / 3, False), ("c", 1 / 3, True)]


SHORT_LENGTH = (
    r"^len\(batches\) is 6, but fewer came, and the shares go by that length; iter\(batches\) in its "
    "place is not asked for one$"
)


@pytest.mark.parametrize("size", [2, 5, 6])
def test_fewer_batches_than_their_length_says_are_refused(size):
    with pytest.raises(ValueError, match=SHORT_LENGTH):
        train(with_length([1.0] * 5, 6), size)


def test_an_iterator_that_was_used_is_not_asked_for_its_length():
    batches = iter(torch.utils.data.DataLoader(range(6), batch_size=None))
    next(batches)
    assert len(batches) == 6  # only 5 of these batches are left
    found = [[share for _, share, _ in window] for window in amp.windows(batches, 4)]
    assert found == [[0.25] * 4, [1.0]]


@pytest.mark.parametrize("error", [TypeError, NotImplementedError])
def test_batches_that_cannot_say_their_length_are_drawn_ahead(error):
    class Wraps(Loader):  # a custom loader around another loader
        def __len__(self):
            raise error

    found = [[share for _, share, _ in window] for window in amp.windows(Wraps(), 8)]
    assert found == [[1 / 8] * 8, [1 / 4] * 4]


def test_another_error_of_the_length_passes_through():
    class Broken(Loader):
        def __len__(self):
            raise ArithmeticError

    with pytest.raises(ArithmeticError):
        amp.windows(Broken(), 8)


def test_more_batches_than_their_length_says_are_not_lost():
    found = [list(window) for window in amp.windows(with_length("abcdefg", 3), 2)]
    assert found == [
        [("a", 0.5, False), ("b", 0.5, True)],
        [("c", 1.0, True)],
        [("d", 0.5, False), ("e", 0.5, True)],
        [("f", 0.5, False), ("g", 0.5, True)],
    ]


@pytest.mark.parametrize("length", [None, 9, 2])
def test_a_loader_of_an_iterable_dataset_is_not_asked_for_its_length(length):
    class Rows(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter(range(6))

    if length is not None:
        Rows.__len__ = lambda self: length
    found = amp.windows(torch.utils.data.DataLoader(Rows(), batch_size=None), 4)
    assert [[share for _, share, _ in window] for window in found] == [[0.25] * 4, [0.5] * 2]


@pytest.mark.parametrize("size", [0, -1, 2.0, True, False, "2", None, torch.tensor(2.5)])
def test_a_size_that_is_no_number_of_batches_is_refused_at_once(size):
    text = f"size={size!r}: expected a whole number of batches, 1 or more"
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        amp.windows([1], size)


def test_a_size_may_be_any_whole_number_and_batches_anything_that_yields():
    first, second = next(amp.windows([1, 2, 3], torch.tensor(2)))
    assert (first, second) == ((1, 0.5, False), (2, 0.5, True))
    assert (type(first[1]), type(second[2])) == (float, bool)
    with pytest.raises(TypeError, match="'int' object is not iterable"):
        amp.windows(3, 1)


@pytest.mark.parametrize("weight", [-1.0, math.inf, math.nan])
def test_a_weight_that_cannot_be_a_share_is_refused_with_its_window(weight):
    with pytest.raises(ValueError, match=rf"^weights of the batches 4 to 5: \[1.0, {weight}\]"):
        list(amp.windows([1.0, 1.0, 1.0, 1.0, 1.0, weight], 2, weight=lambda row: row))


def test_weights_with_an_infinite_sum_are_refused():
    with pytest.raises(ValueError, match="expected finite numbers"):
        list(amp.windows([1e308, 1e308], 2, weight=lambda row: row))


@pytest.mark.parametrize(
    "batches", [[], iter(()), torch.utils.data.DataLoader([1], 2, drop_last=True)]
)
def test_an_epoch_without_batches_is_refused(batches):
    with pytest.raises(
        ValueError, match=r"^no batches: the loader is empty \(.*\) or an iterator that is used up$"
    ):
        list(amp.windows(batches, 2))


# ---- windows of several processes ----

# The batches of each rank, as (rows, padded rows). A window has 4 batches.
TOKENS = [
    [(2, 0), (3, 1), (1, 1), (5, 0)] + [(3, 0)] * 4 + [(2, 2)] * 4 + [(4, 0), (2, 2)],
    [(1, 0), (1, 0), (4, 2), (2, 0)] + [(2, 2)] * 4 + [(1, 1)] * 4 + [(3, 1)],
]
NUMBERS = [[(2, 0)] * 7, [(3, 0)] * 5]


def batches_of(rank, rows):
    """Returns batches of (x, y, mask of the rows that count). In padded rows, y is NaN."""
    torch.manual_seed(rank)
    made = []
    for count, padded in rows[rank]:
        x, y = torch.randn(count, 3), torch.randn(count, 1)
        y[count - padded :] = math.nan
        made.append((x, y, torch.arange(count) < count - padded))
    return made


def linear():
    """A model, and its optimizer with two groups."""
    torch.manual_seed(7)
    model = nn.Linear(3, 1)
    groups = [{"params": [model.weight]}, {"params": [model.bias], "lr": 0.5}]
    return model, torch.optim.SGD(groups, lr=0.1, momentum=0.9)


def error_sum(model, x, y, counts):
    """The sum of the errors, which is finite even if no rows are counted."""
    return (model(x)[counts] - y[counts]).square().sum()


def weights_of_a_rank(rank, rows, group):
    model, optimizer = linear()
    parallel = nn.parallel.DistributedDataParallel(model)
    weight = None if rows is NUMBERS else lambda batch: batch[2].sum()
    for window in amp.windows(batches_of(rank, rows), 4, weight, group=group):
        optimizer.zero_grad()
        for batch, share, last in window:
            with contextlib.nullcontext() if last else parallel.no_sync():
                loss = error_sum(parallel, *batch) / max(1, int(batch[2].sum()))
                (loss * share).backward()
        amp.optimizer_step(optimizer)
    return [parameter.tolist() for parameter in model.parameters()]


def weights_of_one_process(rows):
    model, optimizer = linear()
    ranks = [batches_of(rank, rows) for rank in range(2)]
    for start in range(0, len(ranks[0]), 4):
        batches = [batch for rank in ranks for batch in rank[start : start + 4]]
        counts = [int(batch[2].sum()) for batch in batches]
        if rows is NUMBERS:  # all batches have the same weight
            losses = [error_sum(model, *batch) / count for batch, count in zip(batches, counts)]
            counts = [1] * len(batches)
        else:
            losses = [error_sum(model, *batch) for batch in batches]
        if any(counts):
            optimizer.zero_grad()
            (sum(losses) / sum(counts)).backward()
            optimizer.step()
    return [parameter.tolist() for parameter in model.parameters()]


def shares_or_refusal(batches, **options):
    try:
        return [[share for _, share, _ in window] for window in amp.windows(batches, 2, **options)]
    except ValueError as error:
        return str(error)


def on_two_ranks(rank, meeting_point):
    """Returns the final weights of a rank, and its errors for unequal numbers of batches."""
    from torch import distributed

    # A forked process must not query the GPU of this machine.
    with mock.patch("torch.cuda.is_available", return_value=False):
        distributed.init_process_group(
            "gloo",
            init_method=f"file://{meeting_point}",
            rank=rank,
            world_size=2,
            timeout=datetime.timedelta(seconds=30),
        )
        try:
            group = distributed.group.WORLD
            alone = distributed.new_group([rank for rank in range(2) if rank == 0])
            return {
                "tokens": weights_of_a_rank(rank, TOKENS, group),
                "numbers": weights_of_a_rank(rank, NUMBERS, group),
                "shares": shares_or_refusal("abc" if rank else "abcd", group=group),
                "fewer": shares_or_refusal("abcd" if rank else "ab", group=group),
                "fewer, drawn ahead": shares_or_refusal(iter("ab" if rank else "abc"), group=group),
                "none": shares_or_refusal("", group=group),
                "no weight": shares_or_refusal("ab", weight=lambda batch: 0, group=group),
                "no weight here": list(
                    map(list, amp.windows("ab", 2, weight=lambda batch: rank, group=group))
                ),
                "alone": shares_or_refusal("abc", group=None if rank else alone),
                "large": shares_or_refusal("ab", weight=lambda batch: 2**24 + 1, group=group),
            }
        finally:
            if rank == 0:  # the process of rank 1 simply exits
                # Before torch 2.8, destroy_process_group() holds the GIL while it waits for gloo's
                # threads, which may need the GIL to free tensors (pytorch#154976).
                time.sleep(0.5)
                distributed.destroy_process_group()


def test_with_a_group_ddp_takes_the_steps_of_one_process_whatever_its_batches_weigh(
    device, tmp_path
):
    if device != "cpu" or "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("needs fork, where no device is in use; --device cpu runs it")
    for name in ("torch.distributed", "torch._dynamo"):  # otherwise, each rank imports them
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        other = pool.apply_async(on_two_ranks, (1, tmp_path / "meeting"))
        ranks = [on_two_ranks(0, tmp_path / "meeting"), other.get(timeout=60)]
    for name, rows in (("tokens", TOKENS), ("numbers", NUMBERS)):
        for found in ranks:
            for parameter, expected in zip(found[name], weights_of_one_process(rows)):
                torch.testing.assert_close(torch.tensor(parameter), torch.tensor(expected))
    shares = [found["shares"] for found in ranks]
    assert shares == [[[0.5, 0.5], [2 / 3, 2 / 3]], [[0.5, 0.5], [2 / 3]]]
    for found in ranks:
        for name in ("fewer", "fewer, drawn ahead"):
            assert found[name].startswith("1 of 2 processes have a window, the others have no more")
        assert found["none"].startswith("no batches: the loader is empty")
        assert found["no weight"] == []
        assert found["alone"] == [[0.5, 0.5], [1.0]]
        assert found["large"] == [[0.5, 0.5]]  # for weights that float32 would round
    here = [found["no weight here"] for found in ranks]
    assert here == [[[("b", 0.0, True)]], [[("a", 1.0, False), ("b", 1.0, True)]]]


@contextlib.contextmanager
def another_process(weight, windows=1):
    """A group with one more process, whose window has this weight, without a process."""
    group = mock.Mock(spec=torch.distributed.ProcessGroup)
    left = iter([weight] * windows)

    def all_reduce(sums, group):
        its = next(left, None)
        sums += torch.tensor([its or 0.0, its is not None], dtype=sums.dtype)

    with mock.patch.multiple(
        torch.distributed,
        get_backend={group: "gloo"}.__getitem__,
        get_world_size={group: 2}.__getitem__,
        all_reduce=all_reduce,
    ):
        yield group


def test_shares_are_relative_to_the_mean_weight_of_the_processes():
    with another_process(1.0) as group:
        assert shares_or_refusal(iter("ab"), group=group) == [[2 / 3, 2 / 3]]
    large = 2.0**24 + 1  # which float32 would round
    with another_process(large) as group:
        assert shares_or_refusal(iter("a"), weight=lambda batch: large, group=group) == [[1.0]]


def test_a_process_without_weight_runs_its_last_batch_because_ddp_waits_for_it():
    with another_process(1.0) as group:
        (window,) = (
            list(window)
            for window in amp.windows(iter("abc"), 3, weight=lambda batch: 0, group=group)
        )
    assert window == [("c", 0.0, True)]


def test_fewer_windows_than_another_process_are_refused():
    with another_process(1.0, windows=2) as group:
        assert shares_or_refusal(iter("ab"), group=group) == (
            "1 of 2 processes have a window, the others have no more: expected as many in each"
        )


class Source:
    """An iterator like that of ResumableBatches.counted(), which knows how many batches are left."""

    def __init__(self, batches, left, resumed=False):
        self.batches, self.left, self.resumed = iter(batches), left, resumed

    def __iter__(self):
        return self

    def __next__(self):
        self.left -= 1
        if self.left < 0:
            raise AssertionError("drawn past the last batch")
        return next(self.batches)


def test_an_iterator_that_knows_what_is_left_is_not_asked_for_more():
    source = Source("abc", left=3)
    windows = iter(amp.windows(source, 2, weight=lambda batch: 1))
    assert [[batch for batch, _, _ in next(windows)] for _ in range(2)] == [["a", "b"], ["c"]]


def test_an_epoch_that_was_resumed_at_its_end_has_no_windows_and_another_is_refused():
    class Ended(Source):
        def __next__(self):
            raise StopIteration

    assert list(amp.windows(Ended("", left=0, resumed=True), 2, weight=lambda batch: 1)) == []
    with pytest.raises(ValueError, match="^no batches: "):
        list(amp.windows(Ended("", left=0), 2, weight=lambda batch: 1))


@pytest.mark.parametrize(("backend", "device"), [("gloo", "cpu"), ("nccl", "cuda")])
def test_processes_that_have_a_window_are_counted_on_the_device_of_the_group(backend, device):
    group, make = mock.Mock(spec=torch.distributed.ProcessGroup), torch.tensor
    tensor = mock.Mock(side_effect=lambda values, device, dtype: make(values, dtype=dtype))
    found = amp.windows("ab", 2, group=group)
    with (
        mock.patch("torch.tensor", tensor),
        mock.patch.multiple(
            torch.distributed,
            get_backend={group: backend}.__getitem__,
            get_world_size={group: 3}.__getitem__,
            all_reduce=lambda sums, group: None,  # the other two processes have no windows
        ),
        pytest.raises(ValueError, match="^1 of 3 processes have a window, the others have no more"),
    ):
        next(found)
    assert tensor.call_args.kwargs["device"] == device


@pytest.mark.parametrize("group", ["gloo", True, 0])
def test_what_is_no_group_of_this_process_is_refused(group):
    with pytest.raises(
        TypeError, match=rf"^group={group!r}: expected a ProcessGroup that this pro"
    ):
        amp.windows("abc", 2, group=group)


# ---- optimizer_step ----

UNSCALED = (
    r"^SGD: gradients of a call that raised, which are unscaled: call zero_grad\(\) and backward\(\) "
    "before it is tried again$"
)
STEPPED = (
    "^SGD: another optimizer has stepped, which updated the scale, and no loss was scaled since: "
    r"give all that step after one backward\(\) to one call, as a list$"
)


class FakeScaler:
    """A GradScaler for plain numbers, because this torch may not have a GradScaler for the CPU."""

    def __init__(self, scale=4.0):
        self.value, self.calls, self.found = scale, [], {}

    def is_enabled(self):
        return True

    def get_scale(self):
        return self.value

    def scale(self, loss):
        return loss * self.value

    def unscale_(self, optimizer):
        self.calls.append("unscale")
        if id(optimizer) in self.found:
            raise RuntimeError("unscale_() has already been called")
        gradients = [p.grad for group in optimizer.param_groups for p in group["params"]]
        if any(gradient is not None and gradient.dtype == torch.float16 for gradient in gradients):
            raise ValueError("Attempting to unscale FP16 gradients.")
        gradients = [
            gradient._values() if gradient.is_sparse else gradient
            for gradient in gradients
            if gradient is not None
        ]
        infinite = not all(gradient.isfinite().all() for gradient in gradients)
        self.found[id(optimizer)] = {"cpu": torch.tensor(float(infinite))} if gradients else {}
        for gradient in gradients:
            gradient.mul_(1 / self.value if self.value else math.inf)

    def _found_inf_per_device(self, optimizer):
        return self.found[id(optimizer)]

    def update(self):
        self.calls.append("update")
        assert self.found
        self.value *= 0.5 if any(map(sum, map(dict.values, self.found.values()))) else 1.0
        self.found = {}


def scalers(scale=4.0):
    """Yields a fake scaler and, if this torch has one, a real scaler for the CPU."""
    yield FakeScaler(scale)
    if TORCH >= (2, 3):
        yield torch.amp.GradScaler("cpu", init_scale=scale)


def parameter_with(gradient, device="cpu"):
    parameter = nn.Parameter(torch.zeros(len(gradient), device=device))
    parameter.grad = torch.tensor(gradient, device=device)
    return parameter


def stepped(optimizers, parameters, losses, scaler=None, **options):
    """Steps once on these losses, scaled. Returns the result and how far the parameters moved."""
    before = [parameter.detach().clone() for parameter in parameters]
    for loss in losses:
        (scaler.scale(loss) if scaler else loss).backward()
    answer = amp.optimizer_step(optimizers, scaler, **options)
    moved = [(old - new.detach()).tolist() for old, new in zip(before, parameters)]
    return answer, moved


def sgd(*groups, **options):
    return torch.optim.SGD([{"params": group} for group in groups], **{"lr": 1.0, **options})


@given(st.floats(0.01, 10), st.sampled_from([4.0, 1024.0]))
def test_the_unscaled_gradient_is_clipped(max_norm, scale):
    for scaler in (None, *scalers(scale)):
        weight = nn.Parameter(torch.zeros(1))
        answer, moved = stepped(
            sgd([weight]), [weight], [5 * weight.sum()], scaler, max_norm=max_norm
        )
        assert answer is True
        assert moved[0][0] == pytest.approx(min(5.0, max_norm), rel=1e-4)


def test_the_norm_is_that_of_all_parameters_of_all_groups_and_optimizers():
    for scaler in (None, *scalers()):
        a, b, c, d = parameters = [nn.Parameter(torch.zeros(1)) for _ in range(4)]
        losses = [sum(parameters).sum()]  # all four gradients are 1, so the norm is 2
        found = stepped([sgd([a, b], [c]), sgd([d])], parameters, losses, scaler, max_norm=1.0)
        assert [one[0] for one in found[1]] == pytest.approx([0.5] * 4, rel=1e-4)


@pytest.mark.parametrize("gradient", [[math.inf, 3.0], [math.nan, 3.0], [1e30, 1e30]])
@pytest.mark.parametrize("max_norm", [1.0, math.inf])
def test_a_norm_that_is_not_finite_skips_the_step_without_a_scaler_too(gradient, max_norm):
    weight = parameter_with(gradient)
    optimizer = sgd([weight], momentum=0.9, weight_decay=0.1)
    weight.data.fill_(1.0)
    assert amp.optimizer_step(optimizer, max_norm=max_norm) is False
    assert weight.tolist() == [1.0, 1.0]
    assert not optimizer.state


def test_an_infinite_max_norm_clips_nothing():
    weight = parameter_with([300.0, 400.0])
    assert amp.optimizer_step(sgd([weight]), max_norm=math.inf) is True
    assert weight.tolist() == [-300.0, -400.0]


def test_without_a_scaler_or_a_norm_nothing_is_skipped():
    weight = parameter_with([math.inf])
    assert amp.optimizer_step(sgd([weight])) is True
    assert weight.tolist() == [-math.inf]


def test_a_skipped_step_is_answered_with_false_and_the_next_one_goes_on_23905():
    for scaler in scalers():
        path, answers = train([math.inf, math.nan, 1.0], 1, scaler)
        assert answers == [False, False, True]
        assert path == [0.0, 0.0, -1.0]
        assert scaler.get_scale() == 1.0


@pytest.mark.parametrize("factors", [(1.0, math.inf), (math.inf, 1.0), (math.inf, math.inf)])
def test_one_infinite_gradient_skips_all_optimizers_and_the_scale_is_updated_once(factors):
    for scaler in scalers():
        a, b = nn.Parameter(torch.zeros(1)), nn.Parameter(torch.zeros(1))
        optimizers = [sgd([a]), sgd([b])]
        losses = [a.sum() * factors[0] + b.sum() * factors[1]]
        assert stepped(optimizers, [a, b], losses, scaler) == (False, [[0.0], [0.0]])
        assert scaler.get_scale() == 2.0
        for optimizer in optimizers:
            optimizer.zero_grad()
        assert stepped(optimizers, [a, b], [a.sum() + 2 * b.sum()], scaler) == (
            True,
            [[1.0], [2.0]],
        )


def test_one_backward_serves_a_sparse_and_a_dense_optimizer():
    for scaler in (None, *scalers()):
        table, head = nn.Embedding(4, 2, sparse=True), nn.Linear(2, 1)
        optimizers = (
            torch.optim.SparseAdam(table.parameters()),
            torch.optim.AdamW(head.parameters()),
        )
        parameters = [table.weight, head.weight, head.bias]
        answer, moved = stepped(
            optimizers, parameters, [head(table(torch.tensor([1]))).sum()], scaler
        )
        assert answer is True
        assert all(torch.tensor(one).abs().max() > 0 for one in moved)


def test_an_optimizer_whose_parameters_have_no_gradient_this_time_may_be_among_several():
    for scaler in (None, *scalers()):
        used, unused = nn.Parameter(torch.zeros(1)), nn.Parameter(torch.ones(1))
        optimizers = [sgd([used]), sgd([unused], weight_decay=0.5)]
        found = stepped(optimizers, [used, unused], [used.sum()], scaler)
        assert found == (True, [[1.0], [0.0]])  # with a zero gradient, weight decay would change it


class Breaks(torch.optim.SGD):
    broken = True

    def step(self, closure=None):
        if self.broken:
            self.broken = False
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")
        return super().step(closure)


def refuse():
    raise ArithmeticError("no")


def interrupt():
    raise KeyboardInterrupt


def of_two_groups():
    """Two parameters, each in its own group of an optimizer whose first step raises an error."""
    parameters = [nn.Parameter(torch.zeros(1)), nn.Parameter(torch.zeros(2))]
    rates = (1.0, 0.25)
    groups = [{"params": [parameter], "lr": lr} for parameter, lr in zip(parameters, rates)]
    return parameters, Breaks(groups, lr=9.0)


@pytest.mark.parametrize("cleared", [{}, {"set_to_none": True}, {"set_to_none": False}])
@pytest.mark.parametrize("check", [None, refuse, interrupt])
def test_what_raised_is_refused_until_gradients_are_new_and_can_then_be_tried_again(check, cleared):
    for scaler in scalers():
        parameters, optimizer = of_two_groups()

        def losses(parameters=parameters):
            return [sum(parameter.sum() for parameter in parameters)]

        with pytest.raises((torch.cuda.OutOfMemoryError, ArithmeticError, KeyboardInterrupt)):
            stepped(optimizer, parameters, losses(), scaler, before_step=check, max_norm=9.0)
        optimizer.broken = False
        for again in (None, list):
            with pytest.raises(RuntimeError, match="^Breaks: gradients of a call that raised, whi"):
                amp.optimizer_step(optimizer, scaler, before_step=again)
            parameters[0].grad = torch.ones(1)  # one new gradient is not enough
        assert not any(parameter.any() for parameter in parameters)
        optimizer.zero_grad(**cleared)
        found = stepped(optimizer, parameters, losses(), scaler)
        assert found == (True, [[1.0], [0.25, 0.25]])


def test_a_sparse_gradient_of_a_call_that_raised_is_refused_too():
    for scaler in scalers():
        table = nn.Embedding(2, 1, sparse=True)
        loss = table(torch.tensor([1])).sum()
        with pytest.raises(ArithmeticError):
            stepped(sgd([table.weight]), [table.weight], [loss], scaler, before_step=refuse)
        with pytest.raises(RuntimeError, match=UNSCALED):
            amp.optimizer_step(sgd([table.weight]), scaler)


def test_an_error_passes_through_where_before_step_has_dropped_a_gradient():
    for scaler in scalers():
        parameters, optimizer = of_two_groups()

        def drop(parameters=parameters):
            parameters[0].grad = None
            refuse()

        losses = [sum(parameter.sum() for parameter in parameters)]
        with pytest.raises(ArithmeticError, match="^no$"):
            stepped(optimizer, parameters, losses, scaler, before_step=drop)
        with pytest.raises(RuntimeError, match="^Breaks: gradients of a call that raised, which"):
            amp.optimizer_step(optimizer, scaler)


def test_without_a_scaler_what_raised_can_be_tried_again_at_once():
    parameters, optimizer = of_two_groups()
    with pytest.raises(torch.cuda.OutOfMemoryError):
        stepped(optimizer, parameters, [sum(one.sum() for one in parameters)])
    assert amp.optimizer_step(optimizer) is True
    assert [parameter.tolist() for parameter in parameters] == [[-1.0], [-0.25, -0.25]]


def test_an_optimizer_whose_gradients_cannot_be_unscaled_leaves_the_others_and_the_scaler_usable():
    for scaler in scalers():
        good, bad = nn.Parameter(torch.zeros(1)), nn.Parameter(torch.zeros(1).half())
        optimizers = [sgd([good]), sgd([bad])]
        losses = [good.sum() + bad.sum()]
        with pytest.raises(ValueError, match=r"^Attempting to unscale FP16 gradients\.$"):
            stepped(optimizers, [good, bad], losses, scaler)
        with pytest.raises(RuntimeError, match="^SGD, SGD: gradients of a call that raised"):
            amp.optimizer_step(optimizers, scaler)
        good.grad = bad.grad = None
        assert stepped(optimizers, [good, bad], [good.sum()], scaler) == (True, [[1.0], [0.0]])


def test_gradients_that_a_call_could_not_unscale_can_be_tried_again_at_once():
    for scaler in scalers():
        good, bad = nn.Parameter(torch.zeros(1)), nn.Parameter(torch.zeros(1).half())
        optimizers = [sgd([bad]), sgd([good])]
        with pytest.raises(ValueError, match=r"^Attempting to unscale FP16 gradients\.$"):
            stepped(optimizers, [good, bad], [good.sum() + bad.sum()], scaler)
        bad.grad = None
        assert stepped(optimizers, [good], [], scaler) == (True, [[1.0]])


@pytest.mark.skipif(TORCH < (2, 3), reason="autograd cannot be asked before")
@pytest.mark.parametrize("factor", [1.0, math.inf])  # the step is taken or skipped
def test_an_optimizer_that_should_have_stepped_in_the_call_before_is_refused(factor):
    for scaler in scalers():
        a, b, c, d = (nn.Parameter(torch.zeros(1)) for _ in range(4))
        first, second = sgd([a], [b]), sgd([c], [d])
        loss = (a + b).sum() * factor + (c + d).sum()
        assert stepped(first, [a, b], [loss], scaler)[0] is (factor == 1.0)
        with pytest.raises(RuntimeError, match=STEPPED):
            amp.optimizer_step(second, scaler)
        assert [c.item(), d.item()] == [0.0, 0.0]
        for optimizer in (first, second):
            optimizer.zero_grad()
        found = stepped([first, second], [a, b, c, d], [(a + b + c + 2 * d).sum()], scaler)
        assert found == (True, [[1.0], [1.0], [1.0], [2.0]])


def test_no_optimizer_is_refused_where_autograd_cannot_be_asked(monkeypatch):
    monkeypatch.delattr(torch._C._autograd, "_get_sequence_nr", raising=False)
    for scaler in scalers():
        a, b = (nn.Parameter(torch.zeros(1)) for _ in range(2))
        assert stepped(sgd([a]), [a], [(a + b).sum()], scaler) == (True, [[1.0]])
        assert stepped(sgd([b]), [b], [], scaler) == (True, [[1.0]])


@pytest.mark.parametrize("number", [0, 1])
def test_an_optimizer_that_has_stepped_may_step_again_on_gradients_that_were_written_to_it(number):
    for scaler in scalers():
        a, b = (nn.Parameter(torch.zeros(1)) for _ in range(2))
        optimizers = [sgd([a]), sgd([b])]
        assert stepped(optimizers, [a, b], [(a + b).sum()], scaler)[0]
        again = (a, b)[number]
        again.grad = torch.full((1,), scaler.get_scale())
        assert stepped(optimizers[number], [again], [], scaler) == (True, [[1.0]])


@pytest.mark.parametrize("frozen", [False, True])
def test_an_optimizer_may_step_on_a_loss_that_was_scaled_after_the_step_of_another(frozen):
    """The optimizers of a GAN do this, whose critic may be frozen while the generator trains."""
    for scaler in scalers():
        critic, generator = nn.Parameter(torch.ones(1)), nn.Parameter(torch.ones(1))
        for factor in (math.inf, 1.0):
            critic.grad = generator.grad = None
            found = stepped(sgd([critic]), [critic], [(critic * factor).sum()], scaler)
            assert found == (factor == 1.0, [[factor == 1.0]])
            critic.requires_grad_(not frozen)
            found = stepped(sgd([generator]), [generator], [generator.sum()], scaler)
            assert found == (True, [[1.0]])
            critic.requires_grad_(True)


def test_a_scaler_can_be_pickled_and_copied_after_a_step(device):
    weight, scaler = nn.Parameter(torch.zeros(1, device=device)), real_scaler(device)
    stepped(sgd([weight]), [weight], [weight.sum()], scaler)
    for copied in (pickle.loads(pickle.dumps(scaler)), copy.deepcopy(scaler)):
        assert copied.state_dict() == scaler.state_dict()


@pytest.mark.parametrize("kind", [list, tuple, set, iter, lambda given: (one for one in given)])
def test_optimizers_may_come_in_any_collection(kind):
    for scaler in (None, *scalers()):
        a, b, c = parameters = [nn.Parameter(torch.zeros(1)) for _ in range(3)]
        optimizers = [sgd([a]), sgd([b], lr=0.5), sgd([c], lr=0.25)]
        found = stepped(kind(optimizers), parameters, [(a + b + c).sum()], scaler)
        assert found == (True, [[1.0], [0.5], [0.25]])


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (None, "NoneType None"),
        ("sgd", "str 's'"),
        ({"one": 1}, "str 'one'"),
        ([None], "NoneType None"),
        (3, "int 3"),
    ],
)
def test_what_is_no_optimizer_is_refused_before_anything_is_unscaled(wrong, text):
    weight, scaler = parameter_with([1.0]), FakeScaler()
    given = [sgd([weight]), *wrong] if isinstance(wrong, list) else wrong
    with pytest.raises(TypeError, match=f"^expected an optimizer or several, got {text}$"):
        amp.optimizer_step(given, scaler)
    assert scaler.calls == []
    assert weight.grad.tolist() == [1.0]


def test_before_step_sees_the_unscaled_gradients_before_they_are_clipped():
    for scaler in (None, *scalers()):
        weight, seen = nn.Parameter(torch.zeros(2)), []

        def halve(weight=weight, seen=seen):
            seen.append((weight.grad.tolist(), weight.tolist()))
            weight.grad /= 2

        loss = (weight * torch.tensor([12.0, 16.0])).sum()
        _, moved = stepped(sgd([weight]), [weight], [loss], scaler, max_norm=5.0, before_step=halve)
        assert seen == [([12.0, 16.0], [0.0, 0.0])]
        assert moved[0] == pytest.approx([3.0, 4.0], rel=1e-4)


def test_before_step_is_not_called_for_a_step_that_the_scaler_skips():
    for scaler in scalers():
        weight, seen = nn.Parameter(torch.zeros(2)), []
        loss = (weight * torch.tensor([math.inf, 4.0])).sum()
        check = functools.partial(seen.append, 1)
        found = stepped(sgd([weight]), [weight], [loss], scaler, max_norm=1.0, before_step=check)
        assert found == (False, [[0.0, 0.0]])
        assert seen == []
        assert weight.grad.tolist() == [math.inf, 4.0]  # the gradient was not clipped


def test_a_disabled_scaler_changes_nothing(device):
    scaler = amp.make_grad_scaler(amp.choose_precision(device, torch.float32))
    weight = nn.Parameter(torch.ones(2, device=device))
    assert stepped(sgd([weight], lr=0.5), [weight], [weight.sum()], scaler) == (True, [[0.5, 0.5]])


def test_gradients_are_left_for_the_caller_to_clear():
    other = parameter_with([3.0])
    for scaler in (None, *scalers()):
        weight = nn.Parameter(torch.zeros(1))
        stepped(sgd([weight]), [weight], [5 * weight.sum()], scaler)
        assert weight.grad.tolist() == [5.0]
    assert other.grad.tolist() == [3.0]


def test_a_group_that_was_added_later_is_clipped_too():
    first, later = parameter_with([3.0]), parameter_with([4.0])
    optimizer = sgd([first])
    optimizer.add_param_group({"params": [later]})
    amp.optimizer_step(optimizer, max_norm=1.0)
    assert [first.item(), later.item()] == pytest.approx([-0.6, -0.8], rel=1e-4)


def test_a_parameter_that_is_frozen_after_backward_is_clipped_as_it_is_stepped():
    frozen, other = parameter_with([3.0]), parameter_with([4.0])
    frozen.requires_grad_(False)
    amp.optimizer_step(sgd([frozen, other]), max_norm=1.0)
    assert [frozen.item(), other.item()] == pytest.approx([-0.6, -0.8], rel=1e-4)


def test_only_step_and_param_groups_of_an_optimizer_are_used():
    weight = parameter_with([2.0])

    class Own(list):  # iterable, but still an optimizer
        param_groups = ({"params": [weight]},)

        def step(self):
            weight.data.sub_(weight.grad)

    assert amp.optimizer_step(Own(), max_norm=1.0) is True
    assert weight.item() == pytest.approx(-1.0, rel=1e-4)


def test_the_host_does_not_wait_for_the_device_unless_it_has_to():
    weight = nn.Parameter(torch.zeros(2, device="meta"))  # a read would raise
    weight.grad = torch.zeros(2, device="meta")
    assert amp.optimizer_step(sgd([weight]), before_step=lambda: None) is True
    with pytest.raises((RuntimeError, NotImplementedError)):
        amp.optimizer_step(sgd([weight]), max_norm=1.0)


@pytest.mark.parametrize("make", [torch.optim.SGD, torch.optim.AdamW])
def test_the_host_does_not_wait_for_cuda(device, make):
    if device != "cuda":
        pytest.skip("only CUDA can be asked about synchronisations")
    weight, seen = parameter_with([3.0, 4.0], device), []
    optimizer = make([weight], lr=1.0)
    scaler = amp.make_grad_scaler(amp.Precision("cuda", torch.bfloat16, False, ""))
    torch.cuda.set_sync_debug_mode("error")
    try:
        for each in (None, scaler):  # here, the scaler is disabled
            assert amp.optimizer_step(optimizer, each, before_step=lambda: seen.append(1)) is True
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert seen == [1, 1]


def fused(make, parameters, **options):
    try:
        return make(parameters, fused=True, **options)
    except (TypeError, RuntimeError) as error:
        if TORCH >= (2, 4) and parameters[0].device.type != "mps":
            raise  # torch 2.4 has such optimizers on CUDA and on the CPU
        pytest.skip(f"no such optimizer here: {error}")


def real_scaler(device):
    if TORCH < (2, 3) and device != "cuda":
        pytest.skip("no scaler for this device before torch 2.3; choose_precision refuses float16")
    if TORCH < (2, 8) and device == "mps":
        pytest.skip("unscale_() asks MPS for float64 before torch 2.8")
    return amp.make_grad_scaler(amp.Precision(device, torch.float16, True, ""), init_scale=4.0)


class OwnSGD(torch.optim.SGD):
    pass


@pytest.mark.parametrize("make", [torch.optim.SGD, OwnSGD])
def test_a_skipped_first_step_leaves_fused_sgd_no_garbage_for_momentum(device, make):
    if TORCH < (2, 4) and device == "cpu":
        pytest.skip("no fused SGD for the CPU before torch 2.4")
    weight, scaler = nn.Parameter(torch.zeros(1, device=device)), real_scaler(device)
    optimizer = fused(make, [weight], lr=1.0, momentum=0.9)
    before = optimizer._step_supports_amp_scaling
    torch.use_deterministic_algorithms(True)  # fills uninitialized memory with NaN
    try:
        for factor, expected in ((math.inf, False), (1.0, True)):
            optimizer.zero_grad()
            loss = weight.sum() * factor
            assert stepped(optimizer, [weight], [loss], scaler)[0] is expected
    finally:
        torch.use_deterministic_algorithms(False)
    assert weight.item() == -1.0
    assert optimizer._step_supports_amp_scaling is before


def test_hooks_of_a_fused_optimizer_do_not_run_for_a_skipped_step(device):
    weight, scaler = nn.Parameter(torch.zeros(1, device=device)), real_scaler(device)
    optimizer = fused(torch.optim.AdamW, [weight])
    ran = []
    optimizer.register_step_post_hook(lambda *_: ran.append(1))
    stepped(optimizer, [weight], [weight.sum() * math.inf], scaler)
    assert ran == []
    optimizer.zero_grad()
    stepped(optimizer, [weight], [weight.sum()], scaler)
    assert ran == [1]


@given(st.sampled_from([2.0**-3, 2.0**-10, 1.0]))
def test_a_collapsing_scale_is_noticed_before_it_is_zero(min_scale):
    for scaler in scalers():
        text = (
            r"^a step was skipped, and the loss scale is \S+, below "
            rf"min_scale={min_scale:g}: so low that the gradients are infinite or NaN whatever the "
            "scale, so look for inf or NaN in the data or the model$"
        )
        with pytest.raises(amp.ScaleCollapsed, match=text):
            train([math.inf] * 200, 1, scaler, min_scale=min_scale)
        assert scaler.get_scale() == min_scale / 2


def test_the_least_scale_is_2_to_the_minus_10_unless_asked_otherwise():
    for scaler in scalers():
        with pytest.raises(RuntimeError) as raised:
            train([math.inf] * 200, 1, scaler)
        assert type(raised.value) is amp.ScaleCollapsed
        assert scaler.get_scale() == 2.0**-11


def test_a_scale_that_started_low_is_no_collapse_while_steps_are_taken():
    for scaler in scalers(2.0**-12):
        assert train([1.0], 1, scaler) == ([-1.0], [True])
        with pytest.raises(amp.ScaleCollapsed):
            train([math.inf], 1, scaler)


def test_nothing_is_written_with_a_scale_of_0():
    for scaler in scalers(0.0):
        weight = nn.Parameter(torch.ones(1))
        with pytest.raises(amp.ScaleCollapsed, match="the loss scale is 0, below"):
            stepped(sgd([weight]), [weight], [weight.sum()], scaler)
        assert weight.item() == 1.0


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"max_norm": 0.0}, "^max_norm=0.0: expected a positive number or None$"),
        ({"max_norm": -1.0}, "^max_norm=-1.0"),
        ({"max_norm": math.nan}, "^max_norm=nan"),
        ({"min_scale": 0.0}, "^min_scale=0.0: expected a positive, finite number$"),
        ({"min_scale": math.nan}, "^min_scale=nan"),
        ({"min_scale": math.inf}, "^min_scale=inf"),
    ],
)
def test_numbers_that_are_not_positive_are_refused(options, text):
    weight = parameter_with([1.0])
    with pytest.raises(ValueError, match=text):
        amp.optimizer_step(sgd([weight]), **options)
    assert weight.item() == 0.0


class OwnLBFGS(torch.optim.LBFGS):
    pass


@pytest.mark.parametrize("make", [torch.optim.LBFGS, OwnLBFGS])
def test_lbfgs_is_refused_before_anything_is_touched(make):
    scaler = FakeScaler()
    with pytest.raises(
        ValueError, match=r"^LBFGS computes the loss itself, .* its step\(closure\)$"
    ):
        amp.optimizer_step([sgd([parameter_with([1.0])]), make([parameter_with([1.0])])], scaler)
    assert scaler.calls == []


def test_optimizers_without_any_gradient_are_refused():
    model = nn.Linear(1, 1)
    optimizers = [sgd([model.weight]), torch.optim.Adam([model.bias])]
    for scaler in (None, *scalers()):
        with pytest.raises(ValueError, match="^SGD, Adam: no parameter has a gradient; was backwa"):
            amp.optimizer_step(optimizers, scaler)
    with pytest.raises(ValueError, match="^an empty list: no parameter has a gradient"):
        amp.optimizer_step([])


def test_a_parameter_of_two_optimizers_is_refused():
    weight = parameter_with([1.0])
    with pytest.raises(
        ValueError, match="^SGD, SGD: a parameter is there twice, and would be unsc"
    ):
        amp.optimizer_step([sgd([weight]), sgd([weight])])


def test_a_loss_that_was_not_scaled_is_refused_by_the_scaler(device):
    scaler, weight = real_scaler(device), parameter_with([1.0], device)
    with pytest.raises(
        (AssertionError, RuntimeError), match="Attempted unscale_ but _scale is None"
    ):
        amp.optimizer_step(sgd([weight]), scaler)


def test_a_real_scaler_on_this_device_trains_and_stops_when_it_collapses(device):
    scaler = real_scaler(device)
    precision = amp.choose_precision(device, torch.float16)
    model = nn.Linear(4, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def epoch(count, target):
        losses = []
        for window in amp.windows([torch.ones(8, 4, device=device)] * count, 2):
            optimizer.zero_grad()
            for x, share, _ in window:
                with precision.autocast():
                    loss = (model(x).float() - target).square().mean()
                losses.append(loss.item())
                scaler.scale(loss * share).backward()
            amp.optimizer_step(optimizer, scaler, max_norm=1.0)
        return losses

    losses = epoch(28, 1.0)
    assert losses[-1] < losses[0]
    with pytest.raises(amp.ScaleCollapsed):
        epoch(80, math.inf)
    assert all(parameter.isfinite().all() for parameter in model.parameters())


# ---- the pieces in other people's loops ----
# Each loop occurs twice: as people write it, and with the pieces. Both give the same result.


def nanogpt(run):
    """The loop of nanoGPT's train.py, where only the last micro step synchronizes gradients."""
    for _ in range(3):
        for micro_step in range(4):
            run.model.require_backward_grad_sync = micro_step == 3
            with run.autocast():
                loss = run.model(next(run.batches)).square().mean()
                loss = loss / 4
            run.scaler.scale(loss).backward()
        run.scaler.unscale_(run.optimizer)
        torch.nn.utils.clip_grad_norm_(run.model.parameters(), 1.0)
        run.scaler.step(run.optimizer)
        run.scaler.update()
        run.optimizer.zero_grad(set_to_none=True)


def nanogpt_with_the_pieces(run):
    for window in itertools.islice(amp.windows(run.batches, 4), 3):
        for batch, share, last in window:
            run.model.require_backward_grad_sync = last
            with run.autocast():
                loss = run.model(batch).square().mean()
                loss = loss * share
            run.scaler.scale(loss).backward()
        amp.optimizer_step(run.optimizer, run.scaler, max_norm=1.0)
        run.optimizer.zero_grad(set_to_none=True)


def gan(run):
    """Two optimizers that share a scaler, each with its own backward()."""
    for _ in range(6):
        x = next(run.batches)
        run.optimizer.zero_grad()
        with run.autocast():
            judged = run.model(torch.cat([x, run.generator(x).detach()])).square().mean()
        run.scaler.scale(judged).backward()
        run.scaler.step(run.optimizer)
        run.generator_optimizer.zero_grad()
        with run.autocast():
            fooled = run.model(run.generator(x)).square().mean()
        run.scaler.scale(fooled).backward()
        run.scaler.step(run.generator_optimizer)
        run.scaler.update()


def gan_with_the_pieces(run):
    for _ in range(6):
        x = next(run.batches)
        run.optimizer.zero_grad()
        with run.autocast():
            judged = run.model(torch.cat([x, run.generator(x).detach()])).square().mean()
        run.scaler.scale(judged).backward()
        amp.optimizer_step(run.optimizer, run.scaler)
        run.generator_optimizer.zero_grad()
        with run.autocast():
            fooled = run.model(run.generator(x)).square().mean()
        run.scaler.scale(fooled).backward()
        amp.optimizer_step(run.generator_optimizer, run.scaler)


def averaged(run):
    """A scheduler and an average of the weights, both of which advance with every applied step."""
    for x in itertools.islice(run.batches, 6):
        run.optimizer.zero_grad()
        with run.autocast():
            loss = run.model(x).square().mean()
        if x is run.bad:
            loss = loss * math.inf
        run.scaler.scale(loss).backward()
        before = run.scaler.get_scale()
        run.scaler.step(run.optimizer)
        run.scaler.update()
        if run.scaler.get_scale() >= before:
            run.scheduler.step()
            run.average.update_parameters(run.model)


def averaged_with_the_pieces(run):
    for x in itertools.islice(run.batches, 6):
        run.optimizer.zero_grad()
        with run.autocast():
            loss = run.model(x).square().mean()
        if x is run.bad:
            loss = loss * math.inf
        run.scaler.scale(loss).backward()
        if amp.optimizer_step(run.optimizer, run.scaler):
            run.scheduler.step()
            run.average.update_parameters(run.model)


def hooked(run):
    """A trainer class with a hook that sees the gradients before they are clipped."""

    class Trainer:
        def on_before_optimizer_step(self):
            run.seen.append(run.model.weight.grad.norm().item())

        def fit(self, optimizer, scaler):
            for number, x in enumerate(itertools.islice(run.batches, 6), 1):
                with run.autocast():
                    loss = run.model(x).square().mean()
                scaler.scale(loss / 2).backward()
                if number % 2 == 0:
                    scaler.unscale_(optimizer)
                    self.on_before_optimizer_step()
                    torch.nn.utils.clip_grad_norm_(run.model.parameters(), 0.5)
                    scaler.step(optimizer)
                    scaler.update()
                    optimizer.zero_grad()

    Trainer().fit(run.optimizer, run.scaler)


def hooked_with_the_pieces(run):
    class Trainer:
        def on_before_optimizer_step(self):
            run.seen.append(run.model.weight.grad.norm().item())

        def fit(self, optimizer, scaler):
            epoch = amp.windows(itertools.islice(run.batches, 6), 2)
            for x, share, last in itertools.chain.from_iterable(epoch):
                with run.autocast():
                    loss = run.model(x).square().mean()
                scaler.scale(loss * share).backward()
                if last:
                    amp.optimizer_step(
                        optimizer, scaler, max_norm=0.5, before_step=self.on_before_optimizer_step
                    )
                    optimizer.zero_grad()

    Trainer().fit(run.optimizer, run.scaler)


class Synchronized(nn.Linear):
    """Counts the backward() calls that DistributedDataParallel would synchronize."""

    require_backward_grad_sync, synchronized = True, 0

    def forward(self, x):
        self.synchronized += self.require_backward_grad_sync
        return super().forward(x)


def what_a_run_leaves(loop, device):
    torch.manual_seed(0)
    scaled = TORCH >= (2, 8) or device == "cuda" or (device == "cpu" and TORCH >= (2, 3))
    precision = amp.choose_precision(device, torch.float16 if scaled else torch.float32)
    batches = [torch.randn(8, 3, device=device) for _ in range(16)]
    run = types.SimpleNamespace(
        model=Synchronized(3, 1).to(device),
        generator=nn.Linear(3, 3).to(device),
        autocast=precision.autocast,
        scaler=amp.make_grad_scaler(precision, **({"init_scale": 16.0} if scaled else {})),
        batches=iter(batches),
        bad=batches[2] if scaled else None,
        seen=[],
    )
    run.average = torch.optim.swa_utils.AveragedModel(run.model)
    run.optimizer = torch.optim.SGD(run.model.parameters(), lr=0.1, momentum=0.9)
    run.generator_optimizer = torch.optim.Adam(run.generator.parameters(), lr=0.1)
    run.scheduler = torch.optim.lr_scheduler.StepLR(run.optimizer, 1, gamma=0.5)
    loop(run)
    modules = (run.model, run.generator, run.average)
    state = copy.deepcopy([module.state_dict() for module in modules])
    return state, run.seen, run.model.synchronized, run.optimizer.param_groups[0]["lr"]


@pytest.mark.parametrize(
    ("loop", "with_the_pieces"),
    [
        (nanogpt, nanogpt_with_the_pieces),
        (gan, gan_with_the_pieces),
        (averaged, averaged_with_the_pieces),
        (hooked, hooked_with_the_pieces),
    ],
)
def test_the_pieces_fit_into_a_loop_and_change_nothing_that_was_right(
    loop, with_the_pieces, device
):
    (state, *rest), (state_with, *rest_with) = (
        what_a_run_leaves(one, device) for one in (loop, with_the_pieces)
    )
    assert rest == rest_with
    for found, expected in zip(state_with, state):
        torch.testing.assert_close(found, expected, rtol=0, atol=0)


def lines(function):
    """The lines of the function's body, without a docstring."""
    source = inspect.getsource(function).splitlines()[1:]
    return source[1:] if '"""' in source[0] else source


@pytest.mark.parametrize(
    ("loop", "with_the_pieces"),
    [
        (nanogpt, nanogpt_with_the_pieces),
        (gan, gan_with_the_pieces),
        (averaged, averaged_with_the_pieces),
        (hooked, hooked_with_the_pieces),
    ],
)
def test_the_pieces_change_at_most_ten_lines_of_a_loop(loop, with_the_pieces):
    compared = difflib.SequenceMatcher(None, lines(loop), lines(with_the_pieces), autojunk=False)
    changed = [
        max(end - start, new_end - new_start)
        for tag, start, end, new_start, new_end in compared.get_opcodes()
        if tag != "equal"
    ]
    assert 0 < sum(changed) <= 10
    assert len(lines(with_the_pieces)) <= len(lines(loop))


@pytest.mark.skipif(TORCH < (2, 3), reason="an enabled scaler for the CPU needs torch 2.3")
@given(st.booleans(), st.booleans())
def test_scaler_states_survive_a_move_between_machines(saved_enabled, loaded_enabled):
    saved = amp.make_grad_scaler(
        amp.Precision("cpu", torch.float16, saved_enabled, ""), init_scale=2.0
    )
    loaded = amp.make_grad_scaler(
        amp.Precision("cpu", torch.float16, loaded_enabled, ""), init_scale=8.0
    )
    assert amp.load_scaler_state(loaded, saved.state_dict()) is (saved_enabled and loaded_enabled)
    if loaded_enabled:
        assert loaded.state_dict()["scale"] == (2.0 if saved_enabled else 8.0)
