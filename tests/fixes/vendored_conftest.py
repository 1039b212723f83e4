"""Runs vendored tests on the copies in the parent folder. DEVICE=cuda or mps selects the device."""

import os
import sys
import types
from pathlib import Path

import hypothesis
import pytest
import torch

# The tests import the copies by their upstream name.
package = types.ModuleType("reference_fixes")
package.__path__ = [str(Path(__file__).resolve().parent.parent)]
sys.modules["reference_fixes"] = package

hypothesis.settings.register_profile("vendored", max_examples=25, deadline=None)
hypothesis.settings.load_profile("vendored")

torch.backends.cudnn.allow_tf32 = False  # cuDNN's RNNs are compared with exact results


@pytest.fixture(scope="session")
def device() -> str:
    return os.environ.get("DEVICE", "cpu")
