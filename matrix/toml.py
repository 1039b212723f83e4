"""The TOML parser: rtoml, a dependency of this package, because it is ten times as fast. Without
rtoml, as under nox, Python's own parser.
"""

from __future__ import annotations

try:
    from rtoml import TomlParsingError as TOMLDecodeError
    from rtoml import loads
except ImportError:
    from tomllib import TOMLDecodeError, loads  # type: ignore[assignment]  # Python 3.11 or newer

__all__ = ["TOMLDecodeError", "loads"]
