from __future__ import annotations

import json
from typing import Any

import pytest

from matrix import catalog, causes
from matrix.diagnose import checklists
from matrix.explain.search import Index
from tests.harness.pasted import NAMED
from tests.trials.demand import __main__ as demand
from tests.trials.demand.__main__ import NOTHING, RIGHT, WRONG, Asked, Class

KNOWN = {"often": Class(5, frozenset({"amp/unscale_twice"})), "once": Class(1, frozenset())}
REPRODUCERS = catalog.load()
INDEX = Index(REPRODUCERS)
TWICE = "unscale_() has already been called on this optimizer since the last update()"


@pytest.mark.parametrize("file", demand.SETS)
def test_every_thread_has_a_class_and_something_to_go_by(file: str) -> None:
    known = demand.classes()
    lines = (demand.HERE / file).read_text(encoding="utf-8").splitlines()
    threads = [json.loads(line) for line in lines]
    assert [thread for thread in threads if thread["class"] not in known] == []
    assert [thread for thread in threads if ("pasted" in thread) == ("symptom" in thread)] == []
    assert len({json.dumps(thread) for thread in threads}) == len(threads)


def test_classes_are_answered_by_reproducers_that_exist() -> None:
    ids = {reproducer.id for reproducer in REPRODUCERS if reproducer.is_current}
    ids |= {cause.cause for group in causes.load() for cause in group.causes}
    assert set().union(*(class_.answers for class_ in demand.classes().values())) <= ids


@pytest.mark.parametrize(
    ("thread", "outcome"),
    [
        ({"class": "often", "pasted": TWICE}, RIGHT),
        ({"class": "once", "pasted": TWICE}, WRONG),
        ({"class": "often", "pasted": "KeyError: 'xyzzy'"}, NOTHING),
        ({"class": "often", "symptom": "xyzzy of the plugh"}, NOTHING),
        ({"class": "once", "symptom": "memory grows with every step"}, WRONG),
    ],
)
def test_an_answer_is_right_wrong_or_none(thread: dict[str, str], outcome: str) -> None:
    assert demand.ask(thread, KNOWN, REPRODUCERS, INDEX).outcome == outcome


def test_the_place_of_the_right_cause_in_an_answer_counts() -> None:
    error = "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"
    listed = next(group for group in causes.load() if error.endswith(group.title)).causes
    for pasted, right, expected in (
        (error, [listed[2].cause], (True, 3, False)),
        (error, [listed[1].see], (True, 2, False)),
        (error, ["amp/unscale_twice"], (True, 0, False)),
        (NAMED[0], ["amp/unscale_twice"], (True, 0, True)),
        (TWICE, ["amp/unscale_twice"], (True, 1, True)),
        ("KeyError: 'xyzzy'", ["amp/unscale_twice"], (False, 0, False)),
    ):
        thread = {"pasted": pasted, "right": right, "settled": "thread", "half": "sealed"}
        assert demand.ask_open(thread, REPRODUCERS)[2:] == expected
    thread = {"pasted": TWICE, "right": [], "settled": "none", "half": "sealed"}
    none = demand.ask_open(thread, REPRODUCERS)
    assert not none.settled
    settled = [
        demand.Opened("tuning", settled=True, answered=True, place=place, is_sure=is_sure)
        for place, is_sure in ((3, False), (2, True), (1, True), (0, True))
    ]
    counts = [count for _, count, _ in demand.open_rows([none, *settled])]
    assert counts == [5, 1, 3, 3, 1, 2, 1]


def test_a_silent_thread_is_led_to_its_cause_by_any_of_the_first_results() -> None:
    symptom = "clip gradients before unscale with GradScaler"
    slow = "training is slow"
    for question, right, expected in (
        (symptom, ["amp/clip_before_unscale"], (True, False, False)),
        (symptom, ["attention/batch_first_is_off"], (False, False, True)),
        (slow, ["torch-repros diagnose training-is-slow"], (True, True, False)),
        ("xyzzy of the plugh", ["amp/unscale_twice"], (False, False, False)),
    ):
        thread = {"question": question, "right": right, "settled": "thread", "half": "sealed"}
        assert demand.ask_silent(thread, INDEX)[2:] == expected, question
    none = demand.Searched("sealed", False, False, False, True)
    led = demand.Searched("sealed", True, True, True, False)
    assert [count for _, count, _ in demand.silent_rows([none, led])] == [1, 1, 0, 1]


def test_every_silent_thread_names_what_exists() -> None:
    lines = (demand.HERE / demand.SILENT).read_text(encoding="utf-8").splitlines()
    threads = [json.loads(line) for line in lines]
    known = {reproducer.id for reproducer in REPRODUCERS if reproducer.is_current}
    known |= {group.title for group in causes.load()}
    known |= {f"torch-repros diagnose {checklist.name}" for checklist in checklists.load()}
    assert len({thread["url"] for thread in threads}) == len(threads)
    for thread in threads:
        assert thread["settled"] in ("thread", "inferred", "none"), thread["url"]
        assert thread["half"] in ("sealed", "tuning"), thread["url"]
        assert thread["question"].strip(), thread["url"]
        assert set(thread["right"]) <= known, thread["url"]


def test_every_thread_of_the_open_sample_names_causes_that_exist() -> None:
    lines = (demand.HERE / demand.OPEN).read_text(encoding="utf-8").splitlines()
    threads = [json.loads(line) for line in lines]
    known = {reproducer.id for reproducer in REPRODUCERS if reproducer.is_current}
    known |= {cause.cause for group in causes.load() for cause in group.causes}
    assert len({thread["url"] for thread in threads}) == len(threads)
    for thread in threads:
        assert thread["settled"] in ("thread", "inferred", "none"), thread["url"]
        assert thread["pasted"].strip(), thread["url"]
        assert set(thread["right"]) <= known, thread["url"]


def asked(**outcomes: Any) -> list[Asked]:
    return [Asked("often", kind != "symptom", *outcome) for kind, outcome in outcomes.items()]


def test_shares_are_weighted_by_how_often_a_class_is_met() -> None:
    both = [Asked("often", True, RIGHT, "x"), Asked("once", True, NOTHING, "")]
    assert demand.percent(both, RIGHT) == 50
    assert round(demand.percent(both, RIGHT, KNOWN)) == 83
    assert demand.percent([], RIGHT) == 0


def test_what_misses_its_share_is_a_problem() -> None:
    good = asked(pasted=(RIGHT, "x"), symptom=(RIGHT, "x"))
    assert demand.problems({"f": good}, [], ["a"] * demand.FOUND) == []
    bad = asked(pasted=(WRONG, "x"), symptom=(WRONG, "x"))
    problems = demand.problems(
        {"f": bad}, ["a"] * (demand.EXPLAINED + 1), ["a"] * (demand.FOUND + 1)
    )
    assert [line.split(":")[1 if line[0] == "f" else 0].strip() for line in problems] == [
        "pasted texts right",
        "pasted texts wrong",
        "symptoms right",
        "symptoms wrong",
        "unrelated, explained",
        "unrelated, found",
    ]


def test_the_table_in_the_docs_is_what_is_answered_now() -> None:
    classes, live = (
        demand.classes(),
        [reproducer for reproducer in REPRODUCERS if reproducer.is_current],
    )
    asked_of = {file: demand.measure(file, classes, live) for file in demand.SETS}
    explained, near = demand.unrelated(live)
    strangers = len((demand.HERE / "unrelated.txt").read_text(encoding="utf-8").splitlines())
    opened = demand.measure_open(demand.OPEN, live)
    searched = demand.measure_silent(demand.SILENT, live)
    table = demand.render(asked_of, classes, len(explained), len(near), strangers, opened, searched)
    assert demand.TABLE.read_text(encoding="utf-8") == table
    readme = (catalog.ROOT / "README.md").read_text(encoding="utf-8")
    assert demand.figure(asked_of, len(explained), strangers, opened) in readme
    assert demand.problems(asked_of, explained, near) == []
