"""Measures the speed of the fixes, compared with the code that they replace.

    nox -s bench -- --device cuda        or        python -m tests.trials.speed --device cuda

The variants of a task take turns, in a new random order in each round. The result is the ratio
within a round, because this ratio does not depend on the load of the machine. The table shows the
median of the ratios and the range of the middle 80 %.
"""

from __future__ import annotations

import contextlib
import copy
import gc
import math
import platform
import random
import statistics
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import click
import torch
from torch import nn

from matrix.devices import BY_NAME, DEVICES
from matrix.evidence.store import write_whole
from reference_fixes import amp, data_loading, memory, numerics, rnn
from tests.trials.shared import DOCS, finish, table, use, write

TABLE = DOCS / "speed-{device}.md"
COMMAND = "python -m tests.trials.speed --device {device}"

Variants = dict[str, Callable[[], object]]  # the others are compared with the first variant


class Ratio(NamedTuple):
    low: float  # 10 % of the rounds are below this ratio
    median: float
    high: float  # 10 % of the rounds are above this ratio


class Row(NamedTuple):
    work: str
    variant: str
    seconds: float  # median of one call
    ratio: Ratio  # to the first variant
    target: str = ""
    met: bool = True


class Search(NamedTuple):
    rule: str
    size: int  # found
    tries: int
    seconds: float


@dataclass
class Speed:
    """The measurements on one device."""

    device: str
    hardware: str
    rows: list[Row] = field(default_factory=list)
    searches: list[Search] = field(default_factory=list)  # the first search uses the fix
    # how often a step makes the host wait; empty if this cannot be counted
    waits: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)  # tracebacks of failed parts


class Clock:
    """Times calls on a device, with device events if the calls are asynchronous."""

    def __init__(self, device: str) -> None:
        self.device = device
        self.backend = getattr(torch, device) if BY_NAME[device].asynchronous else None

    def seconds(self, work: Callable[[], object], calls: int) -> float:
        if self.backend is None:
            begun = time.perf_counter()
            for _ in range(calls):
                work()
            return (time.perf_counter() - begun) / calls
        before, after = (self.backend.Event(enable_timing=True) for _ in range(2))
        self.backend.synchronize()
        before.record()
        for _ in range(calls):
            work()
        after.record()
        self.backend.synchronize()
        return float(before.elapsed_time(after)) / 1000 / calls  # elapsed_time() is in milliseconds


def compare(
    clock: Clock, variants: Variants, rounds: int, target_seconds: float = 0.1
) -> dict[str, tuple[float, Ratio]]:
    """The median time and the ratio of each variant; a turn takes about target_seconds."""
    for work in variants.values():  # warm up: allocators, autotuning, lazy state
        for _ in range(3):
            work()
    one_call = clock.seconds(next(iter(variants.values())), 2)
    calls = max(1, round(target_seconds / max(one_call, 1e-6)))
    taken: dict[str, list[float]] = {name: [] for name in variants}
    shuffled = random.Random(0)
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for name in shuffled.sample(list(variants), len(variants)):
                taken[name].append(clock.seconds(variants[name], calls))
    finally:
        gc.enable()
    first = next(iter(taken.values()))
    measured = {}
    for name, times in taken.items():
        ratios = sorted(own / base for own, base in zip(times, first))
        tenth = len(ratios) // 10
        ratio = Ratio(ratios[tenth], statistics.median(ratios), ratios[-1 - tenth])
        measured[name] = (statistics.median(times), ratio)
    return measured


def rows(
    clock: Clock,
    work: str,
    variants: Variants,
    rounds: int,
    targets: dict[str, tuple[str, Callable[[float], bool]]] | None = None,
) -> list[Row]:
    measured = compare(clock, variants, rounds)
    result = []
    for name, (seconds, ratio) in measured.items():
        target, met = (targets or {}).get(name, ("", lambda value: True))
        result.append(Row(work, name, seconds, ratio, target, met(ratio.median)))
    return result


# ---- a guarded training step ----


def network(width: int, depth: int, device: str) -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(
        *(layer for _ in range(depth) for layer in (nn.Linear(width, width), nn.Tanh()))
    ).to(device)


# guard(model, optimizer, the input, output and loss of a step)
Guard = Callable[[nn.Module, Any, list[torch.Tensor]], object]


def clip_and_step(model: nn.Module, optimizer: Any, computed: list[torch.Tensor]) -> None:
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


def clip_or_skip(model: nn.Module, optimizer: Any, computed: list[torch.Tensor]) -> None:
    numerics.clip_or_skip(optimizer, 1.0)


def isnan_and_step(model: nn.Module, optimizer: Any, computed: list[torch.Tensor]) -> None:
    if any(torch.isnan(tensor).any() for tensor in computed):
        raise RuntimeError("NaN")
    clip_and_step(model, optimizer, computed)


def training_step(
    model: nn.Module, x: torch.Tensor, guard: Guard, anomaly: bool = False
) -> Callable[[], None]:
    fused: dict[str, Any] = {"fused": True} if x.device.type != "cpu" else {}
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, **fused)
    looking = torch.autograd.detect_anomaly if anomaly else contextlib.nullcontext

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        with looking():
            output = model(x)
            loss = output.square().mean()
            loss.backward()
        guard(model, optimizer, [x, output, loss])

    return step


def guarded_step(
    clock: Clock, width: int, depth: int, batch: int, rounds: int, limit: float
) -> list[Row]:
    x = torch.randn(batch, width, device=clock.device)

    def step(guard: Guard, anomaly: bool = False) -> Callable[[], None]:
        return training_step(network(width, depth, clock.device), x, guard, anomaly)

    variants: Variants = {
        "clip_grad_norm_ and step": step(clip_and_step),
        "numerics.clip_or_skip": step(clip_or_skip),
        "isnan of input, output and loss": step(isnan_and_step),
        "detect_anomaly": step(clip_and_step, anomaly=True),
    }
    size = sum(parameter.numel() for parameter in network(width, depth, "cpu").parameters())
    work = f"training step, {size / 1e6:.1f} M parameters, batch {batch}"
    targets = {"numerics.clip_or_skip": (f"at most {limit:.2f}", lambda ratio: ratio <= limit)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on each use, detect_anomaly warns that it is slow
        return rows(clock, work, variants, rounds, targets)


def half_step(clock: Clock, rounds: int) -> list[Row]:
    """A guarded step with weights and gradients in bfloat16."""
    x = torch.randn(32, 512, device=clock.device, dtype=torch.bfloat16)
    variants: Variants = {
        name: training_step(network(512, 4, clock.device).to(x.dtype), x, guard)
        for name, guard in (
            ("clip_grad_norm_ and step", clip_and_step),
            ("numerics.clip_or_skip", clip_or_skip),
        )
    }
    return rows(clock, "training step, 1.1 M parameters in bfloat16, batch 32", variants, rounds)


def synchronizations(guard: Callable[[Any], object]) -> int:
    """The number of times that a step with a fused optimizer makes the host wait for CUDA."""
    model = network(64, 2, "cuda")
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)

    def step() -> None:
        model(torch.ones(4, 64, device="cuda")).sum().backward()
        guard(optimizer)

    step()
    torch.cuda.synchronize()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        try:
            step()
        finally:
            torch.cuda.set_sync_debug_mode("default")
    return sum("called a synchronizing CUDA operation" in str(warning.message) for warning in seen)


def waits() -> dict[str, int]:
    return {
        "numerics.clip_or_skip": synchronizations(
            lambda optimizer: numerics.clip_or_skip(optimizer, 1.0)
        ),
        "amp.optimizer_step": synchronizations(amp.optimizer_step),
    }


# ---- the gradient of an RNN's input ----


def input_gradients(clock: Clock, rounds: int) -> list[Row]:
    device = clock.device
    hidden, length, batch = (64, 32, 16) if device == "cpu" else (512, 256, 64)
    model = nn.LSTM(hidden, hidden, num_layers=2, batch_first=True).to(device).eval()
    x = torch.randn(batch, length, hidden, device=device)

    def without_cudnn() -> torch.Tensor:
        leaf = x.clone().requires_grad_()
        with torch.backends.cudnn.flags(enabled=False):
            return torch.autograd.grad(model(leaf)[0].sum(), leaf)[0]

    def flipping() -> torch.Tensor:
        model.train()
        try:
            leaf = x.clone().requires_grad_()
            return torch.autograd.grad(model(leaf)[0].sum(), leaf)[0]
        finally:
            model.eval()

    variants: Variants = {
        "cudnn.flags(enabled=False)": without_cudnn,
        "rnn.input_gradients": lambda: rnn.input_gradients(
            model, x, target=lambda output: output[0].sum()
        ),
        "switching to training mode": flipping,
    }
    targets = (
        {"rnn.input_gradients": ("at most 0.33", lambda ratio: ratio <= 1 / 3)}
        if device == "cuda"
        else {}
    )
    return rows(
        clock,
        f"gradient of an LSTM's input, 2 x {hidden}, {length} steps, batch {batch}",
        variants,
        rounds,
        targets,
    )


# ---- snapshots ----


def snapshots(clock: Clock, rounds: int) -> list[Row]:
    model = network(1024, 4, clock.device)
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.ones(1, 1024, device=clock.device)).sum().backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    variants: Variants = {
        "deepcopy of the model and the optimizer's state": lambda: (
            copy.deepcopy(model),
            copy.deepcopy(optimizer.state_dict()),
        ),
        "numerics.Snapshot, which also looks for NaN": lambda: numerics.Snapshot(model, optimizer),
    }
    return rows(
        clock, "a snapshot to restore, 4.2 M parameters and their moments", variants, rounds
    )


# ---- loaders ----


class Rows(torch.utils.data.Dataset[torch.Tensor]):
    def __init__(self, count: int, width: int) -> None:
        self.rows = torch.randn(count, width)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> torch.Tensor:
        return self.rows[index]


def loaders(clock: Clock, rounds: int) -> list[Row]:
    dataset, device = Rows(512, 256), clock.device
    plain = torch.utils.data.DataLoader(dataset, batch_size=32, pin_memory=device == "cuda")
    unpinned = torch.utils.data.DataLoader(dataset, batch_size=32)
    variants: Variants = {
        "DataLoader and .to(device)": lambda: [batch.to(device) for batch in plain],
        "data_loading.to_device": lambda: [
            data_loading.to_device(batch, device) for batch in plain
        ],
        "data_loading.Prefetcher": lambda: list(data_loading.Prefetcher(unpinned, device)),
    }
    return rows(clock, "one pass over 512 rows in batches of 32", variants, rounds)


BATCHES = 32


def best_overlap(copies: float, computation: float, batches: int) -> float:
    """The shortest possible time, given that the first copy and last computation cannot overlap."""
    return max(copies + computation / batches, copies / batches + computation)


def overlap(clock: Clock, rounds: int) -> list[Row]:
    """Times CUDA batches whose copy takes as long as the computation, where overlap helps most."""
    batches = [torch.randn(16, 2**20).pin_memory() for _ in range(BATCHES)]  # 64 MiB each
    resident = [batch.to("cuda") for batch in batches]
    weight = torch.randn(2048, 2048, device="cuda")

    def copy_only() -> None:
        for batch in batches:
            batch.to("cuda", non_blocking=True)

    def product() -> None:
        weight @ weight

    def compute(batch: torch.Tensor) -> None:
        for _ in range(products):
            product()
        batch.sum()

    def compute_only() -> None:
        for batch in resident:
            compute(batch)

    def plain() -> None:
        for batch in batches:
            compute(batch.to("cuda", non_blocking=True))

    def prefetched() -> None:
        for batch in data_loading.Prefetcher(batches, "cuda"):
            compute(batch)

    clock.seconds(copy_only, 1), clock.seconds(product, 100)  # warm up
    copying = clock.seconds(copy_only, 3) / BATCHES
    # the number of products that take as long as one copy
    products = max(1, round(copying / clock.seconds(product, 100)))
    variants: Variants = {
        "a plain loop": plain,
        "data_loading.Prefetcher": prefetched,
        "the copies alone": copy_only,
        "the computation alone": compute_only,
    }
    work = f"{BATCHES} batches of 64 MiB, pinned, copied and computed with"
    measured = rows(clock, work, variants, rounds)
    best = best_overlap(measured[2].seconds, measured[3].seconds, BATCHES)
    reached = best / measured[1].seconds
    note = f"{reached:.2f} of the best possible; at least 0.95"
    return [measured[0], measured[1]._replace(target=note, met=reached >= 0.95), *measured[2:]]


# ---- batch-size search ----


def by_factor(run: Callable[[int], object], size: int, factor: float) -> int:
    """The rule of accelerate (0.9) and toma (0.5): start large, shrink until it fits."""
    while size:
        try:
            run(size)
            return size
        except RuntimeError as error:
            if not memory.is_out_of_memory(error):
                raise
        memory.free_memory()
        size = int(size * factor)
    raise RuntimeError("nothing fits")


CAP = 512  # MiB that the allocator may use on CUDA


@contextlib.contextmanager
def capped() -> Iterator[None]:
    memory.free_memory()  # frees memory left over from earlier parts
    total = torch.cuda.get_device_properties("cuda").total_memory
    torch.cuda.set_per_process_memory_fraction(CAP * 2**20 / total)
    try:
        yield
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
        memory.free_memory()


LARGEST = 1024


def simulated(size: int) -> None:
    if size > 37:
        raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 MiB")


def step_on_cuda() -> Callable[[int], None]:
    model = network(2048, 4, "cuda")

    def step(size: int) -> None:
        with memory.scratch_gradients(model):
            model(torch.ones(64 * size, 2048, device="cuda")).sum().backward()

    return step


def searches(device: str) -> list[Search]:
    """Searches sizes up to LARGEST, under a memory cap on CUDA, else simulated (37 fit)."""
    step = step_on_cuda() if device == "cuda" else simulated
    tried: list[int] = []

    def run(size: int) -> None:
        tried.append(size)
        step(size)

    rules: dict[str, Callable[[], int]] = {
        "memory.find_batch_size": lambda: memory.find_batch_size(run, LARGEST),
        "times 0.9, the rule of accelerate": lambda: by_factor(run, LARGEST, 0.9),
        "halving, the rule of toma": lambda: by_factor(run, LARGEST, 0.5),
    }
    done = []
    with capped() if device == "cuda" else contextlib.nullcontext():
        for name, rule in rules.items():
            tried.clear()
            started = time.perf_counter()
            size = rule()
            done.append(Search(name, size, len(tried), time.perf_counter() - started))
    return done


# ---- measuring, the table ----


def measure(device: str, rounds: int, keep: Callable[[Speed], object]) -> Speed:
    """Measures all parts; calls `keep` after each part, so that a failed part affects no other."""
    torch.manual_seed(0)
    clock = Clock(device)
    limit = 1.02 if device == "cpu" else 1.01
    width = 1024 if device == "cpu" else 4096  # about 9 GB of weights, moments and gradients
    hardware = f"{platform.machine()}, {torch.get_num_threads()} threads"
    if device == "cuda":
        hardware = torch.cuda.get_device_name()
        if torch.cuda.get_device_properties(device).total_memory < 16 * 2**30:
            width = 2048
    speed = Speed(device, hardware)
    parts: list[Callable[[], object]] = [
        lambda: speed.rows.extend(guarded_step(clock, 512, 4, 32, rounds, limit)),
        lambda: speed.rows.extend(guarded_step(clock, width, 8, 16, rounds, limit)),
        lambda: speed.rows.extend(input_gradients(clock, rounds)),
        lambda: speed.rows.extend(snapshots(clock, rounds)),
        lambda: speed.rows.extend(loaders(clock, rounds)),
        lambda: speed.searches.extend(searches(device)),
    ]
    if device == "cuda":  # these run first, in case there is not enough time for all parts
        parts[:0] = [
            lambda: speed.waits.update(waits()),
            lambda: speed.rows.extend(overlap(clock, rounds)),
            lambda: speed.rows.extend(half_step(clock, rounds)),
        ]
    with click.progressbar(parts, label="measuring", file=sys.stderr) as bar:
        for part in bar:
            try:
                part()
            except Exception as error:
                speed.failures.append("".join(traceback.format_exception(error)))
                click.echo(speed.failures[-1], err=True)
            keep(speed)
    return speed


def problems(speed: Speed) -> list[str]:
    missed = [
        f"missed: {row.work}: {row.variant}: {row.ratio.median:.3f}, {row.target}"
        for row in speed.rows
        if not row.met
    ]
    missed += [f"failed: {text.splitlines()[-1]}" for text in speed.failures]
    missed += [
        f"missed: {name}: waits {count} times" for name, count in speed.waits.items() if count
    ]
    if not speed.searches:
        return missed
    ours, *others = speed.searches
    if ours.tries > (allowed := math.ceil(math.log2(LARGEST)) + 2):
        missed.append(f"missed: {ours.rule}: {ours.tries} tries, at most {allowed}")
    for other in others:
        if other.size > ours.size:
            missed.append(f"missed: {ours.rule}: found {ours.size}, {other.rule} {other.size}")
        elif other.size == ours.size and other.tries < ours.tries:
            missed.append(f"missed: {ours.rule}: {ours.tries} tries, {other.rule} {other.tries}")
    return missed


def render(speed: Speed) -> str:
    lines = [
        f"# Speed on {speed.device}",
        "",
        f"Measured by `{COMMAND.format(device=speed.device)}` with",
        f"torch {torch.__version__}, Python {platform.python_version()}, {speed.hardware}.",
        "The variants take turns in a single run. The ratio of a variant is its time divided by the time",
        "of the first variant of the group in the same round. The table shows the median ratio, and the",
        "range of the middle 80 % of the rounds.",
        *(
            ["The calls are timed by events of the device."]
            if BY_NAME[speed.device].asynchronous
            else []
        ),
        "",
        _rows_table(speed.rows),
    ]
    if speed.searches:
        lines += ["", _searches_table(speed)]
    if speed.waits:
        header = ("step with a fused AdamW", "times the host waits")
        lines += ["", table(header, speed.waits.items(), numbers=header[1:])]
    return "\n".join(lines) + "\n"


def _rows_table(rows: list[Row]) -> str:
    cells = [
        (
            row.work,
            row.variant,
            f"{1000 * row.seconds:.3g}",
            f"{row.ratio.median:.3f}",
            f"{row.ratio.low:.3f} to {row.ratio.high:.3f}",
            row.target + ("" if row.met else ", **missed**"),
        )
        for row in rows
    ]
    header = ("work", "variant", "ms", "ratio", "range", "target")
    return table(header, cells, numbers=("ms", "ratio"))


def _searches_table(speed: Speed) -> str:
    what = "simulated, 37 fit"
    if speed.device == "cuda":
        what = f"a real model under an allocator capped at {CAP} MiB"
    title = f"search for the largest batch size up to {LARGEST}, {what}"
    header = (title, "size found", "tries", "seconds")
    cells = [(rule, size, tries, f"{seconds:.2f}") for rule, size, tries, seconds in speed.searches]
    return table(header, cells, numbers=header[1:])


@click.command()
@click.option("--device", type=click.Choice(DEVICES), default="cpu", show_default=True)
@click.option(
    "--rounds",
    type=click.IntRange(5),
    default=31,
    show_default=True,
    help="Turns of each variant.",
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file for the table. Default: docs/speed-DEVICE.md.",
)
def main(device: str, rounds: int, out: Path | None) -> None:
    """Measure the fixes and the code that they replace.

    Exit status: 0 every target is met, 1 a target is missed, 2 usage error, 3 the device cannot be
    used.
    """
    use(device)
    torch.backends.cudnn.allow_tf32 = False  # so that no variant gains speed from lower precision
    path = out or TABLE.with_name(TABLE.name.format(device=device))
    speed = measure(device, rounds, lambda speed: write_whole(path, render(speed)))
    write(path, render(speed))
    sys.exit(finish(problems(speed)))


if __name__ == "__main__":
    main()
