"""Wraps text to the width of a terminal. Text for a pipe is left unchanged."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterable
from typing import TextIO

WIDEST = 100  # columns; a longer line is hard to read
# Kept on one line so that users can copy them: commands and anything in backquotes.
_WORD = r"--[a-z-]+|\w+/[\w./]+|ID|DIR|PATH|forum|\d[\d.]*|(?<=vendor )\w+"
_WHOLE = re.compile(rf"torch-repros [a-z]+(?: (?:{_WORD}))*|`[^`\n]+`")
_MARGIN = re.compile(r" *(?:- |\d+\. )?")  # includes a list marker


class Code(str):
    """Lines that users copy or run, which are never wrapped."""


class Prose(str):
    """Paragraphs with insignificant line breaks, such as the paragraphs of a docstring."""


def width(stream: TextIO | None) -> int | None:
    """The maximum number of columns on this stream. None if it is closed or not a terminal.

    A script that reads the output gets the same lines regardless of the window size.
    """
    return min(shutil.get_terminal_size().columns, WIDEST) if stream and stream.isatty() else None


def wrap(texts: Iterable[str], width: int | None) -> str:
    """The texts, one per line. A line that is too long continues below, indented."""
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
    """The line, wrapped between words. `indent` applies to every line except the first."""
    whole = _WHOLE.sub(lambda match: match[0].replace(" ", "\0"), line)
    wrapped = textwrap.fill(
        whole,
        width,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return wrapped.replace("\0", " ")
