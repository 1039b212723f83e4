"""Tests that a comparison of two releases names every change, based only on measurements."""

import itertools
import json

import pytest

from matrix import catalog, torches
from matrix.evidence import records
from matrix.evidence.states import States
from matrix.explain import compare
from tests.harness.helpers import RETURNS, call, plant
from tests.harness.recorded import measurement, record

RELEASES = torches.load()
OLD, MIDDLE, NEW = (torches.find(RELEASES, (name,))[0] for name in ("2.4", "2.5", "2.6"))


def found(tmp_path, *verdicts, texts=("boom", "boom", "boom"), ends=(OLD, NEW), **header):
    """The comparison of 2.4 and 2.6, with verdicts for 2.4, 2.5 and 2.6; None means unmeasured."""
    plant(tmp_path, "planted/one", RETURNS.format("boom"), **header)
    (reproducer,) = catalog.load(tmp_path)
    held = [
        record(f"{torch.version}+cpu", {reproducer.id: one})
        for torch, verdict, text in zip((OLD, MIDDLE, NEW), verdicts, texts)
        if verdict
        for one in [measurement(verdict, text=text, hash=reproducer.hash)]
    ]
    return compare.compare([reproducer], held, RELEASES, *ends, ["cpu"])


@pytest.mark.parametrize(
    ("verdicts", "change", "since"),
    [
        (("absent", "absent", "reproduced"), "breaks", "first bad torch: 2.6 (2.5 is absent)"),
        (("reproduced", "absent", "absent"), "fixed", "first good torch: 2.5 (2.4 is reproduced)"),
        (("unavailable", "reproduced", "reproduced"), "appears", "reproduced in 2.5, 2.6"),
        (("reproduced", "unavailable", "unavailable"), "disappears", "reproduced in 2.4"),
    ],
)
def test_a_change_has_a_name_and_the_release_that_brought_it(tmp_path, verdicts, change, since):
    (one,) = found(tmp_path, *verdicts).changes
    assert (one.change, one.since.partition(";")[0]) == (change, since)


def test_back_again_a_fix_is_what_breaks(tmp_path):
    (one,) = found(tmp_path, "reproduced", "absent", "absent", ends=(NEW, OLD)).changes
    assert one.change == "breaks"


def test_what_comes_after_the_two_is_not_told(tmp_path):
    (one,) = found(tmp_path, "reproduced", "absent", "reproduced", ends=(OLD, MIDDLE)).changes
    assert one.since == "first good torch: 2.5 (2.4 is reproduced)"


@pytest.mark.parametrize("other", ["flaky", "broken", None])
def test_what_was_not_decided_on_both_is_unknown(tmp_path, other):
    result = found(tmp_path, "reproduced", "absent", other)
    assert not result.changes
    assert not result.same
    assert [device for _, device in result.unknown] == ["cpu"]


def test_two_that_are_absent_or_unavailable_say_nothing(tmp_path):
    assert found(tmp_path, "absent", "absent", "unavailable") == compare.Comparison([], [], [])


def test_another_message_is_a_change_and_another_number_in_it_is_none(tmp_path):
    texts = ("expected 3 at 0x7f1", None, "wanted 3 at 0x7f1")
    (one,) = found(tmp_path, "reproduced", None, "reproduced", texts=texts).changes
    assert (one.change, one.before, one.after) == ("message", texts[0], texts[2])
    texts = ("expected 3 at 0x7f1", None, "expected 5 at 0x8ab")
    result = found(tmp_path, "reproduced", None, "reproduced", texts=texts)
    assert not result.changes
    assert len(result.same) == 1


def test_the_text_of_a_silent_failure_is_the_reproducers_own(tmp_path):
    texts = ("off by a lot", None, "off by more")
    result = found(
        tmp_path, "reproduced", None, "reproduced", texts=texts, kind='"silent"', symptom='"off"'
    )
    assert not result.changes


def test_ten_pairs_agree_with_the_grid():
    known, reproducers = records.load(), catalog.select(catalog.load(), ())
    states = States(known)
    pairs = list(itertools.combinations(RELEASES[::4], 2))
    assert len(pairs) >= 10
    for old, new in pairs:
        result = compare.compare(reproducers, known, RELEASES, old, new, ["cpu"])
        signs = {one.reproducer.id: one.change for one in result.changes}
        signs.update({one.id: "same" for one, _ in result.same})
        signs.update({one.id: "unknown" for one, _ in result.unknown})
        for reproducer in reproducers:
            if "cpu" not in reproducer.affected:
                assert reproducer.id not in signs
                continue
            before, after = (states.state(reproducer, "cpu", one.minor) for one in (old, new))
            expected = {
                ("absent", "reproduced"): {"breaks"},
                ("unavailable", "reproduced"): {"appears"},
                ("reproduced", "absent"): {"fixed"},
                ("reproduced", "unavailable"): {"disappears"},
                ("reproduced", "reproduced"): {"same", "message"},
            }.get((before, after), {None})
            if not {before, after} <= {"absent", "reproduced", "unavailable"}:
                expected = {"unknown"}
            assert signs.get(reproducer.id) in expected, (reproducer.id, old.minor, new.minor)


def test_the_command_names_release_and_change_and_exits_with_1_where_something_breaks():
    up, down = call("compare", "2.14.1+cpu", "2.15"), call("compare", "2.15", "2.14")
    assert (up.exit_code, down.exit_code) == (0, 1)
    assert "torch 2.14 to 2.15 on cpu" in up.output
    assert "Fixed by the change: " in up.output
    assert "Breaks with the change: nothing" in up.output
    where = up.output.index("autograd/hook_on_stale_view_crashes (cpu)")
    assert "first good torch: 2.15 (2.14 is reproduced), pytorch#196514" in up.output[where:]
    assert "amp/unscale_twice" not in up.output
    assert "  amp/unscale_twice (cpu)" in call("compare", "2.10", "2.11", "--all").output


def test_as_json_it_has_the_same_changes():
    changes = json.loads(call("compare", "2.10", "2.11", "--json").output)["changes"]
    assert {"amp/autocast_cache_under_no_grad": "fixed"}.items() <= {
        one["id"]: one["change"] for one in changes
    }.items()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("2.4", "2.99"), "no torch 2.99 in torches.toml"),
        (("2.4", "soon"), "'soon' is not a version of torch"),
        (("2.4", "2.5", "--records", "."), "were not both measured"),
        (("2.4", "2.5", "--records", "nowhere"), "Directory 'nowhere' does not exist"),
    ],
)
def test_what_cannot_be_compared_is_refused(arguments, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = call("compare", *arguments)
    assert result.exit_code == 2
    assert text in " ".join(result.output.split())


def test_a_long_message_is_one_line_and_short_where_people_read(root):
    plant(root, "planted/one", RETURNS.format("boom"))
    (one,) = catalog.load(root)
    change = compare.Change(one, "cpu", "message", "", "first\nsecond", "x" * 500)
    shown = compare.text(compare.Comparison([change], [], []), every=False)
    assert "before: first second\n" in shown
    assert f"after:  {'x' * 400} ... (`--json` has all of it)\n" in shown
