from __future__ import annotations

import re
import sys
from typing import Any, ClassVar

from ...check import Check

RECOMPILES = 5


class Recompiled(Check):
    """A function that torch.compile has compiled again and again for one reason. A base class."""

    level = "warning"
    pattern: ClassVar[str] = ""  # of the reason; its group is named in the message
    message: ClassVar[str] = ""

    def ended(self) -> str | None:
        utils: Any = sys.modules.get("torch._dynamo.utils")
        if utils is None or not hasattr(utils, "get_compilation_metrics"):
            return None
        counts: dict[tuple[str, int, str], int] = {}
        names: dict[tuple[str, int, str], str] = {}
        for each in utils.get_compilation_metrics():
            reason = getattr(each, "recompile_reason", None)
            match = re.match(r"\d+/\d+: " + self.pattern, reason or "")
            file, line = getattr(each, "co_filename", None), getattr(each, "co_firstlineno", None)
            if match and file and line:
                key = file, line, match[1]
                counts[key] = counts.get(key, 0) + 1
                names[key] = each.co_name
        for (file, line, part), count in counts.items():
            if count >= RECOMPILES:
                message = self.message.format(names[file, line, part], count, part)
                self.run.report(self, message, (file, line))
        return None
