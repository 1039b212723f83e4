from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, last_name, names, source
from ...training import epoch_loop, is_loader
from .. import needs
from .shared import counts_batches, is_bare, is_of_epochs, is_over_batches, maker_calls, steps_of

LENGTHS = {"StepLR": "step_size", "MultiStepLR": "milestones", "ExponentialLR": "gamma"}
MOST_EPOCHS = 100  # a larger number may count batches
SLOWEST = 0.99  # a factor nearer to 1 may be meant per batch


@needs("StepLR|ExponentialLR", "step()")
def step_lr_counts_batches(code: Code) -> Iterator[Hit]:
    for name, option in LENGTHS.items():
        for maker in maker_calls(code, name):
            length = argument(maker, 1, option)
            steps = steps_of(code, maker)
            if length is None or not steps or not _counts_epochs(code, name, length):
                continue
            if all(_is_per_batch(code, step) for step in steps):
                yield Hit(
                    steps[0],
                    f"the scheduler is stepped per batch, but {option}={source(length)} seems to "
                    "be meant per epoch",
                )


def _is_per_batch(code: Code, step: ast.Call) -> bool:
    """True if every pass of a loop over batches, within a loop over epochs, reaches the step."""
    loops = code.loops(step)
    if not loops or not is_bare(code, step) or code.parent[code.statement(step)] is not loops[0]:
        return False
    if not isinstance(loops[0], ast.For) or epoch_loop(code, loops[0]) is loops[0]:
        return False
    return (is_over_batches(loops[0]) or is_loader(code, loops[0].iter)) and epoch_loop(
        code, loops[0]
    ) is not None


def _counts_epochs(code: Code, name: str, length: ast.expr) -> bool:
    """True if the length is a small number, or has the name of a number of epochs."""
    if counts_batches(code, length):
        return False
    if is_of_epochs(last_name(length)) or any(is_of_epochs(word) for word in names(length)):
        return True
    value = code.value(length) or length
    numbers = [constant(each) for each in getattr(value, "elts", [value])]
    if not numbers or not all(isinstance(number, (int, float)) for number in numbers):
        return False
    most = max(float(str(number)) for number in numbers)
    return most < SLOWEST if name == "ExponentialLR" else most <= MOST_EPOCHS
