from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, last_name, receiver, source
from ...project import around
from ...training import is_fragment, is_optimizer, is_scheduler, resumes
from .. import needs
from .shared import is_written_before


@needs("load_state_dict(")
def resume_without_optimizer_state(code: Code) -> Iterator[Hit]:
    if not resumes(code):
        return
    files = [code] if _saves_its_epochs(code) else around(code, "optim")
    if any(_keeps_the_state(file) for file in files):
        return
    for call in code.calls.get("load_state_dict", ()):
        model = receiver(call)
        if model is None or is_scheduler(code, model) or not last_name(model):
            continue
        if is_written_before(code, call):  # restores the best epoch of this run
            continue
        if (is_fragment(code) and not code.all(ast.ClassDef)) or _trains(code):
            yield Hit(
                call,
                f"{source(call, 40)} restores the weights, but nothing saves or loads the state of "
                "the optimizer",
            )
            return


def _saves_its_epochs(code: Code) -> bool:
    """True if the file itself saves a dict with an epoch, so it loads its own checkpoint."""
    saved = [
        code.value(argument(call, 0, "obj"))
        for call in code.calls.get("save", ())
        if code.full(call.func) == "torch.save"
    ]
    return any(
        constant(key) == "epoch"
        for state in saved
        if isinstance(state, ast.Dict)
        for key in state.keys
    )


def _keeps_the_state(code: Code) -> bool:
    """True if the file saves or loads the state of an optimizer."""
    stated = [
        receiver(call)
        for name in ("state_dict", "load_state_dict")
        for call in code.calls.get(name, ())
    ]
    return any(is_optimizer(code, each) for each in stated) or _has_a_key(code)


def _has_a_key(code: Code) -> bool:
    """True for a dict key such as "optimizer", whose value may be a state."""
    keys = [key for table in code.all(ast.Dict) for key in table.keys]
    keys += [part.slice for part in code.all(ast.Subscript)]
    return any("optim" in str(constant(key)).lower() for key in keys)


def _trains(code: Code) -> bool:
    """True if this file also steps an optimizer that has a state."""
    text = code.text
    return "Adam" in text or "momentum" in text or "RMSprop" in text
