"""Options of the suite: which device it runs on, and whose copy of the fixes."""

import importlib
import os
import sys
import types
from pathlib import Path

import hypothesis
import pytest
import torch

from matrix.worker import probe

FAMILIES = ("rnn", "amp", "loss", "memory", "data_loading", "numerics")

hypothesis.settings.register_profile("dev", max_examples=25, deadline=None)
hypothesis.settings.register_profile("ci", max_examples=50, deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.register_profile("nightly", max_examples=2000, deadline=None, print_blob=True)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if "CI" in os.environ else "dev"))

torch.set_num_threads(1)  # xdist runs one process per core
torch.backends.cudnn.allow_tf32 = False  # cuDNN's RNNs are compared with exact ones


def pytest_addoption(parser):
    parser.addoption("--device", choices=("cpu", "cuda", "mps"), default="cpu", help="device that fixes and reproducers run on")
    parser.addoption("--fixes", metavar="DIR", help="folder with the reference fixes to test, such as a project's vendored copies")


def pytest_configure(config):
    config.addinivalue_line("markers", "xdist_group(name): tests that share one expensive fixture")
    device = config.getoption("--device")
    if device != "cpu":
        found = probe(device)
        if not found["ok"]:
            raise pytest.UsageError(f"--device {device}: {found['reason']}")
    folder = config.getoption("--fixes")
    if folder:
        _use_fixes_of(Path(folder).resolve())


def _use_fixes_of(folder):
    missing = [f"{family}.py" for family in FAMILIES if not (folder / f"{family}.py").is_file()]
    if len(missing) == len(FAMILIES):
        raise pytest.UsageError(f"--fixes {folder}: none of {', '.join(missing)} is here")
    package = types.ModuleType("reference_fixes")
    package.__path__ = [str(folder)]
    sys.modules["reference_fixes"] = package


def pytest_ignore_collect(collection_path, config):
    """With --fixes, only the families that were vendored are tested; the machine and the reproducers are not theirs."""
    folder = config.getoption("--fixes")
    if not folder or collection_path.suffix != ".py" or not collection_path.name.startswith("test_"):
        return None
    vendored = [family for family in FAMILIES if (Path(folder) / f"{family}.py").is_file()]
    return True if collection_path.stem[len("test_") :] not in vendored else None


@pytest.fixture(scope="session")
def device(request):
    return request.config.getoption("--device")


@pytest.fixture(scope="session")
def fix_module():
    """fix_module("amp") is reference_fixes/amp.py, or the copy that --fixes names."""
    return lambda name: importlib.import_module(f"reference_fixes.{name}")
