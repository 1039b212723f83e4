import re

import pytest

from matrix import mutants


def score(family="amp", dead=99, survivors=(), total=100, left=0):
    return mutants.Score(family, total, dead, left, [mutants.Survivor(*survivor) for survivor in survivors])


ALIVE = ("amp", "f", "- a\n+ b")


@pytest.mark.parametrize(
    ("scores", "reasons", "text"),
    [
        ([score()], {}, None),
        ([score(survivors=[ALIVE])], {ALIVE: "because"}, None),
        ([score(dead=94)], {}, "amp: 94.0% of the mutants die; at least 95% must"),
        ([score(survivors=[ALIVE])], {}, 'survivor without a reason in tests/survivors.toml:\n\n[[survivor]]\nfamily = "amp"'),
        ([score()], {ALIVE: "because"}, "no such survivor (any more): amp.f"),
        ([score(family="rnn")], {ALIVE: "because"}, None),  # amp was not run
    ],
)
def test_what_is_red_is_said(scores, reasons, text):
    found = mutants.complaints(scores, reasons)
    assert (found == []) if text is None else (len(found) == 1 and text in found[0])


def test_context_managers_are_decorated_after_they_are_defined_so_that_they_are_mutated_too():
    text = (mutants.ROOT / "reference_fixes" / "rnn.py").read_text(encoding="utf-8")
    changed = mutants._undecorated(text)
    assert changed.count("contextlib.contextmanager(") == text.count("@contextlib.contextmanager")
    assert "@contextlib.contextmanager" not in changed
    names = {}
    exec(compile(changed, "rnn.py", "exec"), names)
    with names["without_cudnn"]():
        pass


def test_a_family_starts_anew_only_when_its_fix_or_its_tests_changed(tmp_path, monkeypatch):
    monkeypatch.setattr(mutants, "STATE", tmp_path)
    monkeypatch.setattr(mutants, "version", lambda package: "3")
    folder = mutants.prepare("rnn")
    (folder / "result").touch()
    assert (mutants.prepare("rnn") / "result").is_file()
    monkeypatch.setattr(mutants, "version", lambda package: "4")
    assert not (mutants.prepare("rnn") / "result").is_file()
    assert (folder / "tests" / "test_rnn.py").is_file()


def test_the_table_in_the_docs_has_every_family_above_the_least_and_every_survivor_with_its_reason():
    table = mutants.TABLE.read_text(encoding="utf-8")
    found = dict(re.findall(r"^\| (\w+) \| \d+ \| \d+ \| ([\d.]+)% \|", table, re.MULTILINE))
    assert set(found) == set(mutants.families())
    assert all(float(value) >= 100 * mutants.LEAST for value in found.values())
    for entry in mutants._survivors_file():
        assert len(entry["reason"]) > 10
        assert f"{entry['change']}\n```\n\n{entry['reason']}" in table
