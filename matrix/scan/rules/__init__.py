"""FAMILY/NAME.py is the rule of that reproducer; FAMILY/shared.py has what several rules use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from ..code import Code, Hit

Function = TypeVar("Function", bound=Callable[[Code], Iterator[Hit]])


def needs(*words: str) -> Callable[[Function], Function]:
    """A rule is asked only about files that have all of these words; "a|b": one of both."""

    def mark(rule: Function) -> Function:
        rule.words = [group.split("|") for group in words]  # type: ignore[attr-defined]
        return rule

    return mark
