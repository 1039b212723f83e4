"""Messages that have several causes, with a check that tells each apart, read from causes.toml."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from . import toml
from .catalog import Reproducer

CAUSES = Path(__file__).with_name("causes.toml")
KEYS = {"title", "keywords", "causes", "cause", "check", "see"}


@cache
def load() -> list[dict[str, Any]]:
    """The groups: {"title", "keywords", "causes": [{"cause", "check", "see"}]}, likeliest cause
    first; "keywords", the symptom in users' words, and "see", an id, are optional.
    """
    groups: list[dict[str, Any]] = toml.loads(CAUSES.read_text(encoding="utf-8"))["message"]
    return groups


def problems(reproducers: list[Reproducer]) -> list[str]:
    """What is wrong with causes.toml: unknown keys and ids, an id in two groups, a message that
    several reproducers share outside of a group.
    """
    wrong = []
    reproducers = [reproducer for reproducer in reproducers if reproducer.is_current]
    known = {reproducer.id for reproducer in reproducers}
    group_of: dict[str, str] = {}
    for group in load():
        keys = {*group, *(key for cause in group["causes"] for key in cause)} - KEYS
        if keys:
            wrong.append(f"{CAUSES}:1: {group['title']!r}: no such key: {', '.join(sorted(keys))}")
        words = group.get("keywords", [])
        if not isinstance(words, list) or not all(isinstance(one, str) and one for one in words):
            wrong.append(f"{CAUSES}:1: {group['title']!r}: keywords: not a list of phrases")
        for cause in group["causes"]:
            if not cause.get("cause") or not cause.get("check"):
                wrong.append(f"{CAUSES}:1: {group['title']!r}: a cause without `cause` or `check`")
            see = cause.get("see")
            if see is None:
                continue
            if see not in known:
                wrong.append(
                    f"{CAUSES}:1: {group['title']!r}: no reproducer {see!r}, or a retired one"
                )
            if see in group_of:
                both = f"{group_of[see]!r} and {group['title']!r}"
                wrong.append(f"{CAUSES}:1: {see!r} is listed under both {both}")
            group_of[see] = group["title"]
    sharing: dict[str, list[str]] = {}
    for reproducer in reproducers:
        for pattern in reproducer.texts:
            sharing.setdefault(pattern, []).append(reproducer.id)
    for pattern, ids in sharing.items():
        groups = {group_of.get(id) for id in ids}
        if len(ids) > 1 and (None in groups or len(groups) > 1):
            names = ", ".join(ids)
            wrong.append(f"{CAUSES}:1: {names} share {pattern!r} and are not in one group")
    return wrong
