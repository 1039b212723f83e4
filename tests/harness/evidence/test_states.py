import pytest

from matrix import catalog, torches
from matrix.evidence.states import BY_NAME, States
from tests.harness.helpers import plant
from tests.harness.recorded import measurement, record

RELEASES = [torches.Torch(f"{minor}.1", ">=3.8") for minor in ("2.3", "2.4", "2.5")]


@pytest.fixture
def reproducer(root):
    plant(
        root, "amp/one", "def reproduce(device):\n    return 'boom'\n", affected='{ cpu = ">=2.4" }'
    )
    return catalog.load(root)[0]


def test_a_state_comes_from_measurements_and_never_from_the_header(reproducer):
    states = States([])
    assert states.state(reproducer, "cpu", "2.4") == "unknown"
    assert states.state(reproducer, "mps", "2.4") == "not applicable"
    assert states.releases(reproducer, "cpu", RELEASES) == {"unknown": ["2.3", "2.4", "2.5"]}


@pytest.mark.parametrize(
    ("verdicts", "state"),
    [
        (["reproduced"], "reproduced"),
        (["reproduced", "reproduced"], "reproduced"),
        (["reproduced", "absent"], "mixed"),
        (["flaky"], "flaky"),
    ],
)
def test_machines_that_disagree_are_mixed(reproducer, verdicts, state):
    records = [
        record(f"2.4.1+{number}", {"amp/one": measurement(verdict, hash=reproducer.hash)})
        for number, verdict in enumerate(verdicts)
    ]
    assert States(records).state(reproducer, "cpu", "2.4") == state


def test_what_was_measured_of_older_code_is_stale_unless_the_code_was_measured_too(reproducer):
    old = record("2.4.0", {"amp/one": measurement("absent")})
    assert States([old]).state(reproducer, "cpu", "2.4") == "stale"
    new = record("2.4.1", {"amp/one": measurement(hash=reproducer.hash)})
    assert States([old, new]).state(reproducer, "cpu", "2.4") == "reproduced"


@pytest.mark.parametrize("days", [("01", "02"), ("02", "01")])
def test_the_date_of_a_standing_is_that_of_the_newest_measurement(reproducer, days):
    records = [
        record(
            f"2.4.1+{day}",
            {"amp/one": measurement(hash=reproducer.hash, date=f"2026-01-{day}")},
        )
        for day in days
    ]
    assert States(records).standing(reproducer, "cpu", "2.4").date == "2026-01-02"


def test_verdicts_leave_out_where_it_was_not_run(reproducer):
    records = [
        record("2.5.1", {"amp/one": measurement("absent", hash=reproducer.hash)}),
        record("2.3.1", {"amp/one": measurement("unavailable", hash=reproducer.hash)}),
        record("2.10.1", {"amp/one": measurement("flaky", hash=reproducer.hash)}),
        record("2.4.1", {"amp/one": measurement()}),
    ]
    states = States(records)
    assert states.minors == ["2.3", "2.4", "2.5", "2.10"]
    assert states.verdicts(reproducer, "cpu") == {"2.5": "absent", "2.10": "flaky"}


def test_every_state_has_a_sign_of_its_own():
    assert len({row.sign for row in BY_NAME.values()}) == len(BY_NAME)
