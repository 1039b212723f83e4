"""Sanitizes untrusted text, such as file names and log lines."""

from __future__ import annotations

import json
import re
from typing import Any

# Characters that control a terminal, reorder or hide text (bidi, zero width, tags), end a line for
# some readers (U+2028), or cannot be encoded as UTF-8.
_HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)

# GitHub Actions executes a line that begins with "::", and "##[" anywhere.
_COMMAND = re.compile(r"^\s*::|##\[")


def printable(text: str) -> str:
    """Escapes harmful characters in a text. Tabs and line ends are kept."""
    return _HARMFUL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def printable_line(text: str) -> str:
    r"""Like printable(), but on one line: also escapes line ends and GitHub Actions commands."""
    line = printable(text).replace("\n", r"\n")
    return _COMMAND.sub(lambda match: match[0][:-1] + f"\\x{ord(match[0][-1]):02x}", line)


def json_text(value: Any) -> str:
    """The value as JSON without GitHub Actions commands. JSON has no control characters."""
    return json.dumps(value, indent=1).replace("##[", r"\u0023#[")
