"""Supports dataclasses whose fields are the keys of a file, each with a check.

A check returns None if a value is valid. Otherwise, it returns a description of the problem that
completes the sentence "KEY: VALUE ...".
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, field, fields
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

Check = Callable[[Any], "str | None"]
Problems = list[tuple[str, str]]  # (key, problem)

_JSON_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number"}


def key(
    check: Check, *, default: Any = MISSING, default_factory: Any = MISSING, **metadata: Any
) -> Any:
    """Defines a field that is a key of the file. A key without a default is required."""
    metadata["check"] = check
    if default_factory is not MISSING:
        return field(default_factory=default_factory, metadata=metadata)
    return field(default=default, metadata=metadata)


@cache
def keys(kind: type) -> dict[str, Field[Any]]:
    """The fields that key() defined."""
    return {item.name: item for item in fields(kind) if "check" in item.metadata}


@cache
def required(kind: type) -> list[str]:
    return [
        name
        for name, item in keys(kind).items()
        if item.default is MISSING and item.default_factory is MISSING
    ]


@cache
def _checks(kind: type) -> dict[str, Check]:
    return {name: item.metadata["check"] for name, item in keys(kind).items()}


def problems(kind: type, raw: Any) -> Problems:
    """Returns the problems in a parsed object that should have the keys of `kind`."""
    if not isinstance(raw, dict):
        return [("", f"expected an object, found {reprlib.repr(raw)}")]
    checks = _checks(kind)
    wrong = [(name, "missing") for name in required(kind) if name not in raw]
    for name, value in raw.items():
        if name not in checks:
            wrong.append((name, f"unknown key; expected one of {', '.join(checks)}"))
        elif problem := checks[name](value):
            wrong.append((name, f"{reprlib.repr(value)} {problem}"))
    return wrong


def sentences(kind: type, raw: Any) -> list[str]:
    """The same problems, each as "KEY: PROBLEM"."""
    return [f"{name}: {problem}" if name else problem for name, problem in problems(kind, raw)]


def json_schema(kind: type) -> dict[str, Any]:
    """Maps each key to its JSON Schema, which is derived from the type of the field."""
    types = get_type_hints(kind)
    return {name: _schema(types[name]) for name in keys(kind)}


def _schema(annotation: Any) -> dict[str, Any]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is None:
        return {"type": _JSON_TYPES[annotation]}
    if issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema(arguments[1])}
    return {"type": "array", "items": _schema(arguments[0])}


# --- checks that several files use ----------------------------------------------------------------


def string(value: Any) -> str | None:
    if not isinstance(value, str):
        return "is not a string"
    return None if value.strip() else "is blank"


def strings(value: Any) -> str | None:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return "is not a list of strings"
    return None if all(map(str.strip, value)) else "has a blank string"


def version(value: Any) -> str | None:
    try:
        Version(value)
    except (InvalidVersion, TypeError):
        return "is not a PEP 440 version"
    return None


def specifier(value: Any) -> str | None:
    try:
        SpecifierSet(value)
    except (InvalidSpecifier, TypeError, AttributeError):
        return "is not a PEP 440 specifier"
    return None
