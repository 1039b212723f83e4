from __future__ import annotations

from .shared import NewTensor


class RewrappedInATensor(NewTensor):
    level = "error"
    change = "Call backward() on the computed loss itself, without torch.tensor(loss)"

    def judge(self, value: float) -> str | None:
        if value:
            return f"backward() of {value:.3g}, a new tensor without a graph, reaches no parameter"
        return None
