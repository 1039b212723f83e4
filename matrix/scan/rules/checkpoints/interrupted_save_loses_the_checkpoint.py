from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, last_name, names, path, source
from ...project import Called, called, imported, program
from ...training import epoch_loop, in_a_test, is_dead, is_fragment, program_resumes
from .. import needs
from .shared import torch_saves

STATES = ("optim", "epoch", "step", "iter")
SAFE = ("rename", "copy", "copy2", "copyfile", "move", "copytree", "NamedTemporaryFile", "mkstemp")
OTHERS = ("best", "final", "min", "max", "improve", "better")  # files that no run is resumed from
BUILDS = ("join", "str", "Path", "format", "abspath")  # functions that build the name of a file
FOLDERS = re.compile(
    r"dir|fold?er|fol$|path|root|output|prefix|arch|experiment|exp_?name|model_?name|^name$"
)
OPTIONS = ("args.", "opt.", "config.", "self.args.")


@needs("save", "torch")
def interrupted_save_loses_the_checkpoint(code: Code) -> Iterator[Hit]:
    calls = [
        call
        for name, calls in code.calls.items()
        if "save" in name.lower() and name not in ("savefig", "savetxt", "save_image")
        for call in calls
    ]
    for call in calls:
        if is_dead(code, call) or in_a_test(code, call) or _is_safe(code, code.function(call)):
            continue
        file = argument(call, 1, "f") if is_fragment(code) else _file(code, call)
        if file is None or (is_fragment(code) and _is_of_the_best(code, call, file)):
            continue
        if is_fragment(code) or (_is_repeated(code, call) and _is_needed(code, call, file)):
            yield Hit(
                call,
                f"{source(call)} empties the only checkpoint before it writes the new one",
            )
            return


def _is_needed(code: Code, call: ast.Call, file: ast.expr) -> bool:
    """True if a run resumes from the file, or if the program saves no other file."""
    found = called(code, call)
    saves = [call] if found is None else _torch_saves(found)
    where = code if found is None else found.code
    if not saves or not (_is_of_the_run(where, saves[0]) or _is_of_the_run(code, call)):
        return False
    if not _is_of_the_best(code, call, file) and _is_whole(where, saves[0]):
        return program_resumes(code) or _is_the_only(where, saves[0])
    return _is_the_only(where, saves[0]) and not _is_saved_again(code, call)


def _is_saved_again(code: Code, call: ast.Call) -> bool:
    """True if another call of the same helper saves the same object, as to a file per epoch."""
    return any(
        other is not call
        and other.args[:1] != []
        and call.args[:1] != []
        and ast.dump(other.args[0]) == ast.dump(call.args[0])
        and not code.excludes(call, other)
        for other in code.calls.get(last_name(call.func), ())
    )


def _is_whole(code: Code, save: ast.Call) -> bool:
    """True if the file has more than the weights, or if a function such as save_model() writes it.

    The weights alone may be for another program.
    """
    saved = code.value(argument(save, 0, "obj"))
    return not isinstance(saved, ast.Call) or getattr(code.function(save), "name", "").startswith(
        "save"
    )


def _is_the_only(code: Code, save: ast.Call) -> bool:
    """True if the file and the files that it imports save to no other file in the same run."""
    return not any(
        other is not save and not is_dead(file, other) and not code.excludes(save, other)
        for file in imported(code, "torch.save(")
        for other in torch_saves(file)
    )


def _file(code: Code, call: ast.Call) -> ast.expr | None:
    """The file to which torch.save() or a helper writes, if its name is the same in every epoch."""
    if code.full(call.func) == "torch.save":
        file = argument(call, 1, "f")
        return file if file is not None and _is_fixed(code, file) else None
    found = called(code, call)
    if found is None or _is_safe(found.code, found.node):
        return None
    files = [argument(save, 1, "f") for save in _torch_saves(found)]
    if len(files) != 1 or files[0] is None:
        return None
    name = _parameter_of(found, files[0])
    return _passed(code, call, found, name) if name else None


def _torch_saves(found: Called) -> list[ast.Call]:
    saves = found.code.calls_in(found.node, "save")
    return [save for save in saves if found.code.full(save.func) == "torch.save"]


def _parameter_of(found: Called, file: ast.expr) -> str:
    """The parameter for the name of the file, as in torch.save(state, os.path.join(dir, name))."""
    value = found.code.value(file) or file
    if isinstance(value, ast.Call) and value.args:  # os.path.join(folder, name)
        value = value.args[-1]
    return path(value) if path(value) in found.parameters else ""


def _passed(code: Code, call: ast.Call, found: Called, name: str) -> ast.expr | None:
    """The argument for the parameter, or its default, if it is a constant."""
    value = argument(call, found.parameters.index(name), name)
    if value is not None:
        return value if _is_fixed(code, value) else None
    arguments = found.node.args
    defaults = dict(zip(found.parameters[::-1], arguments.defaults[::-1], strict=False))
    default = defaults.get(name)
    return default if isinstance(constant(default), str) else None


def _is_safe(code: Code, function: ast.AST) -> bool:
    """True if the function renames or copies a file, so that a complete file remains."""
    return bool(code.calls_in(function, *SAFE)) or any(
        len(call.args) == 1 or code.full(call.func) == "os.replace"
        for call in code.calls_in(function, "replace")
    )


def _is_of_the_best(code: Code, call: ast.Call, file: ast.expr) -> bool:
    """True if the file has the best state, from which no run is resumed."""
    value = code.value(file) or file
    texts = {str(part.value) for part in ast.walk(value) if isinstance(part, ast.Constant)}
    words = {*texts, *names(value), *names(file)}
    for test in code.conditions(call):
        words |= names(test)
        if any(isinstance(part, (ast.Lt, ast.Gt, ast.LtE, ast.GtE)) for part in ast.walk(test)):
            return True
    return any(other in word.lower() for word in words for other in OTHERS)


def _is_of_the_run(code: Code, call: ast.Call) -> bool:
    """True if the call saves the weights or the whole state of the run, and to no other file."""
    given = argument(call, 0, "obj")
    saved = code.value(given) or given
    if isinstance(saved, ast.Dict):
        if not any(word in str(constant(key)) for key in saved.keys for word in STATES):
            return False
    elif not isinstance(saved, ast.Call) or last_name(saved.func) != "state_dict":
        return path(saved) in ("state", "checkpoint", "ckpt")  # a parameter
    return not any(
        other is not call
        and code.value(argument(other, 0, "obj")) is saved
        and not any(
            isinstance(part, ast.Mod) for test in code.conditions(other) for part in ast.walk(test)
        )
        for other in code.calls.get("save", ())
    )


def _is_repeated(code: Code, call: ast.Call) -> bool:
    """True if a loop over epochs repeats the call, here or in a file that uses its function."""
    if epoch_loop(code, call) is not None:
        return True
    name = getattr(code.function(call), "name", "")
    return bool(name) and any(
        epoch_loop(file, use) is not None
        for file in program(code, f"{name}(")
        if file is not code
        for use in file.calls.get(name, ())
    )


def _is_fixed(code: Code, file: ast.expr) -> bool:
    """True if the file has the same name in every epoch."""
    value = code.value(file) or file
    has_a_text = any(isinstance(constant(part), str) for part in ast.walk(value)) or any(
        word in name.lower() for word in ("best", "last", "latest") for name in names(value)
    )
    is_set = path(value).startswith(OPTIONS) or (path(value) != "" and code.is_imported(value))
    return (has_a_text or is_set) and not _varies(code, value)


def _varies(code: Code, name: ast.AST, depth: int = 3) -> bool:
    """True if the name of a file may contain the number of an epoch, or another changing value."""
    for part in ast.walk(name):
        if not isinstance(part, (ast.Name, ast.Attribute)):
            continue
        above = code.parent.get(part)
        if isinstance(above, ast.Attribute) or (
            isinstance(above, ast.Call) and above.func is part and last_name(part) in BUILDS
        ):
            continue
        value = code.value(part)
        if value is not None and value is not part and depth:
            if _varies(code, value, depth - 1):
                return True
        elif code.is_imported(part):
            continue
        elif not path(part).startswith(OPTIONS) and not FOLDERS.search(last_name(part).lower()):
            return True
    return False
