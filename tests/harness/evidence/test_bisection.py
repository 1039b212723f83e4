import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrix import bisection
from matrix.torches import Torch

TORCHES = [Torch(f"2.{number}.0", ">=3.8") for number in range(17)]


def search(states):
    """The result and the releases that were measured; states[i] is the verdict of release i."""
    measured = []

    def measure(torch):
        measured.append(torch)
        return states[TORCHES.index(torch)]

    return bisection.bisect(TORCHES[: len(states)], measure), measured


@given(st.integers(1, 17), st.data(), st.booleans())
def test_one_change_is_found_in_logarithmically_many_environments(count, data, fixed):
    change = data.draw(st.integers(0, count - 1))
    old, new = ("reproduced", "absent") if fixed else ("absent", "reproduced")
    found, measured = search([old] * change + [new] * (count - change))
    assert (found.verdict, found.since) == (new, TORCHES[change])
    assert found.before == (TORCHES[change - 1] if change else None)
    assert len(measured) == len(set(measured)) <= math.ceil(math.log2(count)) + 1


@given(st.lists(st.sampled_from(["reproduced", "absent"]), min_size=2, max_size=17))
def test_any_history_gives_a_true_sentence_about_neighbours(states):
    found, measured = search(states)
    number = TORCHES.index(found.since)
    assert states[number] == states[-1] == found.verdict
    if found.before is not None:
        assert TORCHES[number - 1] == found.before
        assert states[number - 1] != states[-1]
    assert len(measured) <= math.ceil(math.log2(len(states))) + 1


def test_a_bug_of_the_middle_alone_is_said_not_to_be_monotone():
    found, measured = search(["absent"] * 3 + ["reproduced"] * 6 + ["absent"] * 3)
    assert found.sentence == "first good torch: 2.9 (2.8 is reproduced); not monotone: absent in 2.0 too"
    assert len(measured) <= 5


@pytest.mark.parametrize(
    ("states", "sentence"),
    [
        (["reproduced"] * 10 + ["absent"] * 7, "first good torch: 2.10 (2.9 is reproduced)"),
        (["absent"] * 3 + ["reproduced"] * 14, "first bad torch: 2.3 (2.2 is absent)"),
        (["reproduced"] * 17, "reproduced in every torch tried: first bad <= 2.0"),
        (["absent"] * 17, "absent in every torch tried: first good <= 2.0"),
        (["absent"], "absent in every torch tried: first good <= 2.0"),
    ],
)
def test_the_sentence_names_the_boundary(states, sentence):
    assert search(states)[0].sentence == sentence


def test_where_the_oldest_was_not_measured_it_says_so():
    found, measured = search(["absent"] * 15 + ["reproduced"] * 2)
    assert len(measured) == 6
    assert found.sentence == "first bad torch: 2.15 (2.14 is absent); 2.0 was not measured"


def test_a_release_that_is_neither_stops_the_search():
    with pytest.raises(bisection.Undecided, match=r"torch 2\.16\.0: broken"):
        search(["absent"] * 16 + ["broken"])
