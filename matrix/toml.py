"""TOML: rtoml where it is installed, as with this package (compiled, ten times as fast); else
Python's own, as under nox.
"""

from __future__ import annotations

try:
    from rtoml import TomlParsingError as TOMLDecodeError
    from rtoml import loads
except ImportError:
    from tomllib import TOMLDecodeError, loads  # type: ignore[assignment]  # Python 3.11 or newer

__all__ = ["TOMLDecodeError", "loads"]
