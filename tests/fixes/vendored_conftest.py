"""Runs vendored tests against the copies in the folder above. DEVICE=cuda or DEVICE=mps in the environment picks the device."""

import os
import sys
import types
from pathlib import Path

import hypothesis
import pytest

package = types.ModuleType("reference_fixes")  # the name that the tests import the copies by
package.__path__ = [str(Path(__file__).resolve().parent.parent)]
sys.modules["reference_fixes"] = package

hypothesis.settings.register_profile("vendored", max_examples=25, deadline=None)
hypothesis.settings.load_profile("vendored")


@pytest.fixture(scope="session")
def device() -> str:
    return os.environ.get("DEVICE", "cpu")
