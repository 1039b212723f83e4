from __future__ import annotations

import importlib
import re

import pytest
import torch

from matrix import catalog
from tests.trials import bad_inputs

# Public names without an argument that a user could get wrong.
NOT_USED = {
    "amp.Precision",  # created by the fixes
    "amp.ScaleCollapsed",
    "checkpoints.LoadReport",  # created by the fixes
    "data_loading.PinDecision",
    "data_loading.seed_worker",  # called by the loader
    "loss.GradientError",
    "memory.free_memory",  # no arguments
    "numerics.StepResult",
    "schedulers.Schedule",  # created by the fixes
}


@pytest.fixture(scope="module")
def measured() -> bad_inputs.Cells:
    return bad_inputs.measure()


@pytest.mark.xdist_group("bad-inputs")
def test_every_bad_input_gets_a_right_answer_or_an_error_that_names_it(
    measured: bad_inputs.Cells,
) -> None:
    assert bad_inputs.problems(cell for cells in measured.values() for cell in cells) == []


@pytest.mark.parametrize("family", catalog.fixes())
def test_every_public_name_of_a_fix_is_used_or_listed_as_not_used(family: str) -> None:
    public = importlib.import_module(f"reference_fixes.{family}").__all__
    used = {".".join(use.function.split(".")[:2]) for use in bad_inputs.USES}
    assert {f"{family}.{name}" for name in public} == {
        name for name in used | NOT_USED if name.split(".")[0] == family
    }


@pytest.mark.parametrize(("answer", "kind"), [(lambda x: 3.0, "wrong"), (lambda x: x * x, "right")])
def test_an_answer_counts_only_if_it_is_the_right_one(answer: object, kind: str) -> None:
    use = bad_inputs.Use("f", "x", answer, lambda x: x * x)  # type: ignore[arg-type]
    assert bad_inputs.judge(use, "float").kind == kind


@pytest.mark.xdist_group("bad-inputs")
def test_the_table_is_what_this_torch_does(measured: bad_inputs.Cells) -> None:
    text = bad_inputs.TABLE.read_text(encoding="utf-8")
    match = re.search(r"with torch ([\d.]+)", text)
    assert match
    if match[1] != torch.__version__.split("+")[0] or torch.cuda.is_available():
        pytest.skip(f"the table was written on torch {match[1]}, on a machine without a GPU")
    assert bad_inputs.marks(measured) in text, f"to write it: {bad_inputs.COMMAND}"
