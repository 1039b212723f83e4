"""FAMILY/NAME.py contains the rule for a reproducer. FAMILY/shared.py contains shared helpers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from ..code import Code, Hit

Function = TypeVar("Function", bound=Callable[[Code], Iterator[Hit]])


def needs(*words: str) -> Callable[[Function], Function]:
    """Limits a rule to files that contain all of these words; "a|b" means either word."""

    def mark(rule: Function) -> Function:
        rule.words = [group.split("|") for group in words]  # type: ignore[attr-defined]
        return rule

    return mark
