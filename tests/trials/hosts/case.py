"""Defines a case, and the small training run of most cases: five batches in windows of two."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch
from torch import nn

SIZE, MAX_NORM = 2, 0.5  # batches per step, and a norm that most of these gradients exceed

Batch = tuple[torch.Tensor, torch.Tensor]


class Differs(Exception):
    """Raised if the result of a case differs from the promised result."""


@dataclass(frozen=True)
class Case:
    host: str
    fixes: str  # "amp.windows, amp.optimizer_step"
    promise: str
    alone: str  # the behavior of the host without the fixes; "" if not checked
    run: Callable[[], None]


CASES: list[Case] = []


def case(
    host: str, fixes: str, promise: str, alone: str = ""
) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Adds the decorated function to CASES. The function imports its host and may raise Differs."""

    def add(run: Callable[[], None]) -> Callable[[], None]:
        CASES.append(Case(host, fixes, promise, alone, run))
        return run

    return add


def expect(fact: Any, otherwise: str) -> None:
    if not fact:
        raise Differs(otherwise)


def same(what: str, found: Any, expected: Any, tolerance: float = 1e-5) -> None:
    """Raises Differs unless the tensors, or structures of tensors, are equal up to rounding."""
    try:
        torch.testing.assert_close(
            found, expected, atol=tolerance, rtol=tolerance, check_dtype=False
        )
    except AssertionError as error:
        raise Differs(f"{what}: {' '.join(str(error).split())}") from error


def raised(function: Callable[[], object]) -> str:
    """The type and text of the exception that the function raises, or ""."""
    try:
        function()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


# ---- the training ----


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))


class Reader(nn.Module):
    """An LSTM with dropout and a linear head, whose output differs between train and eval mode."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.lstm = nn.LSTM(4, 8, num_layers=2, dropout=0.5, batch_first=True)
        self.head = nn.Linear(8, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.lstm(x)[0][:, -1])


def sequence() -> torch.Tensor:
    return torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(2))


def eval_gradient(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """The gradient of the summed output with respect to x, computed by torch alone in eval mode."""
    training = model.training
    leaf = x.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model.eval()(leaf).sum(), leaf)
    model.train(training)
    return gradient


def sgd(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def batches(bad: int | None = None) -> list[Batch]:
    """Five batches of three rows; batch number `bad` has an inf."""
    generator = torch.Generator().manual_seed(1)
    rows = [
        (torch.randn(3, 4, generator=generator), torch.randn(3, 1, generator=generator))
        for _ in range(5)
    ]
    if bad is not None:
        rows[bad][0][0, 0] = torch.inf
    return rows


def mean_loss(model: nn.Module, batch: Batch) -> torch.Tensor:
    return nn.functional.mse_loss(model(batch[0]), batch[1])


def weights(model: nn.Module) -> torch.Tensor:
    values = [parameter.detach() for parameter in model.parameters()]
    # FSDP2 spreads parameters over the ranks
    whole = [value.full_tensor() if hasattr(value, "full_tensor") else value for value in values]
    return torch.cat([value.flatten() for value in whole])


def modes(model: nn.Module) -> list[bool]:
    return [module.training for module in model.modules()]


def plain(
    batches: Iterable[Batch], size: int = 1, max_norm: float = MAX_NORM, make: Any = sgd
) -> torch.Tensor:
    """The weights after an epoch in plain torch, with all rows of a window in one batch."""
    model, rest = network(), iter(batches)
    optimizer = make(model)
    while window := list(islice(rest, size)):
        x, y = (torch.cat(parts) for parts in zip(*window))
        if not bool(x.isfinite().all()):
            continue
        optimizer.zero_grad()
        mean_loss(model, (x, y)).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
    return weights(model)


def moments(optimizer: torch.optim.Optimizer) -> Sequence[torch.Tensor]:
    return [
        value.clone()
        for state in optimizer.state.values()
        for value in state.values()
        if isinstance(value, torch.Tensor)
    ]
