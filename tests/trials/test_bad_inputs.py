import re

import pytest
import torch

from tests import bad_inputs


@pytest.mark.parametrize("use", bad_inputs.USES, ids=lambda use: f"{use.function}-{use.argument}")
@pytest.mark.filterwarnings("ignore")
def test_every_bad_input_gets_a_right_answer_or_an_error_that_names_it(use):
    bad = [
        cell
        for cell in (bad_inputs.judge(use, name) for name in bad_inputs.INPUTS)
        if cell.kind in ("wrong", "unclear")
    ]
    assert not bad, "\n".join(f"{cell.kind}: {cell.input}: {cell.text}" for cell in bad)


def test_every_public_function_is_among_the_uses():
    used = {use.function.split(".")[1] for use in bad_inputs.USES}
    modules = (
        bad_inputs.amp,
        bad_inputs.data_loading,
        bad_inputs.loss,
        bad_inputs.memory,
        bad_inputs.numerics,
        bad_inputs.rnn,
    )
    public = {name for module in modules for name in module.__all__}
    takes_nothing = {"release", "without_cudnn"}
    made_by_us = {
        "Epoch",
        "Precision",
        "PinDecision",
        "StepResult",
        "GradientError",
        "ScaleCollapsed",
    }
    by_pytorch = {"seed_worker"}  # called by the loader
    same_as_another = {"out_of_memory_kind"}  # is_out_of_memory asks it
    assert public - takes_nothing - made_by_us - by_pytorch - same_as_another == used


def test_the_table_is_what_this_torch_does():
    text = bad_inputs.TABLE.read_text(encoding="utf-8")
    written = re.search(r"on torch ([\d.]+)", text).group(1)
    if written != torch.__version__.split("+")[0] or torch.cuda.is_available():
        pytest.skip(f"the table was written on torch {written}, on a machine without a GPU")
    rows = [line for line in text.splitlines() if re.match(r"\| [^|]+ \|( ([✓E]|) \|)+$", line)]
    assert rows == bad_inputs.marks(bad_inputs.run())[2:], f"write it anew: {bad_inputs.COMMAND}"
