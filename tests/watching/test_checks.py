"""Every check finds its reproducer while it fails, and nothing in its control."""

import json
import re
import sys
from pathlib import Path

import pytest
from packaging.version import Version

from matrix import catalog
from tests.forked import Job, can_fork, run_all

CHECKS = catalog.PACKAGE / "watching" / "checks"
NAMES = sorted(
    f"{path.parent.name}/{path.stem}" for path in CHECKS.glob("*/*.py") if path.stem != "shared"
)
REPRODUCERS = [reproducer for reproducer in catalog.load() if reproducer.id in NAMES]
ROLES = ("reproduce", "control")


@pytest.fixture(scope="module")
def watched(device):
    """The version of torch, and a dict that maps (id, role) to what was printed."""
    if not can_fork(device):
        pytest.skip("roles are run in forked processes")
    driver = Path(__file__).with_name("watched.py")
    concerned = [each for each in REPRODUCERS if device in each.affected]
    pairs = [(reproducer, role) for reproducer in concerned for role in ROLES]
    jobs = [
        Job([str(driver), reproducer.id, role, device], str(catalog.ROOT), reproducer.timeout)
        for reproducer, role in pairs
    ]
    torch, ended = run_all(jobs)
    return torch, {(each.id, role): output for (each, role), (_, output) in zip(pairs, ended)}


def outcome(watched, reproducer, role, device):
    if device not in reproducer.affected:
        pytest.skip(f"not applicable on {device}")
    torch, outputs = watched
    if reason := reproducer.unavailable_reason(torch, sys.platform, device):
        pytest.skip(reason)
    output = outputs[reproducer.id, role]
    seen = json.loads(output.splitlines()[-1])
    assert seen["failed"] == {}, output
    return torch, seen["found"]


def test_each_check_has_a_reproducer():
    assert {reproducer.id for reproducer in REPRODUCERS} == set(NAMES)


@pytest.mark.xdist_group("forked")
@pytest.mark.parametrize("reproducer", REPRODUCERS, ids=lambda reproducer: reproducer.id)
def test_a_check_finds_its_failure(reproducer, device, watched):
    torch, found = outcome(watched, reproducer, "reproduce", device)
    if reproducer.expects(device, torch) != "reproduced":
        pytest.skip(f"torch {torch} does not have this failure")
    since = re.search(r'^    since = "(.+?)"', (CHECKS / f"{reproducer.id}.py").read_text(), re.M)
    if since and Version(torch.partition("+")[0]) < Version(since[1]):
        pytest.skip(f"torch before {since[1]} does not show this to the check")
    own = [finding for finding in found if finding["id"] == reproducer.id]
    assert own, found
    assert all(finding["file"].endswith(f"{reproducer.id}.py") for finding in own), own
    assert all(finding["line"] > 0 for finding in own), own


@pytest.mark.xdist_group("forked")
@pytest.mark.parametrize("reproducer", REPRODUCERS, ids=lambda reproducer: reproducer.id)
def test_a_control_has_no_finding(reproducer, device, watched):
    _, found = outcome(watched, reproducer, "control", device)
    assert [finding for finding in found if finding["id"] == reproducer.id] == []
