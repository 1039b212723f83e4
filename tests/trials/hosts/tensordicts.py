"""Cases for tensordict: TensorDict batches, and modules that accept them."""

from __future__ import annotations

from typing import Any

import torch

from reference_fixes import amp, data_loading, loss, numerics
from tests.trials.hosts.case import (
    MAX_NORM,
    batches,
    case,
    expect,
    network,
    plain,
    raised,
    same,
    sgd,
    weights,
)

HOST = "tensordict"


def batch(number: int = 0, bad: int | None = None) -> Any:
    from tensordict import TensorDict

    x, y = batches(bad)[number]
    inner = TensorDict({"ids": torch.arange(3)}, batch_size=[3])
    return TensorDict({"x": x, "price": y, "inner": inner}, batch_size=[3])


def model() -> Any:
    from tensordict.nn import TensorDictModule

    return TensorDictModule(network(), in_keys=["x"], out_keys=["price"])


@case(
    HOST,
    "data_loading.map_tensors, data_loading.to_device",
    "a nested TensorDict keeps its type and batch size; the original does not change",
)
def containers() -> None:
    original = batch()
    kind = type(original)
    for name, found, factor in (
        ("map_tensors", data_loading.map_tensors(lambda tensor: tensor * 2, original), 2),
        ("to_device", data_loading.to_device(original, "cpu"), 1),
        ("map_tensors of a pair", data_loading.map_tensors(torch.clone, (original, 0))[0], 1),
    ):
        expect(type(found) is kind, f"{name}: became {type(found).__name__}")
        expect(found.batch_size == torch.Size([3]), f"{name}: batch size {found.batch_size}")
        for key in ("x", ("inner", "ids")):
            same(f"{name}: {key}", found[key], batch()[key] * factor)
            same(f"{name}: {key} of the original", original[key], batch()[key])


@case(
    HOST,
    "data_loading.Prefetcher, loss.match_by_name, loss.check_gradients, amp.optimizer_step",
    "a loader of TensorDicts and a TensorDictModule: the weights equal those of a plain loop",
)
def training() -> None:
    from tensordict import TensorDict

    rows = [batch(number) for number in range(5)]
    loader = torch.utils.data.DataLoader(rows, batch_size=None, collate_fn=lambda row: row)
    module = model()
    optimizer = sgd(module)
    for row in data_loading.Prefetcher(loader, "cpu"):
        optimizer.zero_grad()
        predictions, targets = module(row.select("x")), row.select("price")
        pairs = loss.match_by_name(predictions, targets)
        torch.nn.functional.mse_loss(*pairs["price"]).backward()
        loss.check_gradients(module)
        amp.optimizer_step(optimizer, max_norm=MAX_NORM)
    same("weights", weights(module), plain(batches()))
    nested = TensorDict({"heads": predictions}, batch_size=[3])
    error = raised(lambda: loss.match_by_name(nested, targets))
    expect("predictions['heads'] has ['price']" in error, f"match_by_name: {error}")


@case(
    HOST,
    "numerics.find_nonfinite, numerics.Snapshot",
    "a TensorDict with an inf is named, and does not change; a TensorDictModule is restored",
)
def diagnosis() -> None:
    module, data = model(), batch(2, bad=2)
    found = numerics.find_nonfinite(module, data)
    expect(found == "input 0['x']: 1 of 12 values are inf", f"find_nonfinite: {found}")
    good, before, data = numerics.Snapshot(module), weights(module), batch()
    target = data["price"].clone()
    expect(numerics.find_nonfinite(module, data) is None, "find_nonfinite: finite values are named")
    expect(data["price"].equal(target), "find_nonfinite wrote to the batch")
    torch.nn.init.constant_(module.module[2].bias, torch.finfo(torch.float32).max)
    torch.nn.init.constant_(module.module[2].weight, torch.finfo(torch.float32).max)
    found = numerics.find_nonfinite(module, data)
    expect(str(found).startswith("output of module 'module.2' (Linear)"), f"{found}")
    good.restore()
    expect(weights(module).equal(before), "the weights did not return")
