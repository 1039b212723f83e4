from __future__ import annotations

import sys
from typing import Any

from torch import nn

from ...check import Check
from ...events import Call


class ForwardCalledByName(Check):
    level = "note"
    change = "Call the model itself: model(x)"

    def called(self, call: Call) -> str | None:
        if call.parents:
            return None
        frame: Any = sys._getframe(1)
        for _ in range(12):  # from here to the caller of this module
            frame = frame.f_back
            if frame is None:
                return None
            own = frame.f_locals.get("self") if frame.f_code.co_name == "forward" else None
            if isinstance(own, nn.Module) and own is not call.module:
                if any(part is call.module for part in own.modules()):
                    return f"forward() of {self.run.facts.name_of(own)} is called by name"
        return None
