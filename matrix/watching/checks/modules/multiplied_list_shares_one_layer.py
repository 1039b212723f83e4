from __future__ import annotations

from torch import nn

from ...check import Check
from ...events import Call


class MultipliedListSharesOneLayer(Check):
    level = "warning"
    change = "Create each layer: nn.ModuleList([make() for _ in range(n)])"

    def called(self, call: Call) -> str | None:
        if call.parents:
            return None
        for module in call.module.modules():
            if isinstance(module, (nn.ModuleList, nn.Sequential)):
                held = [m for m in module if next(m.parameters(), None) is not None]
                if len({id(m) for m in held}) < len(held):
                    return f"{self.run.facts.name_of(module)} holds the same layer several times"
        return None
