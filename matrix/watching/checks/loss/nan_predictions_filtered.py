from __future__ import annotations

from typing import Any

from ...events import Backward, Call, node_name, tensors
from ...run import Run
from ..numerics.shared import HIDING, PRODUCTS, NanGradient, inputs_of, is_readable, is_singular

FILTERS = (*HIDING, "IndexBackward", "IndexSelectBackward", "MaskedSelectBackward")


class NanPredictionsFiltered(NanGradient):
    change = "Filter the rows of the input before the model, not the predictions"
    message = "the gradient of {} is NaN although the loss of the filtered predictions is finite"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.reads_inputs = False  # True if the program calls a model
        self.nan_inputs = 0.0  # NaN in the inputs of models, in the last sampled step

    def called(self, call: Call) -> str | None:
        if not call.parents and call.grad:
            for value in tensors(call.args):
                if is_readable(value):
                    self.reads_inputs = True
                    self.ask(value.isnan().sum(), self._remember)
        return None

    def _remember(self, count: float) -> None:
        self.nan_inputs = count or self.nan_inputs

    def _judge(self, values: list[float], references: list[Any]) -> str | None:
        count, self.nan_inputs = self.nan_inputs, 0.0
        return super()._judge(values, references) if count or not self.reads_inputs else None

    def cause(self, backward: Backward) -> bool:
        if any(map(is_singular, backward.nodes)):
            return False
        return any(
            node_name(each) in PRODUCTS
            for node in backward.named(*FILTERS)
            for each in inputs_of(node, 6)
        )
