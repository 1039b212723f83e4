from __future__ import annotations

from ...check import Check
from ...events import Clip


class ClipExhaustedGenerator(Check):
    level = "error"
    change = "Pass a list of the parameters, because an iterator can be read only once"

    def clipped(self, clip: Clip) -> str | None:
        if clip.exhausted:
            return f"{clip.name}() gets an iterator that has no parameters left, and clips nothing"
        return None
