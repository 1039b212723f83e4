from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner

from matrix.devices import BY_NAME, DEVICES
from tests.trials import shared, speed

CPU_TABLE = Path(str(speed.TABLE).format(device="cpu"))


def measured(**changes: Any) -> speed.Speed:
    row = speed.Row("work", "ours", 0.1, speed.Ratio(0.9, 1.0, 1.1))
    searches = [speed.Search("ours", 37, 11, 0.5), speed.Search("theirs", 36, 32, 1.5)]
    parts = {"rows": [row], "searches": searches, "waits": {}, **changes}
    return speed.Speed("cpu", "2 threads", **parts)


def test_variants_are_compared_within_rounds_and_a_missed_target_fails() -> None:
    variants: speed.Variants = {
        "plain": lambda: time.sleep(0.002),
        "slow": lambda: time.sleep(0.006),
    }
    targets = {"slow": ("at most 1.02", lambda ratio: ratio <= 1.02)}
    plain, slow = speed.rows(speed.Clock("cpu"), "sleeping", variants, 5, targets)
    assert plain.ratio == (1.0, 1.0, 1.0)
    assert 1.5 < slow.ratio.median < 6
    assert slow.ratio.low <= slow.ratio.median <= slow.ratio.high
    result = measured(rows=[plain, slow])
    assert "at most 1.02, **missed** |" in speed.render(result)
    (problem,) = speed.problems(result)
    assert problem.startswith("missed: sleeping: slow: ")


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({}, []),
        ({"waits": {"guard": 0}}, []),
        ({"waits": {"guard": 2}}, ["missed: guard: waits 2 times"]),
        ({"waits": {"guard": 2}, "searches": []}, ["missed: guard: waits 2 times"]),
        (
            {"searches": [speed.Search("ours", 37, 13, 0.5), speed.Search("theirs", 36, 32, 1.5)]},
            ["missed: ours: 13 tries, at most 12"],
        ),
        (
            {"searches": [speed.Search("ours", 35, 11, 0.5), speed.Search("theirs", 36, 32, 1.5)]},
            ["missed: ours: found 35, theirs 36"],
        ),
        (
            {"searches": [speed.Search("ours", 36, 11, 0.5), speed.Search("theirs", 36, 9, 1.5)]},
            ["missed: ours: 11 tries, theirs 9"],
        ),
    ],
)
def test_a_search_that_finds_less_or_tries_more_and_a_step_that_waits_fail(
    changed: dict[str, Any], problem: list[str]
) -> None:
    assert speed.problems(measured(**changed)) == problem


def test_the_best_overlap_is_all_but_the_first_copy_or_the_last_computation() -> None:
    assert speed.best_overlap(8.0, 4.0, 4) == 9.0
    assert speed.best_overlap(4.0, 8.0, 4) == 9.0


def test_a_part_that_fails_is_a_problem_and_costs_no_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row, search = measured().rows[0], measured().searches[0]
    for name in ("guarded_step", "snapshots", "loaders"):
        monkeypatch.setattr(speed, name, lambda *arguments: [row])
    monkeypatch.setattr(speed, "input_gradients", lambda *arguments: 1 / 0)
    monkeypatch.setattr(speed, "searches", lambda device: [search])
    kept: list[int] = []
    found = speed.measure("cpu", 5, lambda result: kept.append(len(result.rows)))
    assert kept == [1, 2, 2, 3, 4, 4]
    assert found.searches == [search]
    assert speed.problems(found) == ["failed: ZeroDivisionError: division by zero"]
    assert "input_gradients" in capsys.readouterr().err  # part of the traceback


@pytest.mark.parametrize("device", [device for device in DEVICES if BY_NAME[device].asynchronous])
def test_a_device_is_timed_by_its_own_events(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    happened: list[str] = []

    class Event:
        def __init__(self, enable_timing: bool) -> None:
            assert enable_timing

        def record(self) -> None:
            happened.append("event")

        def elapsed_time(self, later: Event) -> float:
            happened.append("read")
            return 12.0  # milliseconds

    module = getattr(torch, device)
    monkeypatch.setattr(module, "Event", Event, raising=False)
    monkeypatch.setattr(module, "synchronize", lambda: happened.append("wait"))
    assert speed.Clock(device).seconds(lambda: happened.append("work"), 3) == pytest.approx(0.004)
    assert happened == ["wait", "event", *["work"] * 3, "event", "wait", "read"]


@pytest.mark.parametrize(("factor", "size", "tries"), [(0.9, 36, 32), (0.5, 32, 6)])
def test_accelerates_and_tomas_search_rules_are_reproduced_exactly(
    factor: float, size: int, tries: int
) -> None:
    tried = []

    def run(size: int) -> None:
        tried.append(size)
        speed.simulated(size)

    assert (speed.by_factor(run, 1024, factor), len(tried)) == (size, tries)


def test_the_search_rules_of_others_pass_other_errors_on() -> None:
    def run(size: int) -> None:
        raise RuntimeError("mat1 and mat2")

    with pytest.raises(RuntimeError, match="^mat1"):
        speed.by_factor(run, 8, 0.9)


def test_an_unusable_device_is_neither_met_nor_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "probe", lambda device: {"ok": False, "reason": "no GPU"})
    result = CliRunner().invoke(speed.main, ["--device", "cuda"])
    assert result.exit_code == shared.NOT_MEASURED
    assert "cuda is not usable on this machine: no GPU" in result.output


def test_the_table_in_the_docs_meets_its_targets() -> None:
    text = CPU_TABLE.read_text(encoding="utf-8")
    assert "**missed**" not in text
    assert set(re.findall(r"\| (\w+\.\w+)", text)) >= {
        "data_loading.Prefetcher",
        "data_loading.to_device",
        "memory.find_batch_size",
        "numerics.Snapshot",
        "numerics.clip_or_skip",
        "rnn.input_gradients",
    }
