"""Tests the main uses of the command line in a terminal of 80 columns, with this suite's torch."""

import os
import re
import sys

import pytest
import torch

from matrix import catalog
from matrix.torches import minor
from tests.harness.helpers import in_terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pty")
TRAIN = """\
import torch

weight = torch.ones(1, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
scaler = torch.amp.GradScaler("cpu")
for batch in range(2):
    scaler.scale(weight.sum()).backward()
    scaler.unscale_(optimizer)
"""


@pytest.fixture
def types(tmp_path):
    """Returns a function that runs a command line in a project and returns the output."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, program in {"torch-repros": "-m matrix", "python": ""}.items():
        (tools / name).write_text(
            f'#!/bin/sh\nPYTHONPATH={catalog.ROOT}:src exec {sys.executable} {program} "$@"\n'
        )
        (tools / name).chmod(0o755)
    project = tmp_path / "project"
    (project / "src/acme").mkdir(parents=True)
    (project / "train.py").write_text(TRAIN)

    def types(line, status=0):
        path = os.pathsep.join([str(tools), os.environ["PATH"]])
        done, output = in_terminal("bash", "-c", line, cwd=project, env={"PATH": path})
        assert done == status, output
        return output

    return types


def test_from_a_traceback_to_a_fix_that_imports(types):
    answer = types("python train.py 2>&1 | torch-repros explain")
    assert answer.startswith(
        "Calling unscale_() for each batch of an accumulation window fails on the second"
    )
    assert re.search(r"^your line:\s+\S*train\.py:8$", answer, re.M)
    function, command = re.search(
        r"^fix: (\w+)\(\) of \S+\s+(torch-repros .*)$", answer, re.M
    ).groups()
    wrote = types(command.replace("DIR", "src/acme/_vendor"))
    assert "wrote src/acme/_vendor/amp.py" in wrote
    assert (
        types(f"python -c 'from acme._vendor.amp import {function}; print({function}.__name__)'")
        == f"{function}\n"
    )
    assert "unchanged" in types("torch-repros vendored src/acme/_vendor")
    explained = types("torch-repros exec -- python train.py", status=1)
    assert "Traceback (most recent call last):" in explained
    assert answer.partition("\n")[0] in explained


def test_from_a_symptom_to_all_about_one_failure(types):
    answer = types("torch-repros search frozen batch norm layers still change")
    id = re.search(r"^(\w+/\w+) \(", answer, re.M)[1]
    shown = types(f"torch-repros show {id}")
    assert shown.startswith(f"{id}\n")
    for part in ("The code (", "def reproduce(device", "\nfix: ", "cpu: measured 20"):
        assert part in shown


def test_is_my_torch_affected(types):
    """The measurements agree with a run here and with the comparison of releases."""
    mine = minor(torch.__version__)
    (one,) = (
        reproducer
        for reproducer in catalog.load()
        if reproducer.id == "amp/autocast_cache_under_no_grad"
    )
    verdict = one.expects("cpu", torch.__version__)
    shown = types(f"torch-repros show {one.id} --torch {mine}")
    assert f"on torch {mine}: cpu {verdict} (measured 20" in shown
    ran = types(f"torch-repros run {one.id} --device cpu")
    assert re.search(rf"{one.id} +cpu +{verdict}\b", ran) or f"{one.id}\n  cpu: {verdict}" in ran
    changes = types(f"torch-repros compare 2.10 {mine}; true")
    fixed = changes.partition("Fixed by the change")[2].partition("\n\n")[0]
    assert (one.id in fixed) == (verdict == "absent")


def test_the_answer_that_the_readme_shows_is_what_a_terminal_shows(types, tmp_path):
    readme = (catalog.ROOT / "README.md").read_text(encoding="utf-8")
    block = readme.partition("```console\n")[2].partition("```")[0]
    shown = re.fullmatch(r"\$ (tail .*)\n((?:.*\n)+)\$ (torch-repros .*)\n((?:.*\n)+)", block)
    (tmp_path / "project/crash.log").write_text(shown[2], encoding="utf-8")
    assert types(shown[1]) == shown[2]
    assert types(shown[3]) == shown[4]
