"""Reads the releases of torch to measure from torches.toml."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from . import checked, toml
from .checked import key

TORCHES = Path(__file__).with_name("torches.toml")
INTERPRETERS = [f"3.{minor}" for minor in range(30, 5, -1)]  # newest first, including future ones


class TorchesError(Exception):
    """An invalid entry in torches.toml, or a version that is not listed there."""


@dataclass(frozen=True)
class Torch:
    version: str = key(checked.version)  # "2.4.1"
    python: str = key(checked.specifier)  # versions of Python that have wheels
    numpy: str = key(checked.specifier, default="")
    setuptools: str = key(checked.specifier, default="")

    @property
    def minor(self) -> str:
        """The release as users know it, such as "2.4"."""
        return minor(self.version)

    @property
    def companions(self) -> list[str]:
        """The packages installed with this torch."""
        return [f"numpy{self.numpy}", f"setuptools{self.setuptools}"]

    @property
    def requirements(self) -> list[str]:
        return [f"torch=={self.version}", *self.companions]

    def interpreter(self) -> str:
        """This interpreter's "3.x" if wheels exist for it, or else the newest version with wheels.

        Raises StopIteration if no version has wheels.
        """
        here = f"{sys.version_info.major}.{sys.version_info.minor}"
        wanted = SpecifierSet(self.python)
        return next(name for name in (here, *INTERPRETERS) if name in wanted)


@cache
def minor(version: str) -> str:
    """ "2.4" for "2.4.1+cu121". Raises InvalidVersion."""
    parsed = Version(version)
    return f"{parsed.major}.{parsed.minor}"


@cache
def specifier_set(text: str) -> SpecifierSet:
    return SpecifierSet(text)


@cache
def satisfies(version: str, specifier: str) -> bool:
    """True if the version satisfies the specifier.

    A nightly counts as its upcoming release, and a build's local part ("+cpu") is ignored.
    """
    return specifier_set(specifier).contains(Version(version).base_version)


def load(path: Path = TORCHES) -> list[Torch]:
    """Returns every release, oldest first. Raises TorchesError with the entry and the key."""
    try:
        table = toml.loads(path.read_text(encoding="utf-8"))
    except toml.TOMLDecodeError as error:
        raise TorchesError(f"{path}: not TOML: {error}") from None
    torches = [
        _parse(path, number, entry) for number, entry in enumerate(table.get("torch", []), 1)
    ]
    if not torches:
        raise TorchesError(f"{path}: no [[torch]] entry")
    for older, newer in pairwise(torches):
        if Version(older.version) >= Version(newer.version) or older.minor == newer.minor:
            order = f"{newer.version} after {older.version}"
            raise TorchesError(f"{path}: {order}: expected one entry per minor, oldest first")
    return torches


def _parse(path: Path, number: int, entry: dict[str, Any]) -> Torch:
    where = f"{path}: entry {number} ({entry.get('version', 'no version')})"
    if wrong := checked.sentences(Torch, entry):
        raise TorchesError("\n".join(f"{where}: {sentence}" for sentence in wrong))
    torch = Torch(**entry)
    try:
        torch.interpreter()
    except StopIteration:
        raise TorchesError(f"{where}: python = {torch.python!r} admits no interpreter") from None
    return torch


def line_of(path: Path, torch: Torch) -> int:
    """The number of the line that states the version."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if f'"{torch.version}"' in line)


def find(torches: list[Torch], names: tuple[str, ...]) -> list[Torch]:
    """The named releases ("2.4" or "2.4.1"), oldest first. Without names, returns all releases."""
    by_name = {name: torch for torch in torches for name in (torch.minor, torch.version)}
    unknown = [name for name in names if name not in by_name]
    if unknown:
        releases = ", ".join(torch.minor for torch in torches)
        raise TorchesError(f"no torch {', '.join(unknown)} in torches.toml; it has {releases}")
    return sorted({by_name[name] for name in names}, key=torches.index) if names else torches


def span(minors: list[str], torches: list[Torch]) -> str:
    """Describes the releases, oldest first: "2.1, 2.4 to 2.9"."""
    every = [torch.minor for torch in torches]
    runs: list[list[str]] = []
    for minor in minors:
        if runs and every.index(minor) == every.index(runs[-1][-1]) + 1:
            runs[-1].append(minor)
        else:
            runs.append([minor])
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(run) for run in runs)
