from __future__ import annotations

import weakref
from collections import OrderedDict
from typing import Any

import torch

from ...check import Check
from ...events import Function
from ...run import Run


class BestStateIsAnAlias(Check):
    level = "error"
    change = "Keep copy.deepcopy(model.state_dict())"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        # Weak references to the states that the program keeps, and to their modules.
        self.kept: list[tuple[Any, Any]] = []
        self.stepped: list[tuple[Any, Any]] = []  # those that are older than the last step

    def state_read(self, module: torch.nn.Module, state: Any) -> str | None:
        if isinstance(state, OrderedDict):
            self.kept = [*self.kept[-3:], (weakref.ref(state), weakref.ref(module))]
        return None

    def each_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        if self.kept:
            self.stepped = [each for each in self.stepped + self.kept if each[0]() is not None][-8:]
            self.kept = []
        return None

    def loaded(self, module: torch.nn.Module, state: Any, result: Any) -> str | None:
        return self._judge("loaded", [state], module)

    def saved(self, obj: Any) -> str | None:
        return self._judge("saved", [obj, *(obj.values() if isinstance(obj, dict) else ())])

    def method(self, method: Function) -> str | None:
        if self.stepped and method.name == "item":
            return self._judge("read", [method.arguments["input"]])
        return None

    def _judge(self, verb: str, used: list[Any], target: Any = None) -> str | None:
        for reference, owner in self.stepped:
            state, module = reference(), owner()
            if state is None or module is None or target not in (None, module):
                continue  # a second model may follow the first on purpose
            if any(each is state or (verb == "read" and self._has(state, each)) for each in used):
                own = dict(module.named_parameters())
                if any(self._is_same(own[name], state.get(name)) for name in own):
                    return (
                        f"a state of {self.run.facts.name_of(module)} is {verb}, although each step"
                        " has changed it since state_dict() returned it"
                    )
        return None

    def _has(self, state: Any, tensor: Any) -> bool:
        return any(value is tensor for value in state.values())

    def _is_same(self, parameter: torch.Tensor, other: Any) -> bool:
        return (
            isinstance(other, torch.Tensor)
            and parameter.numel() > 0
            and parameter.device == other.device
            and parameter.data_ptr() == other.data_ptr()
        )
