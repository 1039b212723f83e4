"""Provides the TOML parser. This is rtoml, a dependency of this package, because it is ten times as
fast as Python's own parser, which is used without rtoml (as under nox).
"""

from __future__ import annotations

try:
    from rtoml import TomlParsingError as TOMLDecodeError
    from rtoml import loads
except ImportError:
    from tomllib import TOMLDecodeError, loads  # type: ignore[assignment]  # Python 3.11 or newer

__all__ = ["TOMLDecodeError", "loads"]
