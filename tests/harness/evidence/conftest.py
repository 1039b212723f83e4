import pytest

from matrix import catalog
from matrix.evidence import records, store
from tests.harness.helpers import RETURNS, plant
from tests.harness.recorded import counts, measurement, record

MINORS = ["1.13", "2.0", "2.1", "2.2", "2.9", "2.10", "2.11"]


@pytest.fixture
def project(root, tmp_path):
    """A reproducer that is fixed in 2.10, with matching records: (repros, records)."""
    plant(root, "amp/one", RETURNS.format("boom"), affected='{ cpu = "<2.10", cuda = ">=2.0" }')
    folder = tmp_path / "records"
    hash = catalog.load(root)[0].hash
    for minor in MINORS:
        verdict = "reproduced" if minor in MINORS[:5] else "absent"
        store.save(record(f"{minor}.1+cu121", {"amp/one": measurement(verdict, hash=hash)}), folder)
    return root, folder


@pytest.fixture
def change(project):
    """Returns a function: change("2.9", verdict="absent") changes the record of release 2.9."""

    def change(minor, **changed):
        _, folder = project
        (one,) = [one for one in records.load(folder) if one.minor == minor]
        for found in one.measurements.values():
            vars(found).update(
                **(counts(changed["verdict"]) if "verdict" in changed else {}), **changed
            )
        store.save(one, folder)

    return change
