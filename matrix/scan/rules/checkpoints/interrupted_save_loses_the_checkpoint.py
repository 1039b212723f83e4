from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, path, source
from ...training import epoch_loop, is_dead, is_fragment, resumes
from .. import needs

STATES = ("optim", "epoch", "step", "iter")


@needs("save(", "torch")
def interrupted_save_loses_the_checkpoint(code: Code) -> Iterator[Hit]:
    if any(word in code.text for word in (".replace(", "rename(", "copy", "move(")):
        return
    if not resumes(code):
        return
    for call in code.calls.get("save", ()):
        file = argument(call, 1, "f")
        if code.full(call.func) != "torch.save" or file is None or is_dead(code, call):
            continue
        if is_fragment(code) or (_is_fixed(code, file) and _is_resumed(code, call)):
            yield Hit(
                call,
                f"{source(call)} empties the only checkpoint before it writes the new one",
            )
            return


def _is_resumed(code: Code, call: ast.Call) -> bool:
    """True if each epoch saves the state of a run that can be resumed."""
    saved = code.value(argument(call, 0, "obj"))
    if not isinstance(saved, ast.Dict) or epoch_loop(code, call) is None:
        return False
    copies = [
        other
        for other in code.calls.get("save", ())
        if other is not call and code.value(argument(other, 0, "obj")) is saved
    ]
    if copies:  # as a second file for the best state
        return False
    return any(word in str(constant(key)) for key in saved.keys for word in STATES)


def _is_fixed(code: Code, file: ast.expr) -> bool:
    """True if the file has the same name in every epoch."""
    value = code.value(file) or file
    if isinstance(constant(value), str):
        return True
    if isinstance(value, ast.Call):  # os.path.join(folder, "last.pt")
        return bool(value.args) and isinstance(constant(value.args[-1]), str)
    if isinstance(value, ast.BinOp):
        return isinstance(constant(value.right), str) and "{" not in source(value)
    return path(value).startswith(("args.", "opt.", "config.", "self.args."))
