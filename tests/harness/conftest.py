"""Fixtures for the tests of the harness, which are fast because a stub replaces torch."""

import os
from pathlib import Path

import pytest

from matrix import torches
from matrix.torches import Torch

HERE = Path(__file__).parent


@pytest.fixture(autouse=True, scope="module")
def stub_of_torch():
    """Puts the stub on the path of interpreters that these tests start, but not for other tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(HERE / "stub"), str(HERE.parents[1])]))
        yield


@pytest.fixture
def axis(monkeypatch):
    """Replaces torches.toml with five releases, so that a new release changes no expected text."""
    releases = [Torch(f"{minor}.0", ">=3.10") for minor in ("2.2", "2.3", "2.4", "2.5", "2.6")]
    monkeypatch.setattr(torches, "load", lambda path=torches.TORCHES: releases)
    return releases


@pytest.fixture
def root(tmp_path):
    """An empty folder of reproducers."""
    folder = tmp_path / "repros"
    folder.mkdir()
    return folder
