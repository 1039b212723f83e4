"""Turns message patterns into readable messages."""

from __future__ import annotations

import re
from typing import Any

try:
    from re import _constants as code  # type: ignore[attr-defined]
    from re import _parser as parser  # type: ignore[attr-defined]
except ImportError:  # Python 3.10
    import sre_constants as code  # type: ignore[no-redef]
    import sre_parse as parser

GAP = "…"  # represents text that varies
_EMPTY = (code.AT, code.ASSERT, code.ASSERT_NOT)
_REPEATS = (code.MAX_REPEAT, code.MIN_REPEAT)


def readable(pattern: str) -> str:
    """A text that matches the pattern, with N for numbers and … for text that varies."""
    text = _text(parser.parse(pattern))
    text = re.sub(
        r"^([^\s']+)'(?=\s)", r"'\1'", text
    )  # patterns may begin or end inside a quotation
    text = re.sub(r"(?<=\s)'(\w+)$", r"'\1'", text)
    return re.sub(f" ?{GAP}(?:[ {GAP}]*{GAP})? ?", _spaced, text).strip()


def _spaced(gap: re.Match[str]) -> str:
    return f"{' ' if gap[0].startswith(' ') else ''}{GAP}{' ' if gap[0].endswith(' ') else ''}"


def _text(tokens: Any) -> str:
    return "".join(_token(*token) for token in tokens)


def _token(kind: Any, value: Any) -> str:
    if kind is code.LITERAL:
        return chr(value)
    if kind is code.ANY:
        return "'"  # a dot matches quotation marks, which differ between versions
    if kind is code.SUBPATTERN:
        return _text(value[-1])
    if kind is code.BRANCH:
        return _text(value[1][0])
    if kind in _REPEATS:
        return _repeated(*value)
    if kind is code.IN:
        return _one_of(value)
    return "" if kind in _EMPTY else GAP


def _repeated(least: int, most: int, tokens: Any) -> str:
    (kind, value), *others = tokens
    if kind is code.ANY and most > 1:
        return GAP
    if not least and (others or kind is code.SUBPATTERN or value == ord("-")):
        return ""  # only some versions print this part
    once = _text(tokens)
    return once if once in ("N", " ", GAP) else once * max(least, 1)


def _one_of(choices: Any) -> str:
    if choices[0][0] is code.NEGATE:
        return GAP
    if choices == [(code.CATEGORY, code.CATEGORY_DIGIT)]:
        return "N"
    if choices == [(code.CATEGORY, code.CATEGORY_SPACE)]:
        return " "
    # the alternatives of "[Tt]ensor" differ only in case
    return chr(choices[0][1]) if all(kind is code.LITERAL for kind, _ in choices) else GAP
