from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...code import Code, Hit, last_name, names, path, receiver, source
from ...project import imported, program
from ...training import certain, continues, in_a_test, is_dead, is_fragment
from .. import needs

SEEDS = ("manual_seed", "seed_everything", "set_seed", "setup_seed", "init_seed", "seed_all")

KEEPS = ("rng_state", "get_state(")  # functions that keep the state of a generator


STARTS = re.compile(r"main|train|init|setup|set_up|run|fit|parse|prepare|build|start|launch|worker")
ONLY_READS = re.compile(r"(^|_)(predict|infer|eval|test|demo)")  # names of scripts
SHUFFLES = ("shuffle=True", "shuffle(", "RandomSampler", "randperm(")


@needs("seed")
def resumed_run_repeats_the_first_epoch(code: Code) -> Iterator[Hit]:
    calls = [call for name in SEEDS for call in code.calls.get(name, ())]
    if not calls or not (is_fragment(code) or _resumes(code)):
        return
    shows_rows = any(each.name == "__getitem__" for each in code.all(ast.FunctionDef))
    if shows_rows and not code.calls.get("backward"):
        return  # a data set, whose file shows some rows when it is run
    if any(word in file.text for file in program(code, *KEEPS) for word in KEEPS):
        return
    for call in calls:
        if not is_fragment(code) and not _starts_the_run(code, call):
            continue
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


def _resumes(code: Code) -> bool:
    """True if this file, or a file that it imports, can continue a run that shuffles its rows.

    A file with its own loop over the epochs must continue the run itself, unlike a script that
    trains a loaded model anew.
    """
    if code.path is not None and ONLY_READS.search(code.path.stem.lower()):
        return False
    has_a_loop = any("epoch" in source(loop.target) for loop in code.all(ast.For))
    if has_a_loop and not continues(code):
        return False
    files = list(imported(code, "epoch", "resume", "backward("))
    return (
        any(continues(file) for file in files)
        and any(file.calls.get("backward") for file in files)
        and any(
            word in file.text for file in [*files, *program(code, *SHUFFLES)] for word in SHUFFLES
        )
    )


def _starts_the_run(code: Code, call: ast.Call) -> bool:
    """True if the call seeds the global generator, or the generator of a loader, at the start."""
    function = code.function(call)
    if not STARTS.search(getattr(function, "name", "main")) or in_a_test(code, call):
        return False
    if any(
        isinstance(above, ast.With) and "fork_rng" in source(above.items[0].context_expr)
        for above in code.ancestors(call)
    ):
        return False
    owner = path(receiver(call))
    if owner and owner.partition(".")[0] == "self":
        return False
    return not owner or code.is_imported(call.func) or bool(code.calls_in(function, "DataLoader"))


def _is_drawn(code: Code, seed: ast.expr) -> bool:
    """True if the seed is always a random number, so that every start has a different seed."""
    value = code.value(seed)
    return (
        isinstance(value, ast.Call)
        and last_name(value.func) in ("randint", "randrange", "time")
        and certain(code, value, seed)
    )


def _is_in_a_helper(code: Code, call: ast.Call) -> bool:
    """True for the definition of a function such as set_seed(), which others call."""
    return "seed" in getattr(code.function(call), "name", "")
