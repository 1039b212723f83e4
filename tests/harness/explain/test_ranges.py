import pytest

from matrix.evidence.states import Standing
from matrix.explain import ranges

OF = {"R": "reproduced", "a": "absent", "x": "unavailable", "F": "flaky", "?": ""}


@pytest.mark.parametrize(
    ("signs", "text"),  # one sign for each of the newest releases
    [
        ("RRRRR", ["2.2 and later"]),
        ("xxRRR", ["2.4 and later"]),  # its API was added in 2.4
        ("aaRRR", ["came in 2.4"]),
        ("RRRaa", ["fixed in 2.5", "2.2 to 2.4"]),
        ("aRRRx", ["gone in 2.6", "2.3 to 2.5"]),
        ("RRxRR", ["2.5 and later", "2.2, 2.3"]),  # unavailable on 2.4, but not fixed
        ("RaaRR", ["came in 2.5", "fixed in 2.3", "2.2"]),
        ("aRRRa", ["fixed in 2.6", "2.3 to 2.5"]),
        ("RRRFF", ["flaky on 2.5, 2.6", "2.2 to 2.4"]),
        ("aaaa", ["not affected"]),
        ("xxaa", ["not affected"]),
        ("xxxx", ["unavailable"]),
        ("????", []),
        ("RR??", ["2.3, 2.4"]),  # claims nothing about unmeasured releases
        ("??RR", ["2.5 and later"]),
        ("R", ["2.6"]),
    ],
)
def test_a_range_says_since_when_and_until_when_newest_first(axis, signs, text):
    parts = ranges.parts([OF[sign] for sign in signs], axis[-len(signs) :])
    assert [part.text for part in parts] == text


def test_what_is_there_on_the_newest_release_is_marked_and_what_is_fixed_too(axis):
    marks = {part.text: part.tone for part in ranges.parts(["reproduced", "absent"], axis[:2])}
    assert marks == {"2.2": "quiet", "fixed in 2.3": "good"}
    assert ranges.parts(["absent", "reproduced"], axis[-2:])[0].tone == "bad"


def test_measured_and_expected_are_never_one_range(axis):
    measured = Standing("reproduced", "2026-01-01", "reproduced")
    unknown = Standing("unknown", "", "reproduced")
    minors = [torch.minor for torch in axis]
    standings = dict.fromkeys(minors, unknown) | {"2.5": measured}
    found = ranges.load("mps", standings, axis)
    assert str(found) == "2.5 (measured); 2.6, 2.2 to 2.4 (expected, not measured)"
    assert found.date == "2026-01-01"
