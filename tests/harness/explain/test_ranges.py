import pytest

from matrix import torches
from matrix.evidence.states import Standing
from matrix.explain import ranges

RELEASES = torches.load()
OF = {"R": "reproduced", "a": "absent", "x": "unavailable", "F": "flaky", "?": ""}


def said(signs):
    """Of the newest releases, a sign each."""
    releases = RELEASES[-len(signs) :]
    return [part.text for part in ranges.parts([OF[sign] for sign in signs], releases)]


@pytest.mark.parametrize(
    ("signs", "text"),
    [
        ("R" * 17, ["1.13 and later"]),
        ("xxRRRR", ["2.12 and later"]),  # what it needs came
        ("aaRRRR", ["came in 2.12"]),
        ("RRRRaa", ["fixed in 2.14", "2.10 to 2.13"]),
        ("aRRRxx", ["gone in 2.14", "2.11 to 2.13"]),
        ("RRxRRR", ["2.13 and later", "2.10, 2.11"]),  # it cannot be run on 2.12, and did not go
        ("RRaaRR", ["came in 2.14", "fixed in 2.12", "2.10, 2.11"]),
        ("aRRRa", ["fixed in 2.15", "2.12 to 2.14"]),
        ("RRRFF", ["flaky on 2.14, 2.15", "2.11 to 2.13"]),
        ("aaaa", ["not affected"]),
        ("xxaa", ["not affected"]),
        ("xxxx", ["unavailable"]),
        ("????", []),
        ("RR??", ["2.12, 2.13"]),  # nothing is claimed of what nobody has measured
        ("??RR", ["2.14 and later"]),
        ("R", ["2.15"]),
    ],
)
def test_a_range_says_since_when_and_until_when_newest_first(signs, text):
    assert said(signs) == text


def test_what_is_there_on_the_newest_release_is_marked_and_what_is_fixed_too():
    marks = {part.text: part.tone for part in ranges.parts(["reproduced", "absent"], RELEASES[:2])}
    assert marks == {"1.13": "quiet", "fixed in 2.0": "good"}
    assert ranges.parts(["absent", "reproduced"], RELEASES[-2:])[0].tone == "bad"


def test_measured_and_expected_are_never_one_range():
    measured = Standing("reproduced", "2026-01-01", "reproduced")
    unknown = Standing("unknown", "", "reproduced")
    minors = [torch.minor for torch in RELEASES]
    standings = dict.fromkeys(minors, unknown) | {"2.14": measured}
    found = ranges.load("mps", standings, RELEASES)
    assert str(found) == "2.14 (measured); 2.15, 1.13 to 2.13 (expected, not measured)"
    assert found.date == "2026-01-01"
