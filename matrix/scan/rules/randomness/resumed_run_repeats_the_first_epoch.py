from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, last_name, names, path, receiver, source
from ...project import around
from ...training import is_dead, is_fragment, resumes
from .. import needs

SEEDS = ("manual_seed", "seed_everything", "set_seed", "setup_seed", "init_seed", "seed_all")

KEEPS = ("rng_state", "get_state(")  # functions that keep the state of a generator


@needs("seed", "resum|start_epoch|epoch_start|load_state_dict(")
def resumed_run_repeats_the_first_epoch(code: Code) -> Iterator[Hit]:
    if not is_fragment(code) and not (_resumes(code) and _shuffles(code)):
        return
    if any(word in file.text for file in around(code, *KEEPS) for word in KEEPS):
        return
    for call in [call for name in SEEDS for call in code.calls.get(name, ())]:
        if code.loops(call) or is_dead(code, call) or _is_in_a_helper(code, call):
            continue
        if is_fragment(code) and path(receiver(call)) in ("", "torch"):
            continue
        if any("epoch" in name or "step" in name for value in call.args for name in names(value)):
            continue
        if any(_is_drawn(code, value) for value in call.args):
            continue
        yield Hit(
            call, f"{source(call)} runs at every start, so a resumed run repeats the first shuffle"
        )
        return


def _is_drawn(code: Code, seed: ast.expr) -> bool:
    """True if the seed is itself a random number, so that every start has a different seed."""
    value = code.value(seed)
    return isinstance(value, ast.Call) and last_name(value.func) in ("randint", "randrange", "time")


def _resumes(code: Code) -> bool:
    """True if this script can continue an earlier run, here or in the files around it."""
    options = {
        constant(value) for call in code.calls.get("add_argument", ()) for value in call.args
    }
    return resumes(code) or (
        bool(options & {"--resume", "--start_epoch", "--start-epoch", "--epoch_start"})
        and any(file.calls.get("load_state_dict") for file in around(code, "load_state_dict("))
    )


def _shuffles(code: Code) -> bool:
    return any(
        file.calls.get("RandomSampler")
        or any(
            constant(argument(call, 2, "shuffle")) is True
            for call in file.calls.get("DataLoader", ())
        )
        for file in around(code, "shuffle=True", "RandomSampler")
    )


def _is_in_a_helper(code: Code, call: ast.Call) -> bool:
    """True for the definition of a function such as set_seed(), which others call."""
    return "seed" in getattr(code.function(call), "name", "")
