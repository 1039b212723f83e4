from __future__ import annotations

import weakref
from typing import Any

import torch

from ...check import Check
from ...events import Backward, node_name
from ...run import Run

TERMS = 8  # of a loss
NODES = 2000  # of a graph


class ZeroTimesOutputMovesWeights(Check):
    level = "warning"
    change = "Leave a term out of the loss if its weight is 0"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.leaves: list[Any] = []  # weak references to what only a term with a factor reaches
        self.factors: list[float] = []  # 0 for a factor of 0, else 1

    def before_backward(self, backward: Backward) -> str | None:
        self.leaves, self.factors = [], []
        if not backward.nodes:
            return None
        terms = self._terms(backward)
        if 1 < len(terms) <= TERMS and backward.complete and len(backward.nodes) < NODES:
            reached = [self._leaves(term) for term in terms]
            for index, term in enumerate(terms):
                factor = _factor(term)
                if factor is not None:
                    others = set().union(*reached[:index], *reached[index + 1 :])
                    self.ask(factor.any(), self.factors.append)
                    self.leaves += [
                        weakref.ref(leaf)
                        for leaf in backward.leaves
                        if id(leaf) in reached[index] - others
                    ]
        return None

    def before_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        alone = {id(leaf()) for leaf in self.leaves if leaf() is not None}
        for group in optimizer.param_groups:
            if group.get("weight_decay"):
                found = [p for p in group["params"] if id(p) in alone and p.grad is not None]
                if found and not any(p.grad.is_sparse for p in found):
                    name, decay = self.run.facts.name_of(found[0]), group["weight_decay"]
                    self._ask(found, name, decay)
        return None

    def _ask(self, found: list[torch.Tensor], name: str, decay: float) -> None:
        factors = self.factors
        sums = [p.grad.abs().sum().double() for p in found if p.grad is not None]
        self.ask(
            torch.stack(sums).sum(),
            lambda total: (
                f"all gradients of {name} are 0 because of a factor in the loss, but weight_decay="
                f"{decay:g} moves it"
                if total == 0 and not all(factors)
                else None
            ),
        )

    def _terms(self, backward: Backward) -> list[Any]:
        """The nodes of the terms, if the loss is a sum."""
        todo = [each.grad_fn for each in backward.tensors if each.grad_fn is not None]
        terms: list[Any] = []
        while todo and len(terms) <= TERMS:
            node = todo.pop()
            if node_name(node) == "AddBackward":
                todo += [each for each, _ in node.next_functions if each is not None]
            else:
                terms.append(node)
        return terms

    def _leaves(self, term: Any) -> set[int]:
        """The ids of the leaves that a term reaches."""
        todo, seen, found = [term], {term}, set()
        while todo:
            node = todo.pop()
            variable = getattr(node, "variable", None)
            if variable is not None:
                found.add(id(variable))
            for each, _ in node.next_functions:
                if each is not None and each not in seen:
                    seen.add(each)
                    todo.append(each)
        return found


def _factor(term: Any) -> torch.Tensor | None:
    """The constant that a term is multiplied by, or None."""
    if node_name(term) != "MulBackward" or (None, 0) not in term.next_functions:
        return None
    factor: torch.Tensor | None = (
        term._saved_other if term.next_functions[1][0] is None else term._saved_self
    )
    return factor
