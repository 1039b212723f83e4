"""Tests reading and checking torches.toml."""

import sys

import pytest
from packaging.version import Version

from matrix import torches

GOOD = """\
[[torch]]
version = "2.4.1"
python = ">=3.8"

[[torch]]
version = "2.10.0"
python = ">=3.10"
numpy = "<3"
"""


@pytest.fixture
def listed(tmp_path):
    def write(text):
        path = tmp_path / "torches.toml"
        path.write_text(text)
        return path

    return write


def test_releases_are_read_oldest_first(listed):
    older, newer = torches.load(listed(GOOD))
    assert (older.version, older.minor, newer.minor) == ("2.4.1", "2.4", "2.10")
    assert newer.requirements == ["torch==2.10.0", "numpy<3", "setuptools"]


def test_the_projects_own_releases_are_in_order():
    versions = [Version(torch.version) for torch in torches.load()]
    assert versions == sorted(set(versions))
    assert len({torch.minor for torch in torches.load()}) == len(versions)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[torch]\n", "not TOML"),
        ("", "no [[torch]] entry"),
        ('[[torch]]\npython = ">=3.8"\n', "entry 1 (no version): version: missing"),
        ('[[torch]]\nversion = "2.4.1"\n', "entry 1 (2.4.1): python: missing"),
        (
            '[[torch]]\nversion = "two"\npython = ">=3.8"\n',
            "version: 'two' is not a PEP 440 version",
        ),
        (
            '[[torch]]\nversion = "2.4.1"\npython = "3.8 on"\n',
            "python: '3.8 on' is not a PEP 440 specifier",
        ),
        ('[[torch]]\nversion = "2.4.1"\npython = ">=9"\n', "python = '>=9' admits no interpreter"),
        (
            '[[torch]]\nversion = "2.4.1"\npython = ">=3.8"\nnunpy = "<2"\n',
            "nunpy: unknown key; expected one of version, python, numpy",
        ),
        (
            GOOD + '[[torch]]\nversion = "2.9.0"\npython = ">=3.8"\n',
            "2.9.0 after 2.10.0: expected one entry per minor, oldest first",
        ),
        (
            GOOD + '[[torch]]\nversion = "2.10.1"\npython = ">=3.8"\n',
            "2.10.1 after 2.10.0: expected one entry per minor",
        ),
    ],
)
def test_a_bad_entry_is_named(listed, text, message):
    with pytest.raises(torches.TorchesError) as error:
        torches.load(listed(text))
    assert message in str(error.value)


def test_torches_are_found_by_minor_or_by_version(listed):
    both = torches.load(listed(GOOD))
    assert torches.find(both, ("2.10", "2.4.1")) == both
    assert torches.find(both, ()) == both
    with pytest.raises(
        torches.TorchesError, match=r"no torch 2\.5 in torches\.toml; it has 2\.4, 2\.10"
    ):
        torches.find(both, ("2.5", "2.4"))


def test_an_interpreter_is_chosen_that_has_wheels():
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert torches.Torch("2.4.1", ">=3.8").interpreter() == here
    assert torches.Torch("0.1", "<3.9,>=3.7").interpreter() == "3.8"


def test_a_span_names_a_gap():
    releases = [torches.Torch(f"2.{number}.0", ">=3.8") for number in range(5)]
    assert torches.span(["2.1", "2.2", "2.3"], releases) == "2.1 to 2.3"
    assert torches.span(["2.1", "2.3", "2.4"], releases) == "2.1, 2.3, 2.4"
    assert torches.span(["2.0", "2.2", "2.3", "2.4"], releases) == "2.0, 2.2 to 2.4"
