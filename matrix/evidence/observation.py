"""What a report quotes of one reproducer, and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Observation:
    verdict: str
    text: str  # what reproduce() returned, or how it ended
    device: str
    torch: str  # the version on which it was observed
    versions: str  # as `python -m torch.utils.collect_env` prints them
    record: str = ""  # which one is quoted: "a record of 2026-11-21 (5 of 5 runs)"; "" none
    printed: str = ""  # by the program of the report, where it was run for this


class NothingObserved(Exception):
    """There is nothing to quote; the text says why."""


def versions_of(build: dict[str, Any], hardware: str | None = None) -> str:
    """The lines of collect_env that a record knows."""
    facts = {
        "PyTorch version": build.get("torch"),
        "CUDA used to build PyTorch": build.get("cuda") or "None",
        "OS": build.get("os"),
        "Python version": build.get("python"),
        "numpy": build.get("numpy"),
        "Hardware": hardware,
    }
    return "\n".join(f"{name}: {value}" for name, value in facts.items() if value)
