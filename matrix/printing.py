"""Makes text from elsewhere harmless, such as the names of files and the lines of a log."""

from __future__ import annotations

import re

# Characters that a terminal obeys (control characters), that reorder or hide text (bidi, zero
# width, tags), that end a line for some readers (U+2028), or that cannot be written as UTF-8.
_HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)

# GitHub Actions obeys a line that begins with "::", and "##[" anywhere.
_COMMAND = re.compile(r"^\s*::|##\[")


def printable(text: str) -> str:
    """The text with harmful characters escaped. Tabs and line ends stay."""
    return _HARMFUL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def printable_line(text: str) -> str:
    r"""The text on one line. Line ends are escaped too, and so are commands of GitHub Actions."""
    line = printable(text).replace("\n", r"\n")
    return _COMMAND.sub(lambda match: match[0][:-1] + f"\\x{ord(match[0][-1]):02x}", line)
