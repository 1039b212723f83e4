from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from matrix import checked
from matrix.checked import key, string, strings


@dataclass
class Pot:
    plant: str = key(string)
    owner: int = 0  # not a key of the file
    sizes: tuple[float, ...] = key(strings, default=())
    labels: Mapping[str, str] = key(lambda value: None, default_factory=dict)


def test_a_key_without_a_default_is_required_and_other_fields_are_no_keys():
    assert list(checked.keys(Pot)) == ["plant", "sizes", "labels"]
    assert checked.required(Pot) == ["plant"]


@pytest.mark.parametrize(
    ("raw", "sentences"),
    [
        ({"plant": "basil"}, []),
        ({}, ["plant: missing"]),
        ({"plant": " "}, ["plant: ' ' is blank"]),
        ({"plant": 3, "sizes": "x"}, ["plant: 3 is not a string", "sizes: 'x' is not a list of strings"]),
        (
            {"plant": "basil", "plnat": "x"},
            ["plnat: unknown key; expected one of plant, sizes, labels"],
        ),
        ([], ["expected an object, found []"]),
    ],
)  # fmt: skip
def test_every_problem_is_named_with_its_key_and_value(raw, sentences):
    assert checked.sentences(Pot, raw) == sentences


def test_the_json_schema_of_a_key_follows_from_the_type_of_its_field():
    assert checked.json_schema(Pot) == {
        "plant": {"type": "string"},
        "sizes": {"type": "array", "items": {"type": "number"}},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    }


@pytest.mark.parametrize(
    ("check", "value", "problem"),
    [
        (checked.version, "2.4.1", None),
        (checked.version, "two", "is not a PEP 440 version"),
        (checked.version, 2, "is not a PEP 440 version"),
        (checked.specifier, ">=3.8,<3.12", None),
        (checked.specifier, "3.8 on", "is not a PEP 440 specifier"),
        (checked.specifier, 3, "is not a PEP 440 specifier"),
    ],
)
def test_versions_and_specifiers_are_those_of_pep_440(check, value, problem):
    assert check(value) == problem
