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
    given = {"rows": [row], "searches": searches, "waits": {}, **changes}
    return speed.Speed("cpu", "2 threads", **given)


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
    found = measured(rows=[plain, slow])
    assert "at most 1.02, **missed** |" in speed.render(found)
    (problem,) = speed.problems(found)
    assert problem.startswith("missed: sleeping: slow: ")


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({}, []),
        ({"waits": {"guard": 0}}, []),
        ({"waits": {"guard": 2}}, ["missed: guard: waits 2 times"]),
        (
            {"searches": [speed.Search("ours", 37, 13, 0.5), speed.Search("theirs", 36, 32, 1.5)]},
            ["missed: ours: 13 tries, at most 12"],
        ),
        (
            {"searches": [speed.Search("ours", 35, 11, 0.5), speed.Search("theirs", 36, 32, 1.5)]},
            ["missed: ours: found 35, others found 36"],
        ),
    ],
)
def test_a_search_that_finds_less_or_tries_more_and_a_step_that_waits_fail(
    changed: dict[str, Any], problem: list[str]
) -> None:
    assert speed.problems(measured(**changed)) == problem


@pytest.mark.parametrize("device", [device for device in DEVICES if BY_NAME[device].synchronize])
def test_a_clock_waits_for_the_device(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    module = getattr(torch, device)
    monkeypatch.setattr(module, "synchronize", lambda: events.append("wait"))
    speed.Clock(device).seconds(lambda: events.append("work"), 2)
    assert events == ["wait", "work", "work", "wait"]


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
