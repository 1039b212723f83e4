"""Tests the rows of verdicts, the messages of a worker, and how outcomes become a verdict."""

import re
import time
from pathlib import Path

import pytest

from matrix import catalog, verdicts
from tests.harness.helpers import RETURNS, plant

HARNESS = Path(verdicts.__file__).parent


def outcome(value=None, **message):
    return verdicts.checked({"outcome": "returned", "value": value, "wall": 1.0, **message})


@pytest.fixture
def reproducer(root):
    plant(root, "planted/one", RETURNS.format("boom"))
    return catalog.load(root)[0]


def judged(reproducer, reproduce, control=None, popular_fix=(), right=(), messages=()):
    result = verdicts.Result(reproducer.id, "cpu", "unavailable", "reproduced")
    roles = {
        "reproduce": reproduce,
        "control": control or [outcome() for _ in reproduce],
        "right": list(right),
        "messages": list(messages),
        "popular_fix": list(popular_fix),
    }
    verdicts.judge(reproducer, result, roles)
    return result


def test_no_other_module_lists_the_verdicts():
    """Adding a verdict requires only a new row."""
    for path in HARNESS.rglob("*.py"):
        if path.name != "verdicts.py":
            code = re.sub(r'""".*?"""|#.*', "", path.read_text(encoding="utf-8"), flags=re.S)
            spelled = [name for name in verdicts.VERDICTS if f'"{name}"' in code]
            assert len(spelled) < 4, path


@pytest.mark.parametrize("value", [{"a": 1}, 7, 1.5, True, ["boom"], []])
def test_a_value_that_is_not_text_is_the_outcome_not_text(value):
    checked = outcome(value)
    assert checked["outcome"] == "not text"
    assert checked["value"] is None
    assert checked["detail"] == f"returned {value!r}; expected text or None"


@pytest.mark.parametrize("detail", [None, 3, {"a": 1}, "x" * 50_000, "\ud800"])
@pytest.mark.parametrize("ending", [None, 3, [], "fine", "raised", "signal"])
def test_any_message_becomes_a_valid_outcome(ending, detail):
    checked = verdicts.checked(
        {"outcome": ending, "detail": detail, "seconds": "x", "peak_mib": -1}
    )
    assert checked["outcome"] in verdicts.ENDINGS
    assert len(checked["detail"]) < 21_000
    assert checked["detail"] == checked["detail"].encode().decode()
    assert checked["seconds"] == checked["peak_mib"] == checked["wall"] == 0.0


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -1, "1", None, 10**400])
def test_a_number_that_is_none_counts_as_zero(number):
    assert outcome(peak_mib=number)["peak_mib"] == 0.0


def test_a_role_takes_no_longer_than_its_run():
    assert outcome(seconds=0.5)["seconds"] == 0.5
    assert outcome(seconds=7)["seconds"] == outcome()["wall"] == 1.0


def test_texts_are_bounded_with_a_mark_and_lone_surrogates_are_escaped():
    assert outcome("a\ud800b\U0001f525")["value"] == "a\\ud800b\U0001f525"
    long = outcome("x" * 50_000)["value"]
    assert long == "x" * 20_000 + "... [50000 characters in all]"
    assert outcome(long)["value"] == long  # one mark, although worker and runner both truncate


def test_control_sequences_of_a_terminal_are_escaped():
    shown = outcome("boom\t\x1b[2J\x1b]0;x\x07\r\x00\x9b\x7f\u202e\n\u2603 ok")["value"]
    assert shown == "boom\t\\x1b[2J\\x1b]0;x\\x07\\r\\x00\\x9b\\x7f\\u202e\n\u2603 ok"
    raised = outcome(outcome="raised", detail="ValueError: \x1b[31mred")
    assert raised["detail"] == "ValueError: \\x1b[31mred"


def test_a_pattern_that_takes_for_ever_is_broken_within_the_time_limit(root, monkeypatch):
    monkeypatch.setattr(verdicts, "JUDGING", 0.2)
    plant(root, "planted/one", RETURNS.format("boom"), symptom='"(a|aa)+$"')
    (reproducer,) = catalog.load(root)
    started = time.monotonic()
    result = judged(reproducer, [outcome("a" * 100 + "!")])
    assert time.monotonic() - started < 5
    assert result.verdict == "broken"
    assert result.detail == "matching the symptom took longer than 0.2 s: '(a|aa)+$'"


def test_a_worker_that_died_is_named_with_the_role(reproducer):
    died = verdicts.checked({"outcome": "died"})
    assert judged(reproducer, [died]).detail == "the worker died while reproduce() ran"
    result = judged(reproducer, [outcome("boom")], [died])
    assert (result.verdict, result.detail) == ("broken", "the worker died while control() ran")
    assert "popular_fix() ran" in judged(reproducer, [outcome("boom")], None, [died]).surprise


def test_runs_that_disagree_are_flaky(reproducer):
    result = judged(reproducer, [outcome("boom"), outcome(), outcome("boom")])
    assert (result.verdict, result.agreeing, result.runs) == ("flaky", 2, 3)
    assert result.detail == "reproduced 2 of 3, else absent"
    assert result.text == "boom"


def test_seconds_and_overhead_are_medians_and_memory_is_the_most(reproducer):
    runs = [outcome("boom", seconds=number / 10, peak_mib=number) for number in (1, 2, 9)]
    result = judged(reproducer, runs, [outcome(seconds=0.8)] * 3)
    assert (result.seconds, result.peak_mib) == (0.2, 9.0)
    assert result.overhead == pytest.approx(0.2)


@pytest.mark.parametrize("kind", ["error", "crash", "hang"])
@pytest.mark.parametrize("ending", ["signal", "timeout", "no report"])
def test_only_the_ending_that_its_kind_claims_is_a_symptom(root, kind, ending):
    plant(root, "planted/one", RETURNS.format("boom"), kind=f'"{kind}"')
    (reproducer,) = catalog.load(root)
    ends = {"outcome": ending, "value": None, "detail": "boom"}
    claimed = (kind, ending) in (("crash", "signal"), ("hang", "timeout"))
    result = judged(reproducer, [outcome(**ends)])
    assert result.verdict == ("reproduced" if claimed else "broken")
    assert judged(reproducer, [outcome("boom")], [outcome(**ends)]).verdict == "broken"


def test_a_control_that_fails_is_broken_with_the_text_that_was_seen(reproducer):
    fails = judged(reproducer, [outcome("boom")], [outcome("boom too")])
    assert (fails.verdict, fails.text) == ("broken", "boom")
    assert fails.detail == "control() also fails: boom too"
    exits = judged(reproducer, [outcome("boom")], [outcome(outcome="exit", detail="left")])
    assert (exits.verdict, exits.text, exits.detail) == ("broken", "boom", "control() left")


def test_a_popular_fix_that_helps_once_helps(reproducer):
    helps = judged(reproducer, [outcome("boom")] * 2, None, [outcome("still"), outcome()])
    assert helps.popular_fix == ""
    assert helps.surprise == "popular_fix helps here, but the header says that it does not"
    assert judged(reproducer, [outcome("boom")], None, [outcome("still")]).popular_fix == "still"


def test_the_symptom_that_a_popular_fix_leaves_is_that_of_its_first_run(reproducer):
    runs = [outcome("first"), outcome("second")]
    assert judged(reproducer, [outcome("boom")] * 2, None, runs).popular_fix == "first"


def test_right_lines_that_leave_a_symptom_or_raise_make_a_run_broken(reproducer):
    for seen in (outcome("boom"), outcome(None)):
        result = judged(reproducer, [seen], right=[outcome("half of it")])
        assert result.verdict == "broken"
        assert result.detail == "right() does not fix it: half of it"
    raised = judged(reproducer, [outcome("boom")], right=[outcome(outcome="raised", detail="Oops")])
    assert (raised.verdict, raised.detail) == ("broken", "right() raised Oops")
    assert judged(reproducer, [outcome("boom")], right=[outcome()]).verdict == "reproduced"
    assert judged(reproducer, [outcome()], right=[outcome()]).verdict == "absent"


def test_what_messages_returns_is_kept_and_why_it_returned_nothing(reproducer):
    said = judged(reproducer, [outcome("boom")], messages=[outcome("bang"), outcome("bong")])
    assert (said.verdict, said.said, said.detail) == ("reproduced", "bang", "")
    raised = outcome(outcome="raised", detail="KeyError: 1")
    died = judged(reproducer, [outcome("boom")], messages=[raised])
    assert (died.verdict, died.said) == ("reproduced", "")
    assert died.surprise == "messages() raised KeyError: 1"
