"""Measures what the watch costs, and writes docs/watch-cost.md. Run it on an idle machine.

python -m tests.trials.watching.cost

Each program trains in turn without the watch, with it, and with it in every step, in rounds, so
that all of them meet the same machine. Memory is the peak of a process of its own.
"""

from __future__ import annotations

import io
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional as F

from matrix.watching.run import watch
from tests.trials.shared import DOCS, ROOT, table, write

PAGE = DOCS / "watch-cost.md"
ROUNDS = 3
MODES = ("plain", "some", "all")


class Program(NamedTuple):
    name: str
    make: Callable[[], tuple[nn.Module, torch.Tensor, torch.Tensor]]
    steps: int
    target: float  # the greatest ratio that the watch may cost


class Block(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(channels)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inner = F.relu(self.norm1(self.first(x)))
        return F.relu(x + self.norm2(self.second(inner)))


class Transformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(1000, 128)
        layer = nn.TransformerEncoderLayer(128, 4, 512, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 4)
        self.head = nn.Linear(128, 10)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(self.encoder(self.embedding(tokens)).mean(1))


def mlp() -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    layers = [nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Dropout(0.1)]
    model = nn.Sequential(*layers, nn.Linear(128, 10))
    return model, torch.randn(32, 256), torch.randint(10, (32,))


def transformer() -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    return Transformer(), torch.randint(1000, (8, 32)), torch.randint(10, (8,))


def resnet() -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    blocks = [Block(32) for _ in range(8)]
    pooled = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)]
    model = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), *blocks, *pooled)
    return model, torch.randn(4, 3, 24, 24), torch.randint(10, (4,))


PROGRAMS = (
    Program("MLP with 3 layers", mlp, 400, 1.10),
    Program("transformer with 4 layers", transformer, 100, 1.03),
    Program("ResNet with 17 convolutions", resnet, 100, 1.03),
)


def seconds(program: Program, mode: str) -> float:
    """The mean time of a step."""
    torch.manual_seed(0)
    model, x, y = program.make()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def train(steps: int) -> float:
        start = time.perf_counter()
        for _ in range(steps):
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        return (time.perf_counter() - start) / steps

    train(5)
    if mode == "plain":
        return train(program.steps)
    with watch(every_step=mode == "all", stream=io.StringIO()) as run:
        taken = train(program.steps)
    assert not run.findings.failed, run.findings.failed
    return taken


def peak(program: Program, mode: str) -> float:
    """The peak memory of a process that trains, in MB."""
    command = [sys.executable, "-m", "tests.trials.watching.cost", program.name, mode]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return float(done.stdout)


def row(program: Program) -> tuple[str, ...]:
    rounds = [{mode: seconds(program, mode) for mode in MODES} for _ in range(ROUNDS)]
    print(f"{program.name}: measured", file=sys.stderr)
    ratios = {mode: [each[mode] / each["plain"] for each in rounds] for mode in ("some", "all")}
    largest = max(p.numel() * p.element_size() for p in program.make()[0].parameters()) / 2**20
    plain = statistics.median(each["plain"] for each in rounds)
    memory = [peak(program, mode) for mode in ("plain", "some")]
    return (
        program.name,
        f"{plain * 1e3:.1f} ms",
        f"{_shown(ratios['some'])}, target x{program.target:.2f}",
        _shown(ratios["all"]),
        f"{memory[1] - memory[0]:+.1f} MB",
        f"{largest:.1f} MB",
    )


def _shown(ratios: list[float]) -> str:
    return f"x{statistics.median(ratios):.3f} (x{min(ratios):.3f} to x{max(ratios):.3f})"


def main() -> None:
    torch.set_num_threads(1)
    if len(sys.argv) > 1:
        (program,) = (each for each in PROGRAMS if each.name == sys.argv[1])
        seconds(program._replace(steps=40), sys.argv[2])
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10)
        return
    columns = ("program", "step", "with the watch", "with --watch=all")
    lines = [
        "# What the watch costs",
        "",
        f"Written by `python -m tests.trials.watching.cost` with torch {torch.__version__.split('+')[0]}, Python",
        f"{platform.python_version()} and one thread. Each program trains for some hundred steps with AdamW and clipping,",
        f"without the watch and with it in turn, {ROUNDS} times. The table shows the median of the {ROUNDS} ratios of the",
        "mean time of a step, and the smallest and the greatest. *Memory* is the difference between the peaks of two",
        "processes, beside the size of the largest parameter.",
        "",
        table(
            (*columns, "memory", "largest parameter"),
            [row(program) for program in PROGRAMS],
            numbers=("step", "memory", "largest parameter"),
        ),
    ]
    write(PAGE, "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
