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
                shared = [m for m in held if sum(m is each for each in held) > 1]
                if shared and not _has_a_name(shared[0], module, call.module):
                    return f"{self.run.facts.name_of(module)} holds the same layer several times"
        return None


def _has_a_name(layer: nn.Module, container: nn.Module, model: nn.Module) -> bool:
    """True if the model also holds the layer outside of the container: it is shared on purpose."""
    return any(
        layer is each
        for part in model.modules()
        if part is not container
        for each in part.children()
    )
