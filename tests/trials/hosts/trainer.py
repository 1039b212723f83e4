"""Cases for Lightning's Trainer: the fixes in hooks and callbacks of a LightningModule."""

from __future__ import annotations

import contextlib
import random
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

from reference_fixes import amp, data_loading, loss, memory, numerics, rnn
from tests.trials.hosts.case import (
    MAX_NORM,
    SIZE,
    Reader,
    batches,
    case,
    eval_gradient,
    expect,
    mean_loss,
    modes,
    network,
    plain,
    raised,
    same,
    sequence,
    sgd,
    weights,
)

HOST = "lightning"


def module(**methods: Any) -> Any:
    """A LightningModule around network(), with the given methods replacing its methods."""
    import lightning

    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.net = network()

        def training_step(self, batch: Any, number: int) -> Any:
            return mean_loss(self.net, batch)

        def configure_optimizers(self) -> Any:
            return sgd(self.net)

    return type("Module", (Module,), methods)()


def fit(model: Any, loader: Iterable[Any], *callbacks: Any, **options: Any) -> Any:
    import lightning

    trainer = lightning.Trainer(
        accelerator="cpu",
        max_epochs=1,
        logger=False,
        callbacks=list(callbacks),
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        **options,
    )
    # Lightning would treat a list as several loaders
    trainer.fit(model, DataLoader(loader, batch_size=None) if isinstance(loader, list) else loader)
    return trainer


def callback(**hooks: Any) -> Any:
    import lightning

    return type("Callback", (lightning.Callback,), hooks)()


class Windows:
    """A loader whose batches are windows."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __iter__(self) -> Iterator[Any]:
        return map(list, amp.windows(batches(), self.size))


@case(
    HOST,
    "amp.windows, amp.optimizer_step",
    "Trainer, manual optimization: the weights with a short last window equal those of a plain loop",
    alone="`accumulate_grad_batches` makes the last, short window count half",
)
def trainer_windows() -> None:
    def training_step(self: Any, window: Any, number: int) -> None:
        optimizer = self.optimizers()
        optimizer.zero_grad()
        for batch, share, _ in window:
            self.manual_backward(mean_loss(self.net, batch) * share)
        amp.optimizer_step(optimizer, max_norm=MAX_NORM)

    model = module(training_step=training_step)
    model.automatic_optimization = False
    trainer = fit(model, Windows(SIZE))
    same("weights", weights(model.net), plain(batches(), SIZE))
    expect(trainer.global_step == 3, f"{trainer.global_step} steps counted")

    model = module()
    fit(model, batches()[:1], accumulate_grad_batches=SIZE)
    net = network()
    (mean_loss(net, batches()[0]) / SIZE).backward()
    sgd(net).step()
    same("alone", weights(model.net), weights(net))


@case(
    HOST,
    "numerics.clip_or_skip",
    "Trainer, hook `optimizer_step`: a batch with inf is skipped, and the others are clipped",
    alone="`gradient_clip_val` makes the weights NaN",
)
def trainer_clip_or_skip() -> None:
    skipped = []

    def optimizer_step(self: Any, epoch: int, number: int, optimizer: Any, closure: Any) -> None:
        closure()  # training_step, zero_grad and backward
        skipped.append(bool(numerics.clip_or_skip(optimizer, MAX_NORM).skipped))

    model = module(optimizer_step=optimizer_step)
    fit(model, batches(bad=2))
    expect(skipped == [False, False, True, False, False], f"skipped {skipped}")
    same("weights", weights(model.net), plain(batches(bad=2)))
    model = module()
    fit(model, batches(bad=2), gradient_clip_val=MAX_NORM)
    expect(weights(model.net).isnan().any(), "alone: the weights are finite")


@case(
    HOST,
    "rnn.input_gradients, rnn.differentiable_eval, rnn.no_grad_eval",
    "Trainer, callback in a validation: an LSTM's gradients equal those of torch in eval mode",
    alone="its inference mode rejects backward()",
)
def trainer_input_gradients() -> None:
    seen: dict[str, Any] = {}
    x = sequence()

    def gradient(reader: Any) -> torch.Tensor:
        leaf = x.clone().requires_grad_()
        (found,) = torch.autograd.grad(reader(leaf).sum(), leaf)
        return found

    def on_validation_epoch_end(self: Any, trainer: Any, model: Any) -> None:
        reader = model.reader.train()
        seen["alone"] = raised(lambda: gradient(reader))
        (seen["input_gradients"],) = rnn.input_gradients(reader, x)
        with rnn.differentiable_eval(reader):
            seen["differentiable_eval"] = gradient(reader)
        seen["modes"] = modes(reader)

    def on_train_epoch_end(self: Any, trainer: Any, model: Any) -> None:
        before = modes(model)
        with rnn.no_grad_eval(model):
            seen["output"] = model.reader(x)
        expect(modes(model) == before, "modes changed")

    model = module(
        validation_step=lambda self, batch, number: None,
        val_dataloader=lambda self: DataLoader([0]),
    )
    model.reader = Reader()
    hooks = {
        "on_validation_epoch_end": on_validation_epoch_end,
        "on_train_epoch_end": on_train_epoch_end,
    }
    fit(model, batches(), callback(**hooks), num_sanity_val_steps=0)
    right = eval_gradient(Reader(), x)
    same("input_gradients", seen["input_gradients"], right)
    same("differentiable_eval", seen["differentiable_eval"], right)
    same("no_grad_eval", seen["output"], Reader().eval()(x).detach())
    expect(all(seen["modes"]), "modes changed")
    expect("does not require grad" in seen["alone"], f"alone: {seen['alone'] or 'nothing raised'}")


@case(
    HOST,
    "memory.free_memory",
    "Trainer: when `fit` runs out of memory, the tensors of the failed step are freed",
    alone="`gc.collect()` frees none of them",
)
def trainer_free_memory() -> None:
    import gc

    alive: list[Any] = []

    def training_step(self: Any, batch: Any, number: int) -> None:
        activations = self.net(batch[0])
        alive.append(weakref.ref(activations))
        raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")

    try:
        fit(module(training_step=training_step), batches())
    except RuntimeError as error:
        gc.collect()
        expect(alive[0]() is not None, "alone: gc.collect() frees them")
        expect(memory.is_out_of_memory(error), "not recognised")
        memory.free_memory()
        expect(alive[0]() is None, "the tensors of the failed step are alive")


class Numbers(IterableDataset[int]):
    def __init__(self, sharded: bool) -> None:
        self.sharded = sharded

    def __iter__(self) -> Iterator[int]:
        return data_loading.shard(range(8)) if self.sharded else iter(range(8))


class Noise(Dataset[float]):
    def __init__(self) -> None:
        self.generator = random.Random(0)

    def __len__(self) -> int:
        return 2

    def __getitem__(self, row: int) -> float:
        return self.generator.random()


@case(
    HOST,
    "data_loading.shard, data_loading.seed_worker",
    "Trainer: each row of an IterableDataset is yielded once, and two workers draw different numbers",
    alone="each row is yielded twice; with `seed_everything(workers=True)`, both workers draw the same numbers",
)
def trainer_workers() -> None:
    import lightning

    def seen_by(dataset: Any, **options: Any) -> list[float]:
        seen: list[float] = []

        def training_step(self: Any, batch: Any, number: int) -> None:
            seen.extend(batch.tolist())

        lightning.seed_everything(0, workers=True)
        # "fork", because spawned workers would each import Lightning
        loader = DataLoader(dataset, num_workers=2, multiprocessing_context="fork", **options)
        with contextlib.redirect_stderr(None):
            fit(module(training_step=training_step), loader)
        return sorted(seen)

    rows = seen_by(Numbers(sharded=True))
    expect(rows == list(range(8)), f"rows {rows}")
    drawn = seen_by(Noise(), worker_init_fn=data_loading.seed_worker)
    expect(drawn[0] != drawn[1], f"drawn {drawn}")
    rows = seen_by(Numbers(sharded=False))
    expect(rows == sorted([*range(8)] * 2), f"alone: rows {rows}")
    drawn = seen_by(Noise())
    expect(drawn[0] == drawn[1], f"alone: drawn {drawn}")


@case(
    HOST,
    "loss.RunningMean, loss.check_gradients",
    "Trainer: the epoch's mean equals that of `self.log`; a part without gradients is named",
    alone="trains without a warning",
)
def trainer_loss() -> None:
    mean, error = loss.RunningMean(), []
    rows = [(x[:number], y[:number]) for (x, y), number in zip(batches(), (3, 3, 3, 3, 1))]

    def training_step(self: Any, batch: Any, number: int) -> Any:
        value = mean_loss(self.net, batch)
        self.log("mean", value, on_epoch=True, on_step=False, batch_size=len(batch[0]))
        mean.update(value, weight=len(batch[0]))
        return value

    def on_before_optimizer_step(self: Any, optimizer: Any) -> None:
        loss.check_gradients(self.net)
        error.append(raised(lambda: loss.check_gradients(self)))

    model = module(training_step=training_step, on_before_optimizer_step=on_before_optimizer_step)
    model.unused = torch.nn.Linear(1, 1)
    trainer = fit(model, rows)
    same("mean", mean.compute(), float(trainer.callback_metrics["mean"]))
    text = "GradientError: no gradient: unused.weight, unused.bias"
    expect(set(error) == {text}, f"check_gradients: {error}")


@case(
    HOST,
    "data_loading.to_device, loss.match_by_name",
    "Trainer, hook `transfer_batch_to_device`: a batch in a frozen dataclass keeps its type",
    alone="raises: a frozen dataclass is not allowed",
)
def trainer_to_device() -> None:
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Rows:
        x: torch.Tensor
        price: torch.Tensor

    def training_step(self: Any, batch: Any, number: int) -> Any:
        outputs = {"price": self.net(batch.x), "x": batch.x}
        prediction, target = loss.match_by_name(outputs, {"price": batch.price})["price"]
        return torch.nn.functional.mse_loss(prediction, target)

    def transfer_batch_to_device(self: Any, batch: Any, device: Any, number: int) -> Any:
        return data_loading.to_device(batch, device)

    rows = [Rows(*batch) for batch in batches()]
    model = module(training_step=training_step, transfer_batch_to_device=transfer_batch_to_device)
    fit(model, rows)
    same("weights", weights(model.net), plain(batches(), max_norm=torch.inf))
    error = raised(lambda: fit(module(training_step=training_step), rows))
    expect("frozen dataclass" in error, f"alone: {error or 'nothing raised'}")
