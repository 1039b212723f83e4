from pathlib import Path

import pytest

from matrix import catalog
from tests.trials import changes
from tests.trials.changes import Change

FAMILIES = catalog.fixes()


@pytest.mark.parametrize("family", FAMILIES)
def test_every_change_can_be_made(family: str) -> None:
    source = (catalog.FIXES / f"{family}.py").read_text(encoding="utf-8")
    listed = changes.load(family)
    for change in listed:
        assert change.apply(source) != source
    assert len({(change.before, change.after) for change in listed}) == len(listed)


@pytest.mark.parametrize(("source", "count"), [("x = 2\n", 0), ("x = 1\nx = 1\n", 2)])
def test_lines_that_are_not_there_once_are_an_error(source: str, count: int) -> None:
    with pytest.raises(ValueError, match=f"in amp.py {count} times"):
        Change("amp", "one", "x = 1", "x = 3").apply(source)


def test_a_change_that_is_no_python_is_an_error() -> None:
    with pytest.raises(SyntaxError):
        Change("amp", "one", "x = 1", "x = (").apply("x = 1\n")


def test_a_key_that_is_missing_or_unknown_is_an_error(tmp_path: Path) -> None:
    entry = "[[change]]\npromise = 'a'\nbefore = 'b'\n"
    for text in (entry, f"{entry}after = 'c'\nwhy = 'd'\n"):
        (tmp_path / "amp.toml").write_text(text)
        with pytest.raises(ValueError, match="amp.toml: change 1: expected after, before, promise"):
            changes.load("amp", tmp_path)
    assert changes.load("rnn", tmp_path) == []


def test_a_survivor_needs_a_reason_and_a_reason_its_survivor() -> None:
    bare, explained = Change("amp", "one", "a", "b"), Change("amp", "two", "c", "d", "equal")
    assert changes.problems([bare, explained], [explained]) == []
    (problem,) = changes.problems([bare, explained], [bare, explained])
    assert problem.startswith("survives: amp: one")
    (problem,) = changes.problems([bare, explained], [])
    assert problem == "does not survive, so it needs no reason: amp: two"


@pytest.mark.parametrize(("after", "alive"), [("return 2  # two", True), ("return 3", False)])
def test_a_change_survives_when_the_tests_of_its_family_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: str, alive: bool
) -> None:
    fixes, tests = tmp_path / "fixes", tmp_path / "tests"
    fixes.mkdir()
    tests.mkdir()
    (fixes / "amp.py").write_text("def two():\n    return 2\n")
    (tests / "test_amp.py").write_text(
        "import runpy, sys\n\n\ndef test_two(request):\n"
        "    fix = request.config.getoption('--fixes') + '/amp.py'\n"
        "    assert runpy.run_path(fix)['two']() == 2\n"
    )
    (tests / "conftest.py").write_text(
        "def pytest_addoption(parser):\n    parser.addoption('--fixes')\n"
    )
    monkeypatch.setattr(catalog, "FIXES", fixes)
    monkeypatch.setattr(catalog, "TESTS", tests)
    monkeypatch.setattr(changes, "ROOT", tmp_path)
    change = Change("amp", "two() is 2", "return 2", after)
    assert changes.measure([change], 1) == ([change] if alive else [])
