"""Cases for Fabric: the fixes in a loop whose model, optimizer and loader Fabric has set up."""

from __future__ import annotations

from typing import Any

import torch

from reference_fixes import amp, data_loading, numerics
from tests.trials.hosts.case import (
    MAX_NORM,
    SIZE,
    batches,
    case,
    expect,
    mean_loss,
    moments,
    network,
    plain,
    raised,
    same,
    sgd,
    weights,
)

HOST = "lightning"


def set_up(**options: Any) -> tuple[Any, Any, Any]:
    from lightning.fabric import Fabric

    fabric = Fabric(accelerator="cpu", devices=1, **options)
    model = network()
    return fabric, *fabric.setup(model, sgd(model))


@case(
    HOST,
    "amp.windows, amp.optimizer_step",
    "Fabric: the weights after an epoch with a short last window equal those of a plain loop",
)
def fabric_windows() -> None:
    fabric, model, optimizer = set_up()
    for window in amp.windows(batches(), SIZE):
        optimizer.zero_grad()
        for batch, share, last in window:
            with fabric.no_backward_sync(model, enabled=not last):
                fabric.backward(mean_loss(model, batch) * share)
        expect(amp.optimizer_step(optimizer, max_norm=MAX_NORM), "a step was skipped")
    same("weights", weights(model), plain(batches(), SIZE))


@case(
    HOST,
    "numerics.clip_or_skip",
    "Fabric: a batch with inf is skipped; the weights equal those of a plain loop without it",
    alone="`clip_gradients` raises, which ends the training",
)
def fabric_clip_or_skip() -> None:
    fabric, model, optimizer = set_up()
    skipped = []
    for batch in batches(bad=2):
        optimizer.zero_grad()
        fabric.backward(mean_loss(model, batch))
        skipped.append(bool(numerics.clip_or_skip(optimizer, MAX_NORM).skipped))
    expect(skipped == [False, False, True, False, False], f"skipped {skipped}")
    same("weights", weights(model), plain(batches(bad=2)))
    fabric.backward(mean_loss(model, batches(bad=2)[2]))
    error = raised(lambda: fabric.clip_gradients(model, optimizer, max_norm=MAX_NORM))
    expect("non-finite" in error, f"alone: {error or 'nothing raised'}")


@case(
    HOST,
    "amp.choose_precision, amp.make_grad_scaler, amp.optimizer_step",
    "Fabric: float16 on the CPU trains in float16, and an overflow is skipped",
    alone='`precision="16-mixed"` computes in bfloat16',
)
def fabric_float16() -> None:
    _, model, optimizer = set_up()
    precision = amp.choose_precision("cpu", torch.float16)
    scaler = amp.make_grad_scaler(precision, init_scale=2.0**30)  # overflows at first
    applied: list[bool] = []
    while len(applied) < 40 and sum(applied) < 2:
        optimizer.zero_grad()
        with precision.autocast():
            loss = mean_loss(model, batches()[0])
            expect(model(batches()[0][0]).dtype == torch.float16, "not computed in float16")
        before = weights(model)
        scaler.scale(loss).backward()  # fabric.backward() would apply Fabric's own precision
        applied.append(amp.optimizer_step(optimizer, scaler, max_norm=MAX_NORM))
        expect(applied[-1] or weights(model).equal(before), "a skipped step moved the weights")
    expect(sum(applied) == 2 and not applied[0], f"steps applied: {applied}")
    same("weights", weights(model), plain(batches()[:1] * 2), tolerance=1e-2)
    fabric, model, _ = set_up(precision="16-mixed")
    with fabric.autocast():
        dtype = model._forward_module(batches()[0][0]).dtype
    expect(dtype == torch.bfloat16, f"alone: computes in {dtype}")


@case(
    HOST,
    "amp.choose_precision",
    'Fabric: bfloat16 gives the same weights as `precision="bf16-mixed"`',
)
def fabric_bfloat16() -> None:
    found = []
    for options in ({"precision": "bf16-mixed"}, {}):
        fabric, model, optimizer = set_up(**options)
        precision = amp.choose_precision("cpu", None if options else torch.bfloat16)
        for batch in batches():
            optimizer.zero_grad()
            with fabric.autocast() if options else precision.autocast():
                loss = mean_loss(model, batch)
            fabric.backward(loss)
            amp.optimizer_step(optimizer, max_norm=MAX_NORM)
        found.append(weights(model))
    expect(not found[1].equal(plain(batches())), "computed in float32")
    same("weights", found[1], found[0])


@case(
    HOST,
    "numerics.Snapshot, data_loading.Prefetcher",
    "Fabric: weights and momentum are restored after a NaN; a loader that Fabric set up yields its rows",
)
def fabric_snapshot() -> None:
    fabric, model, optimizer = set_up()
    loader = fabric.setup_dataloaders(
        torch.utils.data.DataLoader(batches(), batch_size=None), use_distributed_sampler=False
    )
    for batch in data_loading.Prefetcher(loader, "cpu"):
        optimizer.zero_grad()
        fabric.backward(mean_loss(model, batch))
        amp.optimizer_step(optimizer, max_norm=MAX_NORM)
    good = numerics.Snapshot(model, optimizer)
    momentum = moments(optimizer.optimizer)
    fabric.backward(mean_loss(model, batches(bad=2)[2]))
    optimizer.step()
    expect(weights(model).isnan().any(), "alone: the weights are finite")
    good.restore()
    same("weights", weights(model), plain(batches()))
    same("momentum", moments(optimizer.optimizer), momentum)
