"""Small but realistic trainers into which advice is pasted.

A `Trainer` holds one model with two parameter groups, its batches, and the extras of its `Setting`.
Its state is compared with the state of the same trainer after the reference: the modes, the
parameters that require or received a gradient, the keys and dtypes of the state, the groups of the
optimizer, and the global switches of the process.
"""

from __future__ import annotations

import contextlib
import os
import random
import tempfile
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import nn


@dataclass(frozen=True)
class Setting:
    """The differences between a trainer and the plain trainer, which has all the defaults."""

    name: str
    optimizer: str = "SGD"
    tensor_lr: bool = False
    tied: bool = False  # a second head shares its weight with the first
    frozen_norm: bool = False  # BatchNorm in eval mode, without gradients
    dropout: float = 0.0
    window: int = 1  # batches accumulated per step; 5 batches leave a short last window
    dtype: torch.dtype = torch.float32  # autocast's dtype
    workers: int = 0
    ranks: int = 1
    last_batch: int = 4  # rows of the last batch


SETTINGS = {
    setting.name: setting
    for setting in (
        Setting("plain"),
        Setting("AdamW", optimizer="AdamW"),
        Setting("tensor lr", tensor_lr=True),
        Setting("tied", tied=True),
        Setting("frozen norm", frozen_norm=True),
        Setting("dropout", dropout=0.5),
        Setting("accumulation", window=2),
        Setting("bfloat16", dtype=torch.bfloat16),
        Setting("float16", dtype=torch.float16),
        Setting("workers", workers=2),
        Setting("two ranks", ranks=2),
        Setting("short last batch", last_batch=3),
    )
}


class Net(nn.Module):
    """A network that maps (rows, 6) to (rows, 4)."""

    def __init__(self, setting: Setting) -> None:
        super().__init__()
        self.body = nn.Linear(6, 8)
        self.norm = nn.BatchNorm1d(8)
        self.dropout = nn.Dropout(setting.dropout)
        self.head = nn.Linear(8, 4)
        self.tail = nn.Linear(8, 4, bias=False)
        if setting.tied:
            self.tail.weight = self.head.weight
        if setting.frozen_norm:
            self.norm.requires_grad_(False)
            self.train()

    def train(self, mode: bool = True) -> Net:
        super().train(mode)
        if not self.norm.weight.requires_grad:
            self.norm.eval()
        return self

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.dropout(torch.relu(self.norm(self.body(x))))
        return self.head(hidden) + self.tail(hidden)


class Trainer:
    """A training run, built on first use. The random numbers always start from the same seed."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.loss = nn.functional.cross_entropy
        self.got_gradient: set[str] = set()

    @cached_property
    def model(self) -> Any:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            return self.watched(Net(self.setting))

    def watched(self, model: Any) -> Any:
        """Adds gradient hooks to a model. To use another model: `t.model = t.watched(model)`."""
        for name, parameter in model.named_parameters():
            if parameter.requires_grad:
                parameter.register_hook(lambda grad, name=name: self.got_gradient.add(name))
        return model

    @cached_property
    def groups(self) -> list[dict[str, Any]]:
        """Two groups with different rates, to expose code that reads only the first group."""
        named = [(name, p) for name, p in self.model.named_parameters() if p.requires_grad]
        body = [p for name, p in named if name.startswith("body")]
        rest = [p for name, p in named if not name.startswith("body")]
        rates = (torch.tensor(0.1), torch.tensor(0.05)) if self.setting.tensor_lr else (0.1, 0.05)
        return [{"params": body, "lr": rates[0]}, {"params": rest, "lr": rates[1]}]

    @cached_property
    def optimizer(self) -> Any:
        kind = getattr(torch.optim, self.setting.optimizer)
        return kind(self.groups, **({"momentum": 0.9} if kind is torch.optim.SGD else {}))

    @cached_property
    def batches(self) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Five pairs: inputs of shape (rows, 6), and class numbers from 0 to 3 of shape (rows,)."""
        generator = torch.Generator().manual_seed(1)
        rows = [4, 4, 4, 4, self.setting.last_batch]
        return [
            (
                torch.randn(n, 6, generator=generator),
                torch.randint(0, 4, (n,), generator=generator),
            )
            for n in rows
        ]

    def autocast(self) -> contextlib.AbstractContextManager[Any]:
        if self.setting.dtype is torch.float32:
            return contextlib.nullcontext()
        return torch.autocast("cpu", dtype=self.setting.dtype)

    def observed(self) -> dict[str, Any]:
        """The state of all parts built so far, which must equal the state after the reference."""
        seen: dict[str, Any] = dict(switches())
        built = vars(self)
        if isinstance(model := built.get("model"), nn.Module):
            modules = dict(model.named_modules())
            seen["modes"] = {name: module.training for name, module in modules.items()}
            seen["dropout"] = {
                name: module.p for name, module in modules.items() if hasattr(module, "p")
            } | {
                name: module.dropout
                for name, module in modules.items()
                if isinstance(getattr(module, "dropout", None), float)
            }
            seen["needs a gradient"] = {n: p.requires_grad for n, p in model.named_parameters()}
            seen["got a gradient"] = sorted(self.got_gradient)
            seen["state"] = {
                name: (tuple(value.shape), value.dtype)
                for name, value in model.state_dict().items()
                if isinstance(value, torch.Tensor)
            }
            seen["parameters that are one"] = len(list(model.parameters()))
        if (optimizer := built.get("optimizer")) is not None:
            seen["groups"] = [
                {key: _plain(value) for key, value in group.items() if key != "params"}
                | {"parameters": len(group["params"])}
                for group in optimizer.param_groups
            ]
        return seen


def _plain(value: Any) -> Any:
    return ("tensor", value.item()) if isinstance(value, torch.Tensor) else value


def switches() -> Iterator[tuple[str, Any]]:
    """The global settings of the process."""
    yield "seed", torch.initial_seed()
    yield "default dtype", torch.get_default_dtype()
    yield "grad mode", torch.is_grad_enabled()
    yield "inference mode", torch.is_inference_mode_enabled()
    yield "anomaly mode", torch.is_anomaly_enabled()
    yield "deterministic", torch.are_deterministic_algorithms_enabled()
    yield "autocast", torch.is_autocast_enabled()
    yield "threads", torch.get_num_threads()
    for name in ("enabled", "benchmark", "deterministic", "allow_tf32"):
        yield f"cudnn.{name}", getattr(torch.backends.cudnn, name)
    mha: Any = getattr(torch.backends, "mha", None)
    if hasattr(mha, "get_fastpath_enabled"):
        yield "fast path", mha.get_fastpath_enabled()
    yield "environment", {k: v for k, v in os.environ.items() if not k.startswith(("TORCH", "KMP"))}
    yield "working directory", os.getcwd()


def seed() -> None:
    """Seeds every generator, so that the place and its reference draw the same numbers."""
    torch.manual_seed(7)
    random.seed(7)
    with contextlib.suppress(ImportError):
        import numpy

        numpy.random.seed(7)


# --- ranks ----------------------------------------------------------------------------------------

SECONDS = 180  # a busy machine


def on_ranks(function: Callable[[int], Any], ranks: int = 2) -> list[Any]:
    """Runs the function in one forked process per rank of a gloo group; returns the results.

    Raises RuntimeError with the traceback of the first rank that failed.
    """
    folder = tempfile.mkdtemp()
    children = [_start(function, rank, ranks, folder) for rank in range(ranks)]
    statuses = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    results = []
    for rank, status in enumerate(statuses):
        path = os.path.join(folder, f"{rank}.pt")
        if not os.path.exists(path):
            raise RuntimeError(f"rank {rank} ended with {status}")
        results.append(_load(path))
    errors = [result["error"] for result in results if "error" in result]
    if errors:
        raise RuntimeError(errors[0])
    return [result["value"] for result in results]


def _load(path: str) -> Any:
    try:
        return torch.load(path, weights_only=False)
    except TypeError:  # before 1.13
        return torch.load(path)


def _start(function: Callable[[int], Any], rank: int, ranks: int, folder: str) -> int:
    import datetime

    import torch.distributed as dist

    if (child := os.fork()) != 0:
        return child
    answer: dict[str, Any] = {}
    try:
        import signal

        signal.alarm(SECONDS)
        store = dist.FileStore(os.path.join(folder, "store"), ranks)
        dist.init_process_group(
            "gloo",
            store=store,
            rank=rank,
            world_size=ranks,
            timeout=datetime.timedelta(seconds=SECONDS // 2),
        )
        answer["value"] = function(rank)
    except BaseException:
        answer["error"] = traceback.format_exc()
    path = os.path.join(folder, f"{rank}.pt")
    try:
        torch.save(answer, f"{path}.part")
        os.replace(f"{path}.part", path)
    finally:
        os._exit(0)  # destroying a gloo group can deadlock on torch 2.0 to 2.7
