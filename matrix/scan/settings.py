"""Reads the section [tool.torch-repros.scan] in a project's pyproject.toml."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from .. import checked, toml
from ..checked import key, strings


class SettingsError(Exception):
    """An invalid setting. The message names the file, the key and the problem."""


@dataclass
class Settings:
    # the ids and families to look for; all if empty
    select: tuple[str, ...] = key(strings, default=())
    ignore: tuple[str, ...] = key(strings, default=())  # the ids and families not to look for
    exclude: tuple[str, ...] = key(strings, default=())  # globs for files and folders to skip
    folder: Path | None = field(default=None, compare=False)  # globs are relative to this folder


def load(folder: Path) -> Settings:
    """The settings in the nearest pyproject.toml, here or in a parent. Raises SettingsError."""
    for above in [folder, *folder.parents]:
        file = above / "pyproject.toml"
        if file.is_file():
            return _read(file)
    return Settings()


def _read(file: Path) -> Settings:
    try:
        table = toml.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, toml.TOMLDecodeError) as error:
        raise SettingsError(f"{file}: cannot be read: {error}") from None
    section: object = table
    for name in ("tool", "torch-repros", "scan"):
        section = section.get(name, {}) if isinstance(section, dict) else None
    if not isinstance(section, dict):
        raise SettingsError(f"{file}: [tool.torch-repros.scan] is not a table")
    for sentence in checked.sentences(Settings, section):
        raise SettingsError(f"{file}: {sentence}")
    return Settings(**{name: tuple(value) for name, value in section.items()}, folder=file.parent)
