"""The TOML parser: rtoml if it is installed, as it is with this package, because it is ten times as
fast. Else Python's own, as under nox.
"""

from __future__ import annotations

try:
    from rtoml import TomlParsingError as TOMLDecodeError
    from rtoml import loads
except ImportError:
    from tomllib import TOMLDecodeError, loads  # type: ignore[assignment]  # Python 3.11 or newer

__all__ = ["TOMLDecodeError", "loads"]
