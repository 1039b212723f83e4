"""DistributedDataParallel and FSDP2 on two processes (gloo), against one process.

Rank 0 has the batches 0, 2, ... and rank 1 the others; with one process the two of a pair are one
batch. Each process runs a case's part as a function (rank, model, optimizer) -> None.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
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
    Differs,
    batches,
    case,
    expect,
    mean_loss,
    network,
    plain,
    same,
    sgd,
    weights,
)

RANKS, SECONDS = 2, 60  # processes, and how long they may take

Part = Callable[[int, Any, Any], None]


def pairs(bad: int | None = None) -> list[list[Batch]]:
    """Three steps' worth of batches for each rank; an inf in one of rank 1's alone."""
    made = batches() + batches()[:1]
    if bad is not None:
        made[2 * bad + 1][0][0, 0] = torch.inf
    return [made[rank::RANKS] for rank in range(RANKS)]


def together(bad: int | None = None) -> list[Batch]:
    """What one process trains on in place of both ranks."""
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
    """The block for a backward; between the last of a window and its others the hosts differ."""
    if hasattr(model, "set_requires_gradient_sync"):
        model.set_requires_gradient_sync(last)
        return contextlib.nullcontext()
    return contextlib.nullcontext() if last else model.no_sync()


def start(part: Part, host: str) -> None:
    """Runs the part on every rank; raises what one of them raised, or that time is up."""
    with tempfile.TemporaryDirectory() as folder:
        context = mp.spawn(_rank, (part, host, folder), nprocs=RANKS, join=False)
        try:
            if not context.join(SECONDS) and not context.join(SECONDS):
                raise Differs(f"still running after {SECONDS} seconds")
        except mp.ProcessRaisedException as error:
            raise Differs(error.msg.strip().splitlines()[-1]) from error
        finally:
            for process in context.processes:
                process.kill()


def _rank(rank: int, part: Part, host: str, folder: str) -> None:
    torch.set_num_threads(1)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    store = dist.FileStore(str(Path(folder, "store")), RANKS)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=RANKS)
    try:
        part(rank, *wrap(host))
    finally:
        dist.destroy_process_group()


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
    for number, batch in enumerate(pairs(bad=1)[rank]):
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


def add(host: str, name: str) -> None:
    """The cases of one of the two."""

    @case(
        "torch",
        "amp.windows, amp.optimizer_step",
        f"{name}, 2 ranks: the weights with a short last window are those of one process",
    )
    def windows() -> None:
        start(accumulate, host)

    @case(
        "torch",
        "numerics.clip_or_skip",
        f"{name}, 2 ranks: an inf on one rank makes both skip, and the weights stay",
        alone="`clip_grad_norm_` makes the weights NaN",
    )
    def clip_or_skip() -> None:
        start(skip, host)
        start(alone, host)

    @case(
        "torch",
        "amp.optimizer_step",
        f"{name}, 2 ranks: the same with `max_norm`",
    )
    def optimizer_step() -> None:
        start(skip_by_step, host)

    @case(
        "torch",
        "numerics.Snapshot, loss.check_gradients",
        f"{name}, 2 ranks: after a NaN, weights and momentum return and training goes on",
    )
    def snapshot() -> None:
        start(go_back, host)


add("DDP", "DistributedDataParallel")
add("FSDP2", "FSDP2")
