"""Wraps text to the width of the terminal. Text for a pipe is left unchanged."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterable
from typing import TextIO

WIDEST = 100  # columns; longer lines are hard to read
# Commands and anything in backquotes are kept on one line, so that users can copy them.
_WORD = r"--[a-z-]+|\w+/[\w./]+|ID|DIR|PATH|forum|\d[\d.]*|(?<=vendor )\w+"
_WHOLE = re.compile(rf"torch-repros [a-z]+(?: (?:{_WORD}))*|`[^`\n]+`")
_MARGIN = re.compile(r" *(?:- |\d+\. )?")  # includes a list marker


class Code(str):
    """Lines that users copy or run, which are never wrapped."""


class Prose(str):
    """Paragraphs whose line breaks are insignificant, as in a docstring."""


def width(stream: TextIO | None) -> int | None:
    """The maximum number of columns on a stream, or None if it is closed or not a terminal.

    Scripts that read the output get the same lines regardless of the window size.
    """
    return min(shutil.get_terminal_size().columns, WIDEST) if stream and stream.isatty() else None


def wrap(texts: Iterable[str], width: int | None) -> str:
    """Joins the texts, one per line. Lines that are too long continue below, indented."""
    if width is None:
        return "\n".join(texts)
    return "\n".join(line for text in texts for line in _wrapped(text, width))


def _wrapped(text: str, width: int) -> list[str]:
    if isinstance(text, Code):
        return text.split("\n")
    if isinstance(text, Prose):
        paragraphs = (" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
        return "\n\n".join(hang(paragraph, 0, width) for paragraph in paragraphs).split("\n")
    return [hang(line, _hang(line), width) for line in text.split("\n")]


def _hang(line: str) -> int:
    margin = _MARGIN.match(line)[0]  # type: ignore[index]  # it matches every line
    return len(margin) + (0 if margin.strip() else 2)


def hang(line: str, indent: int, width: int) -> str:
    """Wraps a line between words. `indent` applies to every line except the first."""
    whole = _WHOLE.sub(lambda match: match[0].replace(" ", "\0"), line)
    wrapped = textwrap.fill(
        whole,
        width,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return wrapped.replace("\0", " ")
