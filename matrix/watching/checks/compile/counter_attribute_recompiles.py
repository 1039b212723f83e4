from __future__ import annotations

from .shared import Recompiled


class CounterAttributeRecompiles(Recompiled):
    change = "Count in a tensor that is a buffer, or outside the compiled function"
    pattern = r"(self(?:\.\w+)+) == -?\d+\s"
    message = "{0}() was recompiled {1} times because {2} had another value"
