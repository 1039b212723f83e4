"""Tests that bisection finds true boundaries and claims nothing about unmeasured releases."""

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrix.evidence import bisection
from matrix.torches import Torch

RELEASES = [Torch(f"2.{number}.0", ">=3.8") for number in range(17)]
DECIDED = ("reproduced", "absent")


def search(states, known=()):
    """The history that bisection finds, and the indexes of the releases that it measured."""
    measured = []

    def measure(torch):
        measured.append(RELEASES.index(torch))
        return states[measured[-1]]

    free = {RELEASES[number].minor: states[number] for number in known}
    return bisection.bisect(RELEASES[: len(states)], measure, free), measured


def most(count):
    """The maximum number of measurements for a search among `count` decided releases."""
    return math.ceil(math.log2(count - 1)) + 2 if count > 1 else 1


@given(st.integers(2, 17), st.data(), st.booleans())
def test_a_single_change_is_found_in_logarithmically_many_environments(count, data, fixed):
    change = data.draw(st.integers(1, count - 1))
    old, new = ("reproduced", "absent") if fixed else ("absent", "reproduced")
    found, measured = search([old] * change + [new] * (count - change))
    assert found.boundaries == [bisection.Boundary(RELEASES[change - 1], RELEASES[change])]
    assert len(measured) == len(set(measured)) <= most(count)


@given(
    st.lists(
        st.sampled_from([*DECIDED, "flaky", "broken", "unavailable"]), min_size=1, max_size=17
    ),
    st.sets(st.integers(0, 16)),
)
def test_every_boundary_of_any_history_is_true_and_nothing_between_is_left_out(states, known):
    known = {number for number in known if number < len(states)}
    if not set(states) & set(DECIDED):
        with pytest.raises(bisection.Undecided):
            search(states, known)
        return
    found, measured = search(states, known)
    assert not known & set(measured)
    assert len(measured) == len(set(measured))
    for boundary in found.boundaries:
        low, high = RELEASES.index(boundary.before), RELEASES.index(boundary.since)
        assert {states[low], states[high]} == set(DECIDED)
        assert boundary.between == tuple(RELEASES[low + 1 : high])
        assert not {states[number] for number in range(low + 1, high)} & set(DECIDED)
    ends = [number for number, state in enumerate(states) if state in DECIDED]
    if states[ends[0]] != states[ends[-1]]:
        assert found.boundaries
    assert found.sentence


def test_no_history_of_decided_releases_takes_more_environments_than_promised():
    for count in range(1, 11):
        for states in product(DECIDED, repeat=count):
            assert len(search(states)[1]) <= most(count)


@pytest.mark.parametrize("length", [1, 3, 8])
def test_a_window_that_was_not_met_is_never_denied(length):
    """If bisection misses a bug that exists only in the middle, it names the measured releases."""
    for start in range(1, 17 - length):
        window = range(start, start + length)
        states = ["reproduced" if n in window else "absent" for n in range(17)]
        found, measured = search(states)
        if not set(measured) & set(window):
            names = ", ".join(RELEASES[number].minor for number in sorted(measured))
            expected = f"absent in {names}; releases between were not measured"
            assert found.sentence == expected
        else:
            last = bisection.Boundary(RELEASES[window[-1]], RELEASES[window[-1] + 1])
            assert last in found.boundaries


@pytest.mark.parametrize(
    ("states", "sentence"),
    [
        (["reproduced"] * 10 + ["absent"] * 7, "first good torch: 2.10 (2.9 is reproduced)"),
        (["absent"] * 3 + ["reproduced"] * 14, "first bad torch: 2.3 (2.2 is absent)"),
        (
            ["reproduced"] * 17,
            "reproduced in 2.0, 2.8, 2.16; releases between were not measured",
        ),
        (["absent"] * 3, "absent in 2.0 to 2.2"),
        (["absent"], "absent in 2.0"),
        (
            ["absent"] * 6 + ["reproduced"] * 6 + ["absent"] * 5,
            "first good torch: 2.12 (2.11 is reproduced); "
            "another change is between 2.0 (absent) and 2.8 (reproduced)",
        ),
    ],
)
def test_the_sentence_tells_what_was_measured_and_no_more(states, sentence):
    assert search(states)[0].sentence == sentence


@pytest.mark.parametrize(
    ("undecided", "sentence"),
    [
        ({0: "flaky"}, "first good torch: 2.9 (2.8 is reproduced); 2.0 is flaky"),
        ({0: "unavailable"}, "first good torch: 2.9 (2.8 is reproduced); 2.0 is unavailable"),
        ({16: "broken"}, "first good torch: 2.9 (2.8 is reproduced); 2.16 is broken"),
        ({8: "flaky"}, "first good torch: 2.9 or 2.8 (2.8 is flaky, 2.7 is reproduced)"),
        (
            {8: "flaky", 9: "broken"},
            "first good torch: 2.10 or 2.9 or 2.8 (2.9 is broken, 2.8 is flaky, 2.7 is reproduced)",
        ),
        (
            dict.fromkeys(range(1, 16), "flaky"),
            "first good torch: 2.16 or "
            + " or ".join(f"2.{number}" for number in range(15, 0, -1))
            + " ("
            + ", ".join(f"2.{number} is flaky" for number in range(15, 0, -1))
            + ", 2.0 is reproduced)",
        ),
    ],
)
def test_releases_that_decide_nothing_are_skipped_and_named(undecided, sentence):
    states = ["reproduced"] * 9 + ["absent"] * 8
    for number, verdict in undecided.items():
        states[number] = verdict
    assert search(states)[0].sentence == sentence


def test_a_midpoint_that_decides_nothing_is_skipped_for_its_nearest_neighbour():
    states = ["reproduced"] * 8 + ["flaky"] + ["absent"] * 8
    _, measured = search(states)
    assert measured[:4] == [16, 0, 8, 7]


def test_releases_that_are_known_cost_nothing_and_every_change_is_listed():
    states = ["absent"] * 3 + ["reproduced"] * 3 + ["absent"] * 4 + ["reproduced"] * 7
    found, measured = search(states, range(17))
    assert measured == []
    assert found.sentence == (
        "first bad torch: 2.3 (2.2 is absent); first good torch: 2.6 (2.5 is reproduced); "
        "first bad torch: 2.10 (2.9 is absent)"
    )


def test_known_releases_narrow_the_search():
    states = ["reproduced"] * 9 + ["absent"] * 8
    found, measured = search(states, [0, 7, 10, 16])
    assert found.boundaries == [bisection.Boundary(RELEASES[8], RELEASES[9])]
    assert sorted(measured) == [8, 9]


def test_where_no_release_decides_each_is_named():
    with pytest.raises(bisection.Undecided) as error:
        search(["flaky", "broken"])
    assert str(error.value) == (
        "cannot bisect: torch 2.0.0 is flaky, torch 2.1.0 is broken; none is reproduced or absent"
    )
