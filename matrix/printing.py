"""Text from outside as a terminal and a CI log may show it."""

from __future__ import annotations

import re
import unicodedata

# Control characters, those without width or that turn the direction of writing, surrogates, and
# the two that separate lines and paragraphs.
_UNPRINTABLE = ("Cc", "Cf", "Cs", "Zl", "Zp")
# GitHub Actions obeys a line that begins with "::", and "##[" anywhere.
_COMMAND = re.compile(r"^\s*::|##\[")


def printable(text: str) -> str:
    r"""The text on one line, with an escape such as \x1b for each character that would hide
    something or steer the reader's terminal, and with nothing that GitHub takes for a command.
    """
    if not (text.isascii() and text.isprintable()):  # most are
        text = "".join(map(_escaped, text))
    return _COMMAND.sub(lambda match: match[0][:-1] + f"\\x{ord(match[0][-1]):02x}", text)


def _escaped(character: str) -> str:
    if character == "\t" or unicodedata.category(character) not in _UNPRINTABLE:
        return character
    return character.encode("unicode_escape").decode()
