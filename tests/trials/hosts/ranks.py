"""Cases for DistributedDataParallel and FSDP2 on two gloo processes, compared with one process.

Rank 0 has the batches 0, 2, ..., and rank 1 has the other batches. The single process trains on
both batches of a pair as one batch. Each process runs a case's part as a function
(rank, model, optimizer) -> None.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import tempfile
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from reference_fixes import amp, loss, numerics
from tests.trials.hosts.case import (
    MAX_NORM,
    SIZE,
    Batch,
    batches,
    case,
    expect,
    mean_loss,
    network,
    plain,
    raised,
    same,
    sgd,
    weights,
)

RANKS, SECONDS = 2, 240  # processes, and the time limit for all of them
HOSTS = {"DDP": "DistributedDataParallel", "FSDP2": "FSDP2"}

Part = Callable[[int, Any, Any], None]


def pairs(bad: int | None = None) -> list[list[Batch]]:
    """Three batches for each rank; with `bad`, one batch of rank 1 has an inf."""
    steps = batches() + batches()[:1]
    if bad is not None:
        steps[2 * bad + 1][0][0, 0] = torch.inf
    return [steps[rank::RANKS] for rank in range(RANKS)]


def together(bad: int | None = None) -> list[Batch]:
    """The batches of the single process that replaces both ranks."""
    return [
        (torch.cat([x for x, _ in pair]), torch.cat([y for _, y in pair]))
        for pair in zip(*pairs(bad))
    ]


def wrap(host: str) -> tuple[Any, Any]:
    model: Any = network()
    if host == "DDP":
        model = torch.nn.parallel.DistributedDataParallel(model)
    else:
        from torch.distributed.fsdp import fully_shard

        for layer in (model[0], model[2], model):
            fully_shard(layer)
    return model, sgd(model)


def synchronize(model: Any, last: bool) -> Any:
    """The context for a backward pass; synchronizes gradients if the batch is the last."""
    if hasattr(model, "set_requires_gradient_sync"):
        model.set_requires_gradient_sync(last)
        return contextlib.nullcontext()
    return contextlib.nullcontext() if last else model.no_sync()


@cache
def outcomes() -> dict[tuple[str, str, int], str]:
    """Maps (host, part, rank) to the error that the part raised on this rank, or "".

    The processes start once for all parts, because importing torch takes most of the time.
    """
    otherwise = f"did not finish in {SECONDS} seconds"
    with tempfile.TemporaryDirectory() as folder:
        context = mp.spawn(_rank, (folder,), nprocs=RANKS, join=False)
        limit = time.monotonic() + SECONDS
        try:
            while time.monotonic() < limit and not context.join(limit - time.monotonic()):
                pass  # one of the processes has ended
        except mp.ProcessException as error:
            otherwise = str(error).strip().splitlines()[-1]
        finally:
            for process in context.processes:
                process.kill()
        return {
            (host, part.__name__, rank): path.read_text("utf-8") if path.is_file() else otherwise
            for host in HOSTS
            for part in PARTS
            for rank in range(RANKS)
            for path in [Path(folder, f"{host} {part.__name__} {rank}")]
        }


def _rank(rank: int, folder: str) -> None:
    torch.set_num_threads(1)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    wait = datetime.timedelta(seconds=20)  # for another rank that may have failed
    for host in HOSTS:
        for part in PARTS:
            # Each part has its own group, because a group that lost a rank cannot be used again.
            store = dist.FileStore(str(Path(folder, f"{host} {part.__name__} store")), RANKS)
            dist.init_process_group("gloo", store=store, rank=rank, world_size=RANKS, timeout=wait)
            text = raised(partial(_run, part, rank, host))
            Path(folder, f"{host} {part.__name__} {rank}").write_text(text, encoding="utf-8")
            dist.destroy_process_group()


def _run(part: Part, rank: int, host: str) -> None:
    part(rank, *wrap(host))


def check(host: str, *parts: Part) -> None:
    for part in parts:
        for rank in range(RANKS):
            text = outcomes()[host, part.__name__, rank]
            expect(not text, f"rank {rank}: {text}")


# ---- the parts ----


def accumulate(rank: int, model: Any, optimizer: Any) -> None:
    for window in amp.windows(pairs()[rank], SIZE):
        optimizer.zero_grad()
        for batch, share, last in window:
            with synchronize(model, last):
                (mean_loss(model, batch) * share).backward()
        expect(amp.optimizer_step(optimizer, max_norm=MAX_NORM), "a step was skipped")
    same(f"weights of rank {rank}", weights(model), plain(together(), SIZE))


def skip(rank: int, model: Any, optimizer: Any) -> None:
    skipped = []
    for batch in pairs(bad=1)[rank]:
        optimizer.zero_grad()
        mean_loss(model, batch).backward()
        skipped.append(bool(numerics.clip_or_skip(optimizer, MAX_NORM).skipped))
    expect(skipped == [False, True, False], f"rank {rank} skipped {skipped}")
    same(f"weights of rank {rank}", weights(model), plain(together(bad=1)))


def skip_by_step(rank: int, model: Any, optimizer: Any) -> None:
    applied = []
    for batch in pairs(bad=1)[rank]:
        optimizer.zero_grad()
        mean_loss(model, batch).backward()
        applied.append(amp.optimizer_step(optimizer, max_norm=MAX_NORM))
    expect(applied == [True, False, True], f"rank {rank} applied {applied}")
    same(f"weights of rank {rank}", weights(model), plain(together(bad=1)))


def alone(rank: int, model: Any, optimizer: Any) -> None:
    for batch in pairs(bad=1)[rank]:
        optimizer.zero_grad()
        mean_loss(model, batch).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM)
        optimizer.step()
    expect(weights(model).isnan().any(), "alone: the weights are finite")


def go_back(rank: int, model: Any, optimizer: Any) -> None:
    good = numerics.Snapshot(model, optimizer)
    before = weights(model)
    for batch in pairs(bad=1)[rank]:
        optimizer.zero_grad()
        mean_loss(model, batch).backward()
        optimizer.step()
    expect(weights(model).isnan().any(), "the weights are finite")
    good.restore()
    expect(weights(model).equal(before), "the weights did not return")
    optimizer.zero_grad()
    mean_loss(model, pairs()[rank][0]).backward()
    loss.check_gradients(model)
    optimizer.step()
    right = plain(together()[:1], max_norm=torch.inf)
    same(f"weights of rank {rank} after one more step", weights(model), right)


PARTS: list[Part] = [accumulate, skip, skip_by_step, alone, go_back]


def add(host: str, name: str) -> None:
    """Adds the cases of one host, DDP or FSDP2."""

    @case(
        "torch",
        "amp.windows, amp.optimizer_step",
        f"{name}, 2 ranks: the weights with a short last window equal those of one process",
    )
    def windows() -> None:
        check(host, accumulate)

    @case(
        "torch",
        "numerics.clip_or_skip",
        f"{name}, 2 ranks: an inf on one rank makes both ranks skip, and the weights do not change",
        alone="`clip_grad_norm_` makes the weights NaN",
    )
    def clip_or_skip() -> None:
        check(host, skip, alone)

    @case(
        "torch",
        "amp.optimizer_step",
        f"{name}, 2 ranks: with `max_norm`, an inf on one rank also makes both ranks skip",
    )
    def optimizer_step() -> None:
        check(host, skip_by_step)

    @case(
        "torch",
        "numerics.Snapshot, loss.check_gradients",
        f"{name}, 2 ranks: after a NaN, weights and momentum are restored, and training continues",
    )
    def snapshot() -> None:
        check(host, go_back)


for host, name in HOSTS.items():
    add(host, name)
