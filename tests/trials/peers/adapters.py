"""Thin adapters that implement each part with only a peer's own calls.

A peer omits the parts that it lacks. Each function imports the libraries that it uses, so this file
can be imported without these libraries. The write-ups are five published fixes for such failures,
reduced to the fewest lines that follow the published advice.
"""

from __future__ import annotations

import contextlib
import copy
import tempfile
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from reference_fixes import amp, data_loading, loss, memory, numerics, rnn

Run = Callable[[int], object]  # runs a step with a batch size
Rows = Any  # a list of batches
LossFn = Callable[[nn.Module, Any], Any]


class Peer:
    name = ""
    package = ""  # the package whose version is shown; "" if the peer needs only torch
    max_examples = 40  # fewer if each example runs a whole trainer

    # The parts of a peer; a missing part is None:
    # recognises(error) -> bool
    recognises: Any = None
    # search(run, largest) -> size; run(size) raises an out-of-memory error above a limit
    search: Any = None
    # step(model, optimizer, max_norm): clips the existing gradients and steps, as the peer advises
    step: Any = None
    # epoch(model, rows, loss_fn, accumulate) -> mean loss or None: SGD, lr=1, a batch per row
    epoch: Any = None
    # precision(device, dtype) -> the dtype of matrix products
    precision: Any = None
    # to_device(batch, device) -> batch
    to_device: Any = None
    # snapshot(model) -> restore
    snapshot: Any = None
    # total_loss(predictions, targets) -> scalar; both arguments are dicts by name
    total_loss: Any = None
    # input_gradient(model, x) -> gradient of model(x).sum() in eval mode
    input_gradient: Any = None
    # predict(model, x) -> output in eval mode
    predict: Any = None


class Ours(Peer):
    name = "reference_fixes"

    def recognises(self, error: BaseException) -> bool:
        return memory.is_out_of_memory(error)

    def search(self, run: Run, largest: int) -> int:
        return memory.find_batch_size(run, largest)

    def step(self, model: nn.Module, optimizer: torch.optim.Optimizer, max_norm: float) -> None:
        numerics.clip_or_skip(optimizer, max_norm)

    def epoch(self, model: nn.Module, rows: Rows, loss_fn: LossFn, accumulate: int) -> float | None:
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
        losses = []
        for window in amp.windows(rows, accumulate):
            optimizer.zero_grad()
            for row, share, _ in window:
                losses.append(loss_fn(model, row))
                (losses[-1] * share).backward()
            amp.optimizer_step(optimizer)
        return float(sum(losses)) / len(losses)

    def precision(self, device: str, dtype: torch.dtype) -> torch.dtype:
        with amp.choose_precision(device, dtype).autocast():
            return product_dtype(device)

    def to_device(self, batch: Any, device: str) -> Any:
        return data_loading.to_device(batch, device)

    def snapshot(self, model: nn.Module) -> Callable[[], object]:
        taken = numerics.Snapshot(model)
        return taken.restore

    def total_loss(self, predictions: Any, targets: Any) -> Any:
        pairs = loss.match_by_name(predictions, targets)
        return sum((prediction - target).square().mean() for prediction, target in pairs.values())

    def input_gradient(self, model: nn.Module, x: torch.Tensor) -> Any:
        return rnn.input_gradients(model, x, target=lambda output: output[0].sum())[0]

    def predict(self, model: nn.Module, x: torch.Tensor) -> Any:
        with rnn.no_grad_eval(model):
            return model(x)


class Torch(Peer):
    """torch's own functions, used as in the documentation."""

    name = "torch"

    def recognises(self, error: BaseException) -> bool:
        return isinstance(error, torch.cuda.OutOfMemoryError)

    def step(self, model: nn.Module, optimizer: torch.optim.Optimizer, max_norm: float) -> None:
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()

    def epoch(self, model: nn.Module, rows: Rows, loss_fn: LossFn, accumulate: int) -> float | None:
        # https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-accumulation,
        # without the scaler
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
        for number, row in enumerate(rows):
            (loss_fn(model, row) / accumulate).backward()
            if (number + 1) % accumulate == 0:
                optimizer.step()
                optimizer.zero_grad()
        return None

    def precision(self, device: str, dtype: torch.dtype) -> torch.dtype:
        with torch.autocast(device, dtype):
            return product_dtype(device)

    def snapshot(self, model: nn.Module) -> Callable[[], object]:
        taken = model.state_dict()
        return lambda: model.load_state_dict(taken)

    def input_gradient(self, model: nn.Module, x: torch.Tensor) -> Any:
        model.eval()
        x = x.clone().requires_grad_()
        with torch.backends.cudnn.flags(enabled=False):
            model(x)[0].sum().backward()
        return x.grad

    def predict(self, model: nn.Module, x: torch.Tensor) -> Any:
        model.eval()
        with torch.no_grad():
            return model(x)


class TorchErrorIfNonfinite(Peer):
    name = "torch, error_if_nonfinite"

    def step(self, model: nn.Module, optimizer: torch.optim.Optimizer, max_norm: float) -> None:
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm, error_if_nonfinite=True)
        optimizer.step()

    def snapshot(self, model: nn.Module) -> Callable[[], object]:
        taken = copy.deepcopy(model.state_dict())
        return lambda: model.load_state_dict(taken)


class Accelerate(Peer):
    name = "accelerate"
    package = "accelerate"

    def recognises(self, error: BaseException) -> bool:
        from accelerate.utils.memory import should_reduce_batch_size

        return should_reduce_batch_size(error)

    def search(self, run: Run, largest: int) -> int:
        from accelerate.utils import find_executable_batch_size

        fitting = []

        @find_executable_batch_size(starting_batch_size=largest)
        def inner(batch_size: int) -> None:
            run(batch_size)
            fitting.append(batch_size)

        inner()
        return fitting[-1]

    def accelerator(self, **options: Any) -> Any:
        from accelerate import Accelerator
        from accelerate.state import AcceleratorState, GradientState

        AcceleratorState._reset_state(reset_partial_state=True)
        GradientState._reset_state()
        return Accelerator(cpu=True, **options)

    def step(self, model: nn.Module, optimizer: torch.optim.Optimizer, max_norm: float) -> None:
        accelerator = self.accelerator()
        accelerator.clip_grad_norm_(model.parameters(), max_norm)
        accelerator.prepare(optimizer).step()

    def epoch(self, model: nn.Module, rows: Rows, loss_fn: LossFn, accumulate: int) -> float | None:
        accelerator = self.accelerator(gradient_accumulation_steps=accumulate)
        loader: Any = torch.utils.data.DataLoader(rows, batch_size=None)
        model, optimizer, loader = accelerator.prepare(
            model, torch.optim.SGD(model.parameters(), lr=1.0), loader
        )
        for row in loader:
            with accelerator.accumulate(model):
                accelerator.backward(loss_fn(model, row))
                optimizer.step()
                optimizer.zero_grad()
        return None

    def precision(self, device: str, dtype: torch.dtype) -> torch.dtype:
        accelerator = self.accelerator(
            mixed_precision={torch.bfloat16: "bf16", torch.float16: "fp16"}[dtype]
        )
        with accelerator.autocast():
            return product_dtype(device)

    def to_device(self, batch: Any, device: str) -> Any:
        from accelerate.utils import send_to_device

        return send_to_device(batch, device)


class Transformers(Peer):
    name = "transformers.Trainer"
    max_examples = 12
    package = "transformers"

    def epoch(self, model: nn.Module, rows: Rows, loss_fn: LossFn, accumulate: int) -> float | None:
        import transformers

        class Wrapped(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.inner = model

            def forward(self, row: Any) -> Any:
                return {"loss": loss_fn(self.inner, row[0])}

        class InOrder(transformers.Trainer):
            def _get_train_sampler(self, *args: Any) -> Any:
                return torch.utils.data.SequentialSampler(self.train_dataset)

        with tempfile.TemporaryDirectory() as folder:
            arguments = transformers.TrainingArguments(
                folder,
                num_train_epochs=1,
                per_device_train_batch_size=1,
                gradient_accumulation_steps=accumulate,
                max_grad_norm=0.0,
                logging_strategy="no",
                save_strategy="no",
                report_to=[],
                disable_tqdm=True,
                use_cpu=True,
            )
            optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
            constant = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0)
            trainer = InOrder(
                Wrapped(),
                arguments,
                train_dataset=[{"row": row} for row in rows],
                optimizers=(optimizer, constant),
            )
            with contextlib.redirect_stdout(None):
                return trainer.train().training_loss


class Lightning(Peer):
    name = "lightning"
    max_examples = 12
    package = "lightning"

    def recognises(self, error: BaseException) -> bool:
        from lightning.pytorch.utilities.memory import is_oom_error

        return is_oom_error(error)

    def trainer(self, **options: Any) -> Any:
        import lightning

        quiet = {
            "logger": False,
            "enable_checkpointing": False,
            "enable_progress_bar": False,
            "enable_model_summary": False,
        }
        return lightning.Trainer(accelerator="cpu", devices=1, max_epochs=1, **{**quiet, **options})

    def module(self, model: nn.Module, step: Any) -> Any:
        import lightning

        class Module(lightning.LightningModule):
            def __init__(self) -> None:
                super().__init__()
                self.inner, self.batch_size = model, 1

            def training_step(self, batch: Any, number: int) -> Any:
                return step(self, batch)

            def configure_optimizers(self) -> Any:
                return torch.optim.SGD(self.parameters(), lr=1.0)

        return Module()

    def search(self, run: Run, largest: int) -> int:
        from lightning.pytorch.tuner import Tuner

        model = nn.Linear(1, 1)

        def step(module: Any, batch: Any) -> Any:
            run(len(batch))
            return model(batch).sum()

        module = self.module(model, step)
        rows: Any = torch.ones(largest, 1)
        module.train_dataloader = lambda: torch.utils.data.DataLoader(
            rows, batch_size=module.batch_size
        )
        with tempfile.TemporaryDirectory() as folder:
            trainer = self.trainer(default_root_dir=folder)
            size = Tuner(trainer).scale_batch_size(
                module, mode="binsearch", init_val=1, steps_per_trial=1, max_val=largest, margin=0.0
            )
        return size

    def epoch(self, model: nn.Module, rows: Rows, loss_fn: LossFn, accumulate: int) -> float | None:
        module = self.module(model, lambda module, row: loss_fn(model, row))
        loader: Any = torch.utils.data.DataLoader(rows, batch_size=None)
        self.trainer(accumulate_grad_batches=accumulate).fit(module, loader)
        return None

    def to_device(self, batch: Any, device: str) -> Any:
        from lightning.fabric.utilities import move_data_to_device

        return move_data_to_device(batch, torch.device(device))

    def predict(self, model: nn.Module, x: torch.Tensor) -> Any:
        module = self.module(model, None)
        module.predict_step = lambda batch, number: model(batch)
        return self.trainer().predict(module, [x])[0]


class Fabric(Peer):
    name = "lightning.Fabric"
    package = "lightning"

    def fabric(self, **options: Any) -> Any:
        import lightning

        return lightning.Fabric(accelerator="cpu", devices=1, **options)

    def step(self, model: nn.Module, optimizer: torch.optim.Optimizer, max_norm: float) -> None:
        fabric = self.fabric()
        model, optimizer = fabric.setup(model, optimizer)
        fabric.clip_gradients(model, optimizer, max_norm=max_norm)
        optimizer.step()

    def precision(self, device: str, dtype: torch.dtype) -> torch.dtype:
        fabric = self.fabric(
            precision={torch.bfloat16: "bf16-mixed", torch.float16: "16-mixed"}[dtype]
        )
        with fabric.autocast():
            return product_dtype(device)


class TorchTNT(Peer):
    name = "torchtnt"
    max_examples = 12
    package = "torchtnt"

    def recognises(self, error: BaseException) -> bool:
        from torchtnt.utils.oom import is_out_of_memory_error

        return is_out_of_memory_error(error)

    def epoch(self, model: nn.Module, rows: Rows, loss_fn: LossFn, accumulate: int) -> float | None:
        from torchtnt.framework.auto_unit import AutoUnit
        from torchtnt.framework.train import train

        class Unit(AutoUnit):
            def compute_loss(self, state: Any, data: Any) -> Any:
                return loss_fn(self.module, data), None

            def configure_optimizers_and_lr_scheduler(self, module: Any) -> Any:
                return torch.optim.SGD(module.parameters(), lr=1.0), None

        unit = Unit(
            module=model, device=torch.device("cpu"), gradient_accumulation_steps=accumulate
        )
        train(unit, torch.utils.data.DataLoader(rows, batch_size=None), max_epochs=1)
        return None

    def to_device(self, batch: Any, device: str) -> Any:
        from torchtnt.utils.device import copy_data_to_device

        return copy_data_to_device(batch, torch.device(device))


class Toma(Peer):
    name = "toma"
    package = "toma"

    def recognises(self, error: BaseException) -> Any:
        from toma import should_reduce_batch_size

        return should_reduce_batch_size(error)

    def search(self, run: Run, largest: int) -> int:
        from toma import NoBatchsizeCache

        return self.execute(run, largest, cache_type=NoBatchsizeCache)

    def execute(self, run: Run, largest: int, **options: Any) -> int:
        from toma import toma

        fitting = []

        @toma.execute.batch(initial_batchsize=largest, **options)
        def inner(batchsize: int) -> None:
            run(batchsize)
            fitting.append(batchsize)

        return fitting[-1]


class TomaCached(Toma):
    name = "toma, default cache"
    recognises: Any = None

    def search(self, run: Run, largest: int) -> int:
        return self.execute(run, largest)


class Composer(Peer):
    name = "composer"
    package = "mosaicml"

    def recognises(self, error: BaseException) -> bool:
        from composer.trainer.trainer import _is_cuda_oom

        return isinstance(error, RuntimeError) and _is_cuda_oom(error)

    def step(self, model: nn.Module, optimizer: torch.optim.Optimizer, max_norm: float) -> None:
        from composer.algorithms.gradient_clipping import apply_gradient_clipping

        apply_gradient_clipping(model, "norm", max_norm, False)
        optimizer.step()

    def to_device(self, batch: Any, device: str) -> Any:
        from composer.devices import DeviceCPU

        assert device == "cpu"
        return DeviceCPU().batch_to_device(batch)


class WriteUpRNN(Peer):
    """Predicts under inference_mode, and switches to training mode for input gradients."""

    name = "write-up: cuDNN RNN"

    def input_gradient(self, model: nn.Module, x: torch.Tensor) -> Any:
        was_training = model.training
        model.train()
        try:
            x = x.clone().requires_grad_()
            with torch.enable_grad():
                model(x)[0].sum().backward()
            return x.grad
        finally:
            if not was_training:
                model.eval()

    def predict(self, model: nn.Module, x: torch.Tensor) -> Any:
        model.eval()
        with torch.inference_mode():
            return model(x)


class WriteUpAMP(Peer):
    """Uses a scaler "disabled" by naming the CPU, and a loop that steps on every k-th batch."""

    name = "write-up: mixed precision"

    def epoch(self, model: nn.Module, rows: Rows, loss_fn: LossFn, accumulate: int) -> float | None:
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
        # With the write-up's GradScaler("cpu"), the loop of the write-up raises.
        scaler = torch.amp.GradScaler("cuda", enabled=False)
        total = 0.0
        for step, row in enumerate(rows, start=1):
            value = loss_fn(model, row) / accumulate
            value.backward()
            if step % accumulate == 0:
                scaler.step(optimizer)
                optimizer.zero_grad()
            total += value.item()
        return total / len(rows)

    def precision(self, device: str, dtype: torch.dtype) -> torch.dtype:
        scaler = torch.amp.GradScaler(device)
        with (
            torch.cuda.amp.autocast(enabled=True)
            if scaler.is_enabled() and device == "cuda"
            else contextlib.nullcontext()
        ):
            return product_dtype(device)


class WriteUpZeroLoss(Peer):
    """Assumes that outputs["predictions"] exists, and skips targets without a prediction."""

    name = "write-up: zero loss"

    def total_loss(self, predictions: Any, targets: Any) -> Any:
        outputs = (
            predictions["predictions"]
            if isinstance(predictions, dict) and "predictions" in predictions
            else predictions
        )
        losses = [
            (outputs[name] - targets[name]).square().mean() for name in targets if name in outputs
        ]
        return sum(losses) if losses else torch.zeros((), requires_grad=True)


class WriteUpPinning(Peer):
    """Moves every tensor by hand, with non_blocking=True."""

    name = "write-up: pinning"

    def to_device(self, batch: Any, device: str) -> Any:
        features, targets = batch
        return features.to(device, non_blocking=True), targets.to(device, non_blocking=True)


class WriteUpNaN(Peer):
    """Clips, and stops if the output or the loss is NaN."""

    name = "write-up: NaN"

    def step(self, model: nn.Module, optimizer: torch.optim.Optimizer, max_norm: float) -> None:
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=max_norm)
        optimizer.step()


PEERS: list[type[Peer]] = [
    Ours,
    Torch,
    TorchErrorIfNonfinite,
    Accelerate,
    Transformers,
    Lightning,
    Fabric,
    TorchTNT,
    Toma,
    TomaCached,
    Composer,
    WriteUpRNN,
    WriteUpAMP,
    WriteUpZeroLoss,
    WriteUpPinning,
    WriteUpNaN,
]


def product_dtype(device: str) -> torch.dtype:
    """The dtype of a matrix product in the current context."""
    ones = torch.ones(2, 2, device=device)
    return (ones @ ones).dtype
