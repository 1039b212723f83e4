"""TOML: tomli where it is installed, as with this package (compiled, five times as fast); else
Python's own, as under nox.
"""

from __future__ import annotations

try:
    from tomli import TOMLDecodeError, loads
except ImportError:
    from tomllib import TOMLDecodeError, loads  # type: ignore[assignment]  # Python 3.11 or newer

__all__ = ["TOMLDecodeError", "loads"]
