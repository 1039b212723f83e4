"""The properties that the reference fixes promise, as tests for a peer.

A property has a strategy, and a function that describes the failure on an example (or returns
None). `hypothesis.find` returns the smallest example on which a peer fails. Examples are small,
because a peer that runs a whole trainer needs half a second per example.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import gc
import io
import logging
import math
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import hypothesis
import torch
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_sequence

from tests.trials.peers.adapters import Peer


class Property(NamedTuple):
    part: str
    promise: str
    strategy: st.SearchStrategy[Any]
    wrong: Callable[[Peer, Any], str | None]
    upstream: str  # an upstream report of the fault, or ""

    @property
    def name(self) -> str:
        return f"{self.part}: {self.promise}"


PROPERTIES: list[Property] = []


def holds(
    part: str, promise: str, strategy: st.SearchStrategy[Any], upstream: str = ""
) -> Callable[[Any], Any]:
    def register(wrong: Callable[[Peer, Any], str | None]) -> Callable[[Peer, Any], str | None]:
        PROPERTIES.append(Property(part, promise, strategy, wrong, upstream))
        return wrong

    return register


class Outcome(NamedTuple):
    state: str  # "pass", "fails", "none"
    detail: str = ""


def judge(peer: Peer, property: Property) -> Outcome:
    """The outcome of the property for the peer; a failure includes the smallest counterexample."""
    if getattr(peer, property.part) is None:
        return Outcome("none")

    seen: list[str] = []

    def fails(example: Any) -> bool:
        wrong = _wrong(peer, property, example)
        if wrong is not None:
            seen.append(f"{example!r}: {wrong}")
        return wrong is not None

    # Keep later collections from visiting everything imported so far, which would take half a
    # second each with a large library.
    gc.collect()
    gc.freeze()
    settings = hypothesis.settings(
        max_examples=peer.max_examples,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    try:
        example = hypothesis.find(property.strategy, fails, settings=settings)
    except hypothesis.errors.NoSuchExample:
        return Outcome("pass")
    except hypothesis.errors.Flaky:
        return Outcome("fails", f"{seen[-1]} (not in every call: it keeps state between calls)")
    return Outcome("fails", f"{example!r}: {_wrong(peer, property, example)}")


def _wrong(peer: Peer, property: Property, example: Any) -> str | None:
    with quiet():
        try:
            return property.wrong(peer, example)
        except Exception as error:
            return f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logging.NOTSET)


# ---- batch-size search ----

# (largest, limit)
sizes = st.tuples(st.integers(1, 64), st.integers(1, 64)).map(lambda pair: (max(pair), min(pair)))
OOM = "CUDA out of memory. Tried to allocate 2.00 MiB"


class Step:
    """A callable run(size) that succeeds up to a size limit."""

    def __init__(self, limit: int, text: str = OOM, cycle: bool = False) -> None:
        self.limit, self.text, self.cycle = limit, text, cycle
        self.sizes: list[int] = []
        self.alive: list[weakref.ref[torch.Tensor]] = []
        self.leaked = False

    def __call__(self, size: int) -> None:
        self.leaked |= any(tensor() is not None for tensor in self.alive)
        self.sizes.append(size)
        activations = torch.ones(8)
        if self.cycle:
            holder: list[Any] = [activations]
            holder.append(holder)
        self.alive.append(weakref.ref(activations))
        if size > self.limit:
            raise RuntimeError(self.text)


def searched(peer: Peer, largest: int, step: Step) -> int:
    found = peer.search(step, largest)
    assert isinstance(found, int), f"returned {found!r}"
    return found


@holds("search", "finds the largest batch size that fits", sizes)
def _(peer: Peer, example: Any) -> str | None:
    largest, limit = example
    found = searched(peer, largest, Step(limit))
    return None if found == limit else f"found {found}"


@holds(
    "search",
    "needs at most ceil(log2 n) + 2 tries",
    sizes,
    "https://github.com/huggingface/accelerate/issues/4160",
)
def _(peer: Peer, example: Any) -> str | None:
    largest, limit = example
    step = Step(limit)
    searched(peer, largest, step)
    allowed = math.ceil(math.log2(largest)) + 2
    return (
        None if len(step.sizes) <= allowed else f"{len(step.sizes)} tries, but {allowed} are enough"
    )


@holds("search", "tries only sizes within the requested range", sizes)
def _(peer: Peer, example: Any) -> str | None:
    largest, limit = example
    step = Step(limit)
    searched(peer, largest, step)
    outside = [size for size in step.sizes if not 1 <= size <= largest]
    return f"tried {outside}" if outside else None


@holds("search", "frees the tensors of a failed try before the next try", sizes)
def _(peer: Peer, example: Any) -> str | None:
    largest, limit = example
    step = Step(limit)
    searched(peer, largest, step)
    return "tensors of the try before were alive" if step.leaked else None


@holds("search", "also frees tensors in reference cycles", sizes)
def _(peer: Peer, example: Any) -> str | None:
    largest, limit = example
    step = Step(limit, cycle=True)
    searched(peer, largest, step)
    return "tensors in cycles were alive" if step.leaked else None


@holds(
    "search",
    "recognizes the MPS message",
    sizes,
    "https://github.com/huggingface/accelerate/issues/4226",
)
def _(peer: Peer, example: Any) -> str | None:
    largest, limit = example
    found = searched(
        peer,
        largest,
        Step(limit, "MPS backend out of memory (MPS allocated: 7.9 GB, max allowed: 7.93 GB)"),
    )
    return None if 1 <= found <= limit else f"found {found}"


@holds(
    "search",
    "propagates every other error",
    st.sampled_from(["mat1 and mat2 shapes cannot be multiplied", "x"]),
)
def _(peer: Peer, text: Any) -> str | None:
    try:
        searched(peer, 8, Step(0, text))
    except RuntimeError as error:
        return None if str(error) == text else f"raised {error}"
    return "did not raise"


@holds(
    "search",
    "raises an error with the original text if even the smallest size does not fit",
    st.integers(1, 64),
)
def _(peer: Peer, largest: Any) -> str | None:
    step = Step(0)
    try:
        found = searched(peer, largest, step)
    except RuntimeError as error:
        return (
            None if "out of memory" in str(error) else f"raised an error without the text: {error}"
        )
    return f"returned {found}"


@holds("search", "keeps no state between two searches", sizes)
def _(peer: Peer, example: Any) -> str | None:
    largest, limit = example
    searched(peer, largest, Step(1))
    found = searched(peer, largest, Step(limit))
    return None if found >= (limit + 1) // 2 else f"found {found} after a search that had found 1"


# ---- a step with bad gradients ----

ordinary = st.lists(
    st.floats(-100, 100, width=32).filter(lambda x: x == 0 or abs(x) > 1e-3), min_size=1, max_size=4
)
BAD = [math.inf, -math.inf, math.nan]


def stepped(
    peer: Peer, gradient: list[float], max_norm: float = 1.0, momentum: float = 0.0
) -> tuple[nn.Linear, torch.optim.Optimizer]:
    model = nn.Linear(len(gradient), 1, bias=False)
    nn.init.zeros_(model.weight)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0, momentum=momentum)
    model.weight.grad = torch.tensor([gradient])
    # a guard may raise instead of skipping the step
    with contextlib.suppress(RuntimeError):
        peer.step(model, optimizer, max_norm)
    return model, optimizer


@holds("step", "clips ordinary gradients to max_norm", ordinary)
def _(peer: Peer, gradient: Any) -> str | None:
    model, _ = stepped(peer, gradient)
    gradient = torch.tensor(gradient)
    right = -gradient * min(1.0, 1.0 / max(float(gradient.norm()), 1e-12))
    found = model.weight.detach()[0]
    return (
        None
        if torch.allclose(found, right, atol=1e-4)
        else f"weights {found.tolist()}, expected {right.tolist()}"
    )


@holds(
    "step",
    "an inf or NaN gradient does not change the weights",
    st.tuples(ordinary, st.sampled_from(BAD)),
    "https://github.com/pytorch/pytorch/issues/46849",
)
def _(peer: Peer, example: Any) -> str | None:
    gradient, bad = example
    model, _ = stepped(peer, [bad, *gradient[1:]])
    found = model.weight.detach()[0].tolist()
    return None if not any(found) else f"weights become {found}"


@holds(
    "step",
    "an inf or NaN gradient does not change the momentum",
    st.tuples(ordinary, st.sampled_from(BAD)),
)
def _(peer: Peer, example: Any) -> str | None:
    gradient, bad = example
    _, optimizer = stepped(peer, [bad, *gradient[1:]], momentum=0.9)
    found = [
        state["momentum_buffer"]
        for state in optimizer.state.values()
        if state.get("momentum_buffer") is not None
    ]
    return (
        None
        if all(bool(buffer.isfinite().all()) for buffer in found)
        else f"momentum {found[0].tolist()}"
    )


@holds(
    "step",
    "finite gradients whose norm overflows keep their direction",
    st.lists(st.sampled_from([3e38, -3e38]), min_size=2, max_size=4),
)
def _(peer: Peer, gradient: Any) -> str | None:
    model, _ = stepped(peer, gradient)
    found = model.weight.detach()[0]
    right = -torch.tensor(gradient).sign() / math.sqrt(len(gradient))
    return (
        None
        if torch.allclose(found, right, atol=1e-3)
        else f"weights {found.tolist()}, expected {right.tolist()}"
    )


# ---- accumulation ----


class Scale(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.weight * x


def simulated(rows: list[float], accumulate: int) -> tuple[float, float]:
    """The weight and mean loss after one epoch with the loss weight * row, starting at weight 1.

    Each window takes a step with the mean of its rows.
    """
    weight, losses = 1.0, list[float]()
    for start in range(0, len(rows), accumulate):
        window = rows[start : start + accumulate]
        losses += [weight * row for row in window]
        weight -= sum(window) / len(window)
    return weight, sum(losses) / len(losses)


epochs = st.tuples(st.integers(1, 5), st.integers(1, 3)).map(
    lambda pair: ([float(n + 1) for n in range(pair[0])], pair[1])
)


def trained(peer: Peer, rows: list[float], accumulate: int) -> tuple[float, float | None]:
    model = Scale()
    reported = peer.epoch(
        model, [torch.tensor(row) for row in rows], lambda model, row: model(row).sum(), accumulate
    )
    return float(model.weight.detach()), reported


@holds("epoch", "uses the mean of the batches in a full window", epochs)
def _(peer: Peer, example: Any) -> str | None:
    rows, accumulate = example
    rows = rows[: len(rows) // accumulate * accumulate] or rows[:1] * accumulate
    found, right = trained(peer, rows, accumulate)[0], simulated(rows, accumulate)[0]
    return (
        None
        if math.isclose(found, right, rel_tol=1e-4)
        else f"weight {found:g}, expected {right:g}"
    )


@holds("epoch", "also steps on the last, shorter window", epochs)
def _(peer: Peer, example: Any) -> str | None:
    rows, accumulate = example
    full = rows[: len(rows) // accumulate * accumulate]
    found, without = (
        trained(peer, rows, accumulate)[0],
        simulated(full, accumulate)[0] if full else 1.0,
    )
    return (
        f"weight {found:g}: the last {len(rows) - len(full)} batches changed nothing"
        if len(full) < len(rows) and found == without
        else None
    )


@holds(
    "epoch",
    "uses the mean of the batches in this window",
    epochs,
    "https://github.com/Lightning-AI/pytorch-lightning/issues/19987",
)
def _(peer: Peer, example: Any) -> str | None:
    rows, accumulate = example
    found, right = trained(peer, rows, accumulate)[0], simulated(rows, accumulate)[0]
    return (
        None
        if math.isclose(found, right, rel_tol=1e-4)
        else f"weight {found:g}, expected {right:g}"
    )


@holds("epoch", "reports the mean loss over batches, regardless of the window size", epochs)
def _(peer: Peer, example: Any) -> str | None:
    rows, accumulate = example
    _, reported = trained(peer, rows, accumulate)
    right = simulated(rows, accumulate)[1]
    return (
        None
        if reported is None or math.isclose(reported, right, rel_tol=1e-4, abs_tol=1e-6)
        else f"reports {reported:g}, expected {right:g}"
    )


# ---- precision ----


@holds(
    "precision",
    "runs in the requested dtype or raises an error, but never silently uses another dtype",
    st.sampled_from([torch.bfloat16, torch.float16]),
)
def _(peer: Peer, dtype: Any) -> str | None:
    try:
        found = peer.precision("cpu", dtype)
    except (ValueError, RuntimeError):
        return None
    return None if found == dtype else f"runs in {found}"


# ---- moving batches ----


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclasses.dataclass
class Record:
    value: Any


@dataclasses.dataclass(frozen=True)
class Frozen:
    value: Any


CONTAINERS: dict[str, Callable[[Any], Any]] = {
    "tuple": lambda x: (x, x),
    "list": lambda x: [x, x],
    "dict": lambda x: {"a": x, "b": x},
    "OrderedDict": lambda x: collections.OrderedDict(a=x),
    "defaultdict": lambda x: collections.defaultdict(list, a=x),
    "UserDict": lambda x: collections.UserDict(a=x),
    "named tuple": lambda x: Pair(x, x),
    "dataclass": lambda x: Record(x),
    "frozen dataclass": lambda x: Frozen(x),
    "string beside it": lambda x: [x, "name"],
}


def same_types(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same_types, a, b))
    if isinstance(a, (dict, collections.UserDict)):
        return list(a) == list(b) and all(same_types(a[name], b[name]) for name in a)
    if isinstance(a, (Record, Frozen)):
        return same_types(a.value, b.value)
    return True


def tensors_of(batch: Any) -> list[torch.Tensor]:
    if isinstance(batch, torch.Tensor):
        return [batch]
    if isinstance(batch, (dict, collections.UserDict)):
        return [tensor for value in batch.values() for tensor in tensors_of(value)]
    if isinstance(batch, (Record, Frozen)):
        return tensors_of(batch.value)
    return (
        [tensor for value in batch for tensor in tensors_of(value)]
        if isinstance(batch, (list, tuple))
        else []
    )


@holds(
    "to_device",
    "moves the tensors of every common container",
    st.lists(st.sampled_from(list(CONTAINERS)), min_size=1, max_size=2),
)
def _(peer: Peer, names: Any) -> str | None:
    batch: Any = torch.ones(2)
    for name in names:
        batch = CONTAINERS[name](batch)
    # moves to the meta device, the second device of every machine
    moved = peer.to_device(batch, "meta" if "composer" not in peer.name else "cpu")
    left = [
        tensor.device.type
        for tensor in tensors_of(moved)
        if tensor.device.type != ("meta" if "composer" not in peer.name else "cpu")
    ]
    return f"{len(left)} tensors stay behind" if left else None


@holds(
    "to_device",
    "keeps the types of the containers",
    st.lists(st.sampled_from(list(CONTAINERS)), min_size=1, max_size=2),
)
def _(peer: Peer, names: Any) -> str | None:
    batch: Any = torch.ones(2)
    for name in names:
        batch = CONTAINERS[name](batch)
    moved = peer.to_device(batch, "cpu")
    return None if same_types(batch, moved) else f"became {moved!r}"


@holds("to_device", "keeps the type of a PackedSequence", st.integers(1, 3))
def _(peer: Peer, length: Any) -> str | None:
    moved = peer.to_device(pack_sequence([torch.ones(length)]), "cpu")
    return None if isinstance(moved, PackedSequence) else f"became {type(moved).__name__}"


# ---- snapshots ----


class WithBuffers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.register_buffer("seen", torch.ones(2))
        self.register_buffer("cache", torch.ones(2), persistent=False)


for place in ("weight", "seen", "cache"):

    def _restored(peer: Peer, value: float, place: str = place) -> str | None:
        model = WithBuffers()
        restore = peer.snapshot(model)
        with torch.no_grad():
            getattr(model, place).fill_(value)
        restore()
        found = getattr(model, place).detach().tolist()
        return None if found == [1.0, 1.0] else f"{found} after restoring 1"

    what = {"weight": "parameters", "seen": "buffers", "cache": "buffers that are not persistent"}[
        place
    ]
    holds("snapshot", f"restores {what} by value", st.sampled_from([0.0, math.nan]))(_restored)


# ---- losses ----


@holds(
    "total_loss",
    "a target without a prediction raises an error, and never counts as zero",
    st.booleans(),
)
def _(peer: Peer, nested: Any) -> str | None:
    predictions: Any = {"features": torch.ones(2, requires_grad=True)}
    predictions = {"predictions": predictions} if nested else predictions
    try:
        found = peer.total_loss(predictions, {"price": torch.zeros(2)})
    except (LookupError, ValueError):
        return None
    return f"a loss of {float(found)}"


@holds(
    "total_loss",
    "raises an error even if only one of two targets lacks its prediction",
    st.just(None),
)
def _(peer: Peer, _example: Any) -> str | None:
    prediction = torch.ones(2, requires_grad=True)
    try:
        found = peer.total_loss({"a": prediction}, {"a": torch.zeros(2), "b": torch.zeros(2)})
    except (LookupError, ValueError):
        return None
    return f"a loss of {float(found)}"


# ---- recurrent networks ----


def network(dropout: float, frozen: bool) -> Any:
    torch.manual_seed(0)
    model: Any = nn.LSTM(2, 3, num_layers=2, dropout=dropout, batch_first=True)
    model.frozen = nn.BatchNorm1d(2)
    model.frozen.train(not frozen)
    return model


drawn = st.tuples(st.sampled_from([0.0, 0.5]), st.booleans())


@holds("input_gradient", "equals the gradient of the model in eval mode", drawn)
def _(peer: Peer, example: Any) -> str | None:
    dropout, frozen = example
    x = torch.ones(1, 4, 2)
    reference, leaf = network(dropout, frozen).eval(), torch.ones(1, 4, 2, requires_grad=True)
    (right,) = torch.autograd.grad(reference(leaf)[0].sum(), leaf)
    found = peer.input_gradient(network(dropout, frozen).eval(), x)
    return (
        None if torch.allclose(found, right, atol=1e-5) else "another gradient: dropout was active"
    )


@holds("input_gradient", "does not change the gradients of the parameters", drawn)
def _(peer: Peer, example: Any) -> str | None:
    model = network(*example)
    peer.input_gradient(model, torch.ones(1, 4, 2))
    return (
        None
        if all(parameter.grad is None for parameter in model.parameters())
        else "parameters have unwanted gradients"
    )


@holds("input_gradient", "leaves every submodule in its mode", drawn)
def _(peer: Peer, example: Any) -> str | None:
    model = network(*example).train()
    model.frozen.train(not example[1])
    before = [module.training for module in model.modules()]
    peer.input_gradient(model, torch.ones(1, 4, 2))
    return None if before == [module.training for module in model.modules()] else "modes changed"


@holds("predict", "leaves every submodule in its mode", st.booleans())
def _(peer: Peer, frozen: Any) -> str | None:
    model = nn.Sequential(nn.Dropout(), nn.BatchNorm1d(2)).train()
    model[1].train(not frozen)
    before = [module.training for module in model.modules()]
    peer.predict(model, torch.ones(3, 2))
    return (
        None
        if before == [module.training for module in model.modules()]
        else f"{before} became {[m.training for m in model.modules()]}"
    )


class Caching(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.table: torch.Tensor | None = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.table is None:
            self.table = torch.arange(2.0)
        return self.weight * self.table * x


@holds("predict", "a model that caches a tensor can be trained afterwards", st.just(None))
def _(peer: Peer, _example: Any) -> str | None:
    model = Caching()
    peer.predict(model, torch.ones(2))
    model.train()
    model(torch.ones(2)).sum().backward()
    return None
