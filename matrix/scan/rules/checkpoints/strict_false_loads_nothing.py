from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, path, receiver, source
from ...training import is_dead, is_fragment
from .. import needs
from .shared import is_test, is_written_before, parts_of, torch_saves

# Keys under which frameworks store a model's parameters in a file.
KEYS = ("state_dict", "model", "model_state_dict", "net", "weights", "params")
OPTIONS = ("args", "opt", "opts", "cfg", "config", "hparams", "hps", "FLAGS")


@needs("load_state_dict", "strict")
def strict_false_loads_nothing(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("load_state_dict", ()):
        state = argument(call, 0, "state_dict")
        if (
            receiver(call) is not None
            and state is not None
            and constant(argument(call, 1, "strict")) is False
            and isinstance(code.parent[call], ast.Expr)
            and (is_fragment(code) or _is_of_a_file(code, state))
            and not _is_changed(code, state)
            and not _is_built_from_file(code, call)
            and not _is_of_this_program(code, call, state)
            and not is_written_before(code, call)
            and not is_test(code, call)
            and not is_dead(code, call)
        ):
            yield Hit(
                call,
                f"the result of {source(call.func, 40)}() is ignored, although only this result "
                f"tells whether any key of {source(state, 40)} matched",
            )


def _is_of_a_file(code: Code, state: ast.AST) -> bool:
    """True if the state is the content of a file that the user specifies, or the parameters in it.

    In other files, the keys match, because the program wrote the files or is shipped with them.
    """
    value = code.value(state)
    while isinstance(value, ast.Subscript):
        if constant(value.slice) not in KEYS:
            return False
        value = code.value(value.value)
    file = _file_of(code, state)
    if file is None or not isinstance(value, ast.Call):
        return False
    if code.full(value.func) not in ("torch.load", "safetensors.torch.load_file"):
        return False
    if any(word in path(file).split(".")[:-1] for word in OPTIONS):
        return True
    return code.value(file) is None and _is_handed_in(code, file)


def _file_of(code: Code, state: ast.AST) -> ast.expr | None:
    """The file from which the state is read."""
    load = code.value(parts_of(code, state)[-1])
    return load.args[0] if isinstance(load, ast.Call) and load.args else None


def _is_handed_in(code: Code, file: ast.expr) -> bool:
    """True if the file is a parameter, and no call in this code builds the file name itself."""
    function = code.function(file)
    if not isinstance(function, ast.FunctionDef):
        return False
    parameters = [parameter.arg for parameter in function.args.posonlyargs + function.args.args]
    if path(file) not in parameters:
        return path(file) in [parameter.arg for parameter in function.args.kwonlyargs]
    owner = code.parent[function]
    position = parameters.index(path(file)) - isinstance(owner, ast.ClassDef)
    called = function.name
    if called == "__init__" and isinstance(owner, ast.ClassDef):
        called = owner.name
    passed = [argument(call, position, path(file)) for call in code.calls.get(called, ())]
    built = (ast.JoinedStr, ast.BinOp, ast.Call)
    return not any(
        isinstance(code.value(value), built) or isinstance(constant(code.value(value)), str)
        for value in passed
    )


def _is_of_this_program(code: Code, load: ast.Call, state: ast.AST) -> bool:
    """True if the program has definitely written the file.

    In this case, the program also saves to the file, or also loads an optimizer from it (loading
    an optimizer is always strict).
    """
    file = _file_of(code, state)
    if file is None or is_fragment(code):
        return False
    for save in torch_saves(code):
        target = argument(save, 1, "f")
        if (
            target is not None
            and ast.dump(target) == ast.dump(file)
            and (code.function(save) is code.function(load) or not isinstance(file, ast.Name))
        ):
            return True
    whole = code.value(parts_of(code, state)[-1])
    return any(
        (other := argument(call, 0, "state_dict")) is not None
        and constant(argument(call, 1, "strict")) is not False
        and code.value(parts_of(code, other)[-1]) is whole
        for statement in code.block(code.statement(load))
        if isinstance(statement, ast.Expr)
        for call in code.calls_in(statement, "load_state_dict")
    )


def _is_changed(code: Code, state: ast.AST) -> bool:
    """True if the code selects or renames keys, or reads a key of the model.

    Reading a missing key raises an error.
    """
    name = path(state)
    if not name:
        return False
    function = code.function(state)
    return any(
        path(subscript.value) == name
        and (not isinstance(subscript.ctx, ast.Load) or _is_key(subscript.slice))
        for subscript in code.within(function, ast.Subscript)
    ) or any(path(receiver(call)) == name for call in code.calls_in(function, "pop", "update"))


def _is_key(part: ast.expr) -> bool:
    """True if the key is the name of a parameter, such as "fc.weight" or f"{name}.bias"."""
    last = part.values[-1] if isinstance(part, ast.JoinedStr) and part.values else part
    return "." in str(constant(last))


def _is_built_from_file(code: Code, load: ast.Call) -> bool:
    """True if the model is built from a configuration in the same file."""
    return any(
        constant(subscript.slice) in ("config", "cfg", "args", "hparams", "opt", "yaml")
        for subscript in code.within(code.function(load), ast.Subscript)
    )
