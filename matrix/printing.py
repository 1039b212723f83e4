"""Text from elsewhere, made harmless: the names of files, the lines of a log."""

from __future__ import annotations

import re

# What a terminal obeys (control characters), what reorders or hides text (bidi, zero width, tags),
# what ends a line for some readers (U+2028), and what cannot be written as UTF-8.
_HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)

# GitHub Actions obeys a line that begins with "::", and "##[" anywhere.
_COMMAND = re.compile(r"^\s*::|##\[")


def printable(text: str) -> str:
    """The text with escapes for what does harm where it is printed; tabs and line ends stay."""
    return _HARMFUL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def printable_line(text: str) -> str:
    r"""The text on one line, with an escape for each line end too, and with nothing that GitHub
    takes for a command.
    """
    line = printable(text).replace("\n", r"\n")
    return _COMMAND.sub(lambda match: match[0][:-1] + f"\\x{ord(match[0][-1]):02x}", line)
