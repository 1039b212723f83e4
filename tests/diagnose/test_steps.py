"""Runs the code of each step on programs with each of its outcomes.

A module in setups/ defines OUTCOMES, the programs of each outcome. It may also define RANKS, the
number of processes that run the code, HANGS: the name of a program that hangs -> a limit in the
code and a shorter limit, LINUX, if the programs run only there, and FILES, if the code writes into
the current folder.
"""

import importlib
import os
import sys

import pytest
import torch

from matrix.diagnose import checklists
from tests.diagnose.trainers import clock

STEPS = checklists.steps()
CASES = [
    pytest.param(step, module, number, setup, id=f"{step.name}-{number}-{setup.__name__}")
    for step in STEPS.values()
    for module in [importlib.import_module(f"tests.diagnose.setups.{step.name.replace('-', '_')}")]
    for number, setups in enumerate(module.OUTCOMES)
    for setup in setups
]


def outcomes(step, module, setup):
    """The numbers of the outcomes that are true after the code has run."""
    names = setup()
    limit, shorter = getattr(module, "HANGS", {}).get(setup.__name__, ("", ""))
    assert limit in step.code
    code = step.code.replace(limit, shorter) if limit else step.code
    exec(compile(code, f"{step.name}.py", "exec"), names)
    return [number for number, outcome in enumerate(step.outcomes) if eval(outcome.when, names)]


def _on_a_rank(rank, step, module, setup, file, queue):
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{file}", rank=rank, world_size=module.RANKS
    )
    seen = outcomes(step, module, setup)
    if rank == 0:
        queue.put(seen)
    sys.stdout.flush()
    torch.distributed.barrier()
    os._exit(0)  # destroy_process_group() may hang: distributed/destroying_gloo_deadlocks


@pytest.mark.parametrize(("step", "module", "number", "setup"), CASES)
def test_a_step_tells_its_outcomes_apart(step, module, number, setup, capfd, tmp_path, monkeypatch):
    if sys.platform != "linux" and (hasattr(module, "RANKS") or hasattr(module, "LINUX")):
        pytest.skip("needs Linux")
    monkeypatch.setattr("time.perf_counter", clock.perf_counter)
    if hasattr(module, "FILES"):
        monkeypatch.chdir(tmp_path)
    if hasattr(module, "RANKS"):
        context = torch.multiprocessing.get_context("fork")
        queue = context.SimpleQueue()
        torch.multiprocessing.start_processes(
            _on_a_rank,
            (step, module, setup, tmp_path / "ranks", queue),
            nprocs=module.RANKS,
            start_method="fork",
        )
        seen = queue.get()
    else:
        seen = outcomes(step, module, setup)
    assert seen == [number], capfd.readouterr().out
    sys.stdout.flush()
    assert capfd.readouterr().out.strip(), "the code prints nothing"


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_each_outcome_has_a_setup(step):
    module = importlib.import_module(f"tests.diagnose.setups.{step.name.replace('-', '_')}")
    assert [bool(setups) for setups in module.OUTCOMES] == [True] * len(step.outcomes)
