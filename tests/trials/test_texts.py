from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from matrix import catalog
from tests.trials import shared
from tests.trials.texts import __main__ as texts

KEPT = sorted(texts.HERE.glob("*.json"))


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_explain_knows_what_failures_print(path: Path) -> None:
    collected = json.loads(path.read_text(encoding="utf-8"))
    assert texts.problems(path.stem, collected["texts"]) == []


def test_texts_are_kept_of_the_cpu_at_least() -> None:
    assert "cpu" in [path.stem for path in KEPT]


def test_a_text_that_is_missing_or_explained_otherwise_is_a_problem() -> None:
    collected = json.loads((texts.HERE / "cpu.json").read_text(encoding="utf-8"))["texts"]
    del collected["labels_out_of_range"]
    collected["embedding_index_out_of_range"] = "KeyError: 'xyzzy'"
    assert texts.problems("cpu", collected) == [
        "labels_out_of_range: it has no text",
        "embedding_index_out_of_range: explain names nothing, "
        "not loss/embedding_index_out_of_range",
    ]


def test_every_case_expects_a_reproducer_that_exists() -> None:
    ids = {reproducer.id for reproducer in catalog.load() if reproducer.is_current}
    assert {case.expects for case in texts.cases()} <= ids
    names = [case.name for case in texts.cases()]
    assert len(names) == len(set(names))


FAILS = texts.Case("fails", ("cpu",), "amp/unscale_twice", "\nraise RuntimeError(device)\n")


def test_texts_are_kept_where_they_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "cases", lambda: [FAILS])
    out = tmp_path / "cpu.json"
    done = CliRunner().invoke(texts.main, ["--out", str(out)])
    assert done.exit_code == shared.MISSED
    assert "fails: explain names nothing, not amp/unscale_twice" in done.output
    assert json.loads(out.read_text())["texts"]["fails"].endswith("RuntimeError: cpu\n")
    assert CliRunner().invoke(texts.main, ["--collect", "--out", str(out)]).exit_code == 0


def test_each_text_is_kept_as_its_program_ends_and_what_runs_alone_is_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    running, seen = [], []

    def run_program(program: str, python: str, seconds: float, startup: float) -> str:
        assert seconds + startup < 60  # the limit of all programs together, on a machine with a GPU
        name = program.split()[-1]
        running.append(name)
        time.sleep(0.1)
        seen.append(sorted(running))
        running.remove(name)
        return name

    monkeypatch.setattr("matrix.run.observe.run_program", run_program)
    listed = [texts.Case(name, ("cpu",), "", name, alone=name == "b") for name in "abc"]
    monkeypatch.setattr(texts, "cases", lambda: listed)
    kept: list[list[str]] = []
    collected = texts.collect("cpu", lambda collected: kept.append(list(collected["texts"])))
    assert collected["texts"] == {"a": "a", "b": "b", "c": "c"}
    assert [len(names) for names in kept] == [1, 2, 3]
    assert seen[-1] == ["b"]
    assert ["a", "c"] in seen


def test_a_device_that_cannot_be_used_keeps_nothing(tmp_path: Path) -> None:
    out = tmp_path / "mps.json"
    done = CliRunner().invoke(texts.main, ["--device", "mps", "--out", str(out)])
    assert done.exit_code == shared.NOT_MEASURED
    assert not out.exists()
