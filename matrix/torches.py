"""The versions axis, read from torches.toml."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

TORCHES = Path(__file__).with_name("torches.toml")


class TorchesError(Exception):
    """A bad entry of torches.toml, or a version that is not in it."""


@dataclass(frozen=True)
class Torch:
    version: str  # "2.4.1"
    python: str  # interpreters that have wheels of it
    numpy: str = ""
    setuptools: str = ""

    @property
    def minor(self) -> str:
        """What users call it: "2.4"."""
        return minor(self.version)

    @property
    def requirements(self) -> list[str]:
        return [f"torch=={self.version}", f"numpy{self.numpy}", f"setuptools{self.setuptools}"]

    def interpreter(self) -> str:
        """This interpreter's "3.x" where it has wheels, else the newest that has."""
        here = f"{sys.version_info.major}.{sys.version_info.minor}"
        if here in SpecifierSet(self.python):
            return here
        return next(name for name in (f"3.{number}" for number in range(30, 5, -1)) if name in SpecifierSet(self.python))


def minor(version: str) -> str:
    parsed = Version(version)
    return f"{parsed.major}.{parsed.minor}"


def load(path: Path = TORCHES) -> list[Torch]:
    """Every torch, oldest first. Raises TorchesError that names the entry and the key."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise TorchesError(f"{path}: not TOML: {error}") from None
    torches = [_parse(path, number, entry) for number, entry in enumerate(table.get("torch", []), 1)]
    if not torches:
        raise TorchesError(f"{path}: no [[torch]] entry")
    for older, newer in pairwise(torches):
        if Version(older.version) >= Version(newer.version) or older.minor == newer.minor:
            raise TorchesError(f"{path}: {newer.version} after {older.version}: expected one entry per minor, oldest first")
    return torches


def _parse(path: Path, number: int, entry: dict[str, object]) -> Torch:
    where = f"{path}: entry {number} ({entry.get('version', 'no version')})"
    known = {field.name for field in fields(Torch)}
    for key in ("version", "python"):
        if key not in entry:
            raise TorchesError(f"{where}: {key} is missing")
    for key, value in entry.items():
        if key not in known:
            raise TorchesError(f"{where}: unknown key {key!r}; expected {', '.join(sorted(known))}")
        try:
            Version(str(value)) if key == "version" else SpecifierSet(str(value))
        except (InvalidVersion, InvalidSpecifier):
            raise TorchesError(f"{where}: {key} = {value!r} is not a PEP 440 {'version' if key == 'version' else 'specifier'}") from None
    torch = Torch(**{key: str(value) for key, value in entry.items()})
    try:
        torch.interpreter()
    except StopIteration:
        raise TorchesError(f"{where}: python = {torch.python!r} admits no interpreter") from None
    return torch


def find(torches: list[Torch], names: tuple[str, ...]) -> list[Torch]:
    """The torches that are named, as "2.4" or "2.4.1", in order of age; all of them when none is named."""
    known = {name: torch for torch in torches for name in (torch.minor, torch.version)}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise TorchesError(f"no torch {', '.join(unknown)} in torches.toml; it has {', '.join(torch.minor for torch in torches)}")
    return sorted({known[name] for name in names}, key=torches.index) if names else torches


def missing(torches: list[Torch], uv: str) -> list[str]:
    """Final releases on the package index that torches.toml lacks: new minors, and newer patches of minors that it has."""
    command = [uv, "tool", "run", "pip", "index", "versions", "torch", "--disable-pip-version-check"]
    done = subprocess.run(command, capture_output=True, text=True)
    line = next((line for line in done.stdout.splitlines() if line.startswith("Available versions:")), None)
    if line is None:
        raise TorchesError(f"the package index did not answer: {(done.stderr.strip().splitlines() or ['no output'])[-1]}")
    released = [Version(text.strip()) for text in line.split(":", 1)[1].split(",")]
    have = {torch.minor: Version(torch.version) for torch in torches}
    newest: dict[str, Version] = {}
    for version in sorted(released):
        if not version.is_prerelease and version >= Version(torches[0].version):
            newest[f"{version.major}.{version.minor}"] = Version(version.public)
    return [str(version) for name, version in newest.items() if name not in have or version > have[name]]
