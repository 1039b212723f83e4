"""One run for a report, in interpreters that print what they like."""

import sys

import pytest
from helpers import RETURNS, plant

from matrix import catalog
from matrix.evidence.observation import NothingObserved
from matrix.run import observe


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_versions_that_are_not_utf8_cost_no_report(root, tmp_path):
    plant(root, "planted/one", RETURNS.format("boom"))
    script = tmp_path / "python"
    asked = "case $* in *collect_env*) printf 'caf\\351\\nFlags: many\\n'; exit;; esac"
    script.write_text(f'#!/bin/sh\n{asked}\nexec {sys.executable} "$@"\n')
    script.chmod(0o755)
    seen = observe.measured_here(catalog.load(root)[0], str(script), None)
    assert (seen.verdict, seen.text, seen.device) == ("reproduced", "boom", "cpu")
    assert seen.versions == "caf\ufffd"


def test_the_device_on_which_the_bug_shows_is_reported(root, monkeypatch):
    code = "def reproduce(device):\n    return 'boom' if device == 'mps' else None\n"
    plant(root, "planted/one", code, affected='{ cpu = "never", mps = ">=1.13" }')
    monkeypatch.setenv("STUB_DEVICES", "cpu mps")
    seen = observe.measured_here(catalog.load(root)[0], sys.executable, None)
    assert (seen.verdict, seen.device) == ("reproduced", "mps")


def test_nothing_observed_says_why(root):
    plant(root, "planted/one", RETURNS.format("boom"), affected='{ mps = ">=1.13" }')
    with pytest.raises(NothingObserved, match="concerns mps: .* the stub has no mps"):
        observe.measured_here(catalog.load(root)[0], sys.executable, None)
    plant(root, "planted/one", RETURNS.format("boom"), requires='">=99"')
    with pytest.raises(NothingObserved, match="cannot be run here: needs torch >=99"):
        observe.measured_here(catalog.load(root)[0], sys.executable, None)
