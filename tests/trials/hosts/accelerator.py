"""Cases for accelerate: the fixes with the objects that Accelerator.prepare() returns."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import torch
from torch.utils.data import DataLoader

from reference_fixes import amp, data_loading, loss, numerics
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

HOST = "accelerate"


def prepare(rows: list[Any], optimizer: Any = sgd, **options: Any) -> tuple[Any, Any, Any, Any]:
    import accelerate
    from accelerate.state import AcceleratorState

    AcceleratorState._reset_state(True)  # the whole process shares this state
    accelerator = accelerate.Accelerator(cpu=True, **options)
    model = network()
    loader = DataLoader(rows, batch_size=None)
    return accelerator, *accelerator.prepare(model, optimizer(model), loader)


@case(
    HOST,
    "amp.windows, amp.optimizer_step, data_loading.Prefetcher",
    "the weights after an epoch with a short last window equal those of a plain loop",
    alone="`accumulate` makes the last, short window count half",
)
def accelerate_windows() -> None:
    accelerator, model, optimizer, loader = prepare(batches())
    for window in amp.windows(data_loading.Prefetcher(loader, accelerator.device), SIZE):
        optimizer.zero_grad()
        for batch, share, _ in window:
            accelerator.backward(mean_loss(model, batch) * share)
        amp.optimizer_step(optimizer, max_norm=MAX_NORM)
    same("weights", weights(model), plain(batches(), SIZE))

    accelerator, model, optimizer, loader = prepare(batches()[:1], gradient_accumulation_steps=SIZE)
    for batch in loader:
        with accelerator.accumulate(model):
            accelerator.backward(mean_loss(model, batch))
            optimizer.step()
    net = network()
    (mean_loss(net, batches()[0]) / SIZE).backward()
    sgd(net).step()
    same("alone", weights(model), weights(net))


def fused_adam(model: torch.nn.Module) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=0.01, fused=True)


@case(
    HOST,
    "numerics.clip_or_skip",
    "AcceleratedOptimizer, also with a fused Adam: a batch with inf is skipped, the others are clipped",
    alone="`clip_grad_norm_` makes the weights NaN",
)
def accelerate_clip_or_skip() -> None:
    for make in (sgd, fused_adam):
        accelerator, model, optimizer, loader = prepare(batches(bad=2), make)
        skipped = []
        for batch in loader:
            optimizer.zero_grad()
            accelerator.backward(mean_loss(model, batch))
            skipped.append(bool(numerics.clip_or_skip(optimizer, MAX_NORM).skipped))
        expect(skipped == [False, False, True, False, False], f"skipped {skipped}")
        same("weights", weights(model), plain(batches(bad=2), make=make))
    accelerator.backward(mean_loss(model, batches(bad=2)[2]))
    accelerator.clip_grad_norm_(model.parameters(), MAX_NORM)
    optimizer.step()
    expect(weights(model).isnan().any(), "alone: the weights are finite")


@case(
    HOST,
    "numerics.clip_or_skip",
    "under `accumulate`, called where `sync_gradients` is true: one clipped step per window",
)
def accelerate_accumulate() -> None:
    accelerator, model, optimizer, loader = prepare(batches()[:4], gradient_accumulation_steps=SIZE)
    for batch in loader:
        with accelerator.accumulate(model):
            accelerator.backward(mean_loss(model, batch))
            if accelerator.sync_gradients:
                numerics.clip_or_skip(optimizer, MAX_NORM)
            optimizer.zero_grad()
    same("weights", weights(model), plain(batches()[:4], SIZE))


@case(
    HOST,
    "amp.choose_precision, amp.make_grad_scaler, amp.optimizer_step",
    "float16 on the CPU trains in float16, and an overflow is skipped",
    alone='`mixed_precision="fp16"` computes in float32',
)
def accelerate_float16() -> None:
    _, model, optimizer, _ = prepare(batches())
    precision = amp.choose_precision("cpu", torch.float16)
    scaler = amp.make_grad_scaler(precision, init_scale=2.0**30)  # overflows at first
    applied: list[bool] = []
    while len(applied) < 40 and sum(applied) < 2:
        optimizer.zero_grad()
        with precision.autocast():
            expect(model(batches()[0][0]).dtype == torch.float16, "not computed in float16")
            value = mean_loss(model, batches()[0])
        scaler.scale(value).backward()
        applied.append(amp.optimizer_step(optimizer, scaler, max_norm=MAX_NORM))
    expect(sum(applied) == 2 and not applied[0], f"steps applied: {applied}")
    same("weights", weights(model), plain(batches()[:1] * 2), tolerance=1e-2)
    accelerator, model, _, _ = prepare(batches(), mixed_precision="fp16")
    seen = []
    model[0].register_forward_hook(lambda module, inputs, output: seen.append(output.dtype))
    with accelerator.autocast():
        model(batches()[0][0])
    expect(seen == [torch.float32], f"alone: computes in {seen}")


@case(
    HOST,
    "numerics.Snapshot, numerics.find_nonfinite, loss.check_gradients",
    "a prepared model, optimizer and scheduler are restored; the bad input is named",
)
def accelerate_snapshot() -> None:
    accelerator, model, optimizer, loader = prepare(batches())
    scheduler = accelerator.prepare(torch.optim.lr_scheduler.StepLR(optimizer, 1))
    for batch in loader:
        optimizer.zero_grad()
        accelerator.backward(mean_loss(model, batch))
        loss.check_gradients(model)
        optimizer.step()
        scheduler.step()
    good = numerics.Snapshot(model, optimizer, scheduler)
    before = [weights(model), moments(optimizer), scheduler.state_dict()["last_epoch"]]
    bad = batches(bad=2)[2][0]
    accelerator.backward(mean_loss(model, (bad, batches()[2][1])))
    optimizer.step()
    scheduler.step()
    good.restore()
    after = [weights(model), moments(optimizer), scheduler.state_dict()["last_epoch"]]
    same("weights, momentum and epoch", after, before)
    found = numerics.find_nonfinite(model, bad)
    expect(found == "input 0: 1 of 12 values are inf", f"find_nonfinite: {found}")


@case(
    HOST,
    "data_loading.to_device",
    "a batch in a defaultdict keeps its type",
    alone="`send_to_device`, and therefore a prepared loader, raises TypeError",
)
def accelerate_to_device() -> None:
    rows = [defaultdict(list, {"x": x, "y": y}) for x, y in batches()]
    accelerator, model, optimizer, loader = prepare(rows, device_placement=False)
    for batch in loader:
        moved = data_loading.to_device(batch, accelerator.device)
        expect(type(moved) is defaultdict, f"became {type(moved).__name__}")
        optimizer.zero_grad()
        accelerator.backward(mean_loss(model, (moved["x"], moved["y"])))
        optimizer.step()
    same("weights", weights(model), plain(batches(), max_norm=torch.inf))
    error = raised(lambda: list(prepare(rows)[-1]))
    expect(error.startswith("TypeError"), f"alone: {error or 'nothing raised'}")
