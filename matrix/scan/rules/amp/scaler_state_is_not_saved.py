from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, last_name, names, receiver, source
from ...training import is_fragment, is_optimizer, is_scaler, resumes
from .. import needs


@needs("save", "caler")
def scaler_state_is_not_saved(code: Code) -> Iterator[Hit]:
    updates = any(is_scaler(code, receiver(call)) for call in code.calls.get("update", ()))
    if not updates and not code.calls.get("GradScaler"):
        return
    if _keeps_the_scaler(code):
        return
    for call in code.all(ast.Call) if not _never_resumes(code) else ():
        if "save" in last_name(call.func) and call.args and _has_optimizer(code, call.args[0]):
            yield Hit(
                call,
                f"{source(call, 40)} saves the optimizer but not the GradScaler, so the loss "
                "scale starts over after a resume",
            )
            return
    yield from _weights_alone(code)


def _weights_alone(code: Code) -> Iterator[Hit]:
    """Yields torch.save(model.state_dict(), ...) in a file that continues an earlier run."""
    if not resumes(code):
        return
    for call in code.calls.get("save", ()):
        state = code.value(call.args[0]) if call.args else None
        if isinstance(state, ast.Call) and last_name(state.func) == "state_dict":
            yield Hit(
                call,
                f"{source(call, 40)} does not save the GradScaler, so the loss scale starts over "
                "after a resume",
            )
            return


def _keeps_the_scaler(code: Code) -> bool:
    """True if the file saves or loads a scaler's state, or puts a scaler into a dict."""
    asked = [
        receiver(call)
        for name in ("state_dict", "load_state_dict")
        for call in code.calls.get(name, ())
    ]
    return any(is_scaler(code, each) for each in asked) or any(
        is_scaler(code, value) for table in code.all(ast.Dict) for value in table.values
    )


def _never_resumes(code: Code) -> bool:
    """True for a program that never loads an optimizer's state, either directly or by a helper."""
    return "__main__" in code.text and not any(
        is_optimizer(code, value)
        for call in code.all(ast.Call)
        if any(word in last_name(call.func).lower() for word in ("load", "resume", "restore"))
        for value in (receiver(call), *call.args)
    )


def _has_optimizer(code: Code, state: ast.expr) -> bool:
    value = code.value(state) or state
    if isinstance(value, ast.DictComp):
        value = code.value(value.generators[0].iter) or value.generators[0].iter
        return is_fragment(code) or "optimizer" in names(value)
    return any(
        is_optimizer(code, receiver(call))
        for call in ast.walk(value)
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "state_dict"
    )
