"""The pytest plugin: with `pytest --torch-watch`, a test fails if the watch finds a failure in it.

    pytest --torch-watch tests

Each test is watched from its setup to its end, in every step. A finding of level error or warning
fails the test; each finding is shown in a section of the report. A test that has to do what a check
warns of names the check:

    @pytest.mark.torch_watch(ignore=["optimizers/missing_zero_grad"])
    def test_gradients_add_up(): ...
"""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ..findings import Finding

RUN: pytest.StashKey[Any] = pytest.StashKey()  # the run that watches the test


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("torch-repros").addoption(
        "--torch-watch",
        action="store_true",
        help="Watch each test for silent failures of PyTorch programs, and fail a test if one "
        "occurs. @pytest.mark.torch_watch(ignore=[NAME]) allows it.",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "torch_watch(ignore): names of checks whose findings do not fail the test."
    )
    if config.getoption("--torch-watch") and importlib.util.find_spec("torch") is None:
        raise pytest.UsageError("--torch-watch needs torch in this environment")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.config.getoption("--torch-watch"):
        from ..run import watch

        item.stash[RUN] = watch(every_step=True, stream=io.StringIO())


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    outcome: Any = yield
    run = item.stash.get(RUN, None)
    if run is None:
        return
    run.stop()
    ignored = {
        name for mark in item.iter_markers("torch_watch") for name in mark.kwargs.get("ignore", ())
    }
    found = [finding for finding in run.findings if finding.id not in ignored]
    if not found:
        return
    text = "\n".join(map(_shown, found))
    item.add_report_section("call", "torch-repros", text)
    if outcome.excinfo is None and any(finding.level != "note" for finding in found):
        outcome.force_exception(pytest.fail.Exception(f"torch-repros:\n{text}", pytrace=False))


def pytest_runtest_teardown(item: pytest.Item) -> None:
    run = item.stash.get(RUN, None)
    if run is not None:  # the setup failed
        run.stop()


def _shown(finding: Finding) -> str:
    return f"{finding.text()}\n    {finding.change}"
