"""Defines the observation of a reproducer that a report quotes, and its source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Observation:
    verdict: str
    text: str  # the return value of reproduce(), or how it ended
    device: str
    torch: str  # the version on which the verdict was observed
    versions: str  # in the format of `python -m torch.utils.collect_env`
    record: str = ""  # the quoted record, such as "a record of 2026-11-21 (5 of 5 runs)", or ""
    printed: str = ""  # the output of the report's program, if that was run


class NothingObserved(Exception):
    """There is nothing to quote. The message explains why."""


def versions_of(build: dict[str, Any], hardware: str | None = None) -> str:
    """The lines of collect_env that can be derived from a record."""
    facts = {
        "PyTorch version": build.get("torch"),
        "CUDA used to build PyTorch": build.get("cuda") or "None",
        "OS": build.get("os"),
        "Python version": build.get("python"),
        "numpy": build.get("numpy"),
        "Hardware": hardware,
    }
    return "\n".join(f"{name}: {value}" for name, value in facts.items() if value)
