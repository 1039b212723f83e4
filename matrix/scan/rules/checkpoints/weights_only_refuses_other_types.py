from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import (
    Code,
    Hit,
    argument,
    constant,
    has_unpacked,
    last_name,
    path,
    place,
    source,
)
from ...project import definition, program
from ...training import creating_call, expects_an_error, in_a_test, is_fragment
from .. import needs
from .shared import torch_saves

OF_A_MODULE = ("eval", "train", "parameters", "state_dict", "load_state_dict", "modules")
OF_A_TENSOR = ("data", "requires_grad", "grad", "names")
OF_A_DICT = frozenset("get items keys values pop update copy setdefault clear".split())
PLAIN = ("OrderedDict", "Counter")
MODELS = ("model", "net", "network")


@needs("torch.load(|torch.save(")
def weights_only_refuses_other_types(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("load", ()):
        if code.full(call.func) != "torch.load" or has_unpacked(call):
            continue
        if argument(call, -1, "weights_only") is not None or argument(call, -1, "pickle_module"):
            continue
        if in_a_test(code, call) or _has_a_way_out(code, call):
            continue
        if (what := _other_object(code, call)) is not None:
            yield Hit(call, f"{source(call, 40)} loads only tensors and plain types, but {what}")
    if not code.calls.get("load") and not is_fragment(code):
        yield from _saves_numpy(code)


def _saves_numpy(code: Code) -> Iterator[Hit]:
    """Yields the calls that save a value of NumPy for another file, which loads it as usual."""
    for call in torch_saves(code):
        saved = code.value(argument(call, 0, "obj"))
        values = [value for value in saved.values if value] if isinstance(saved, ast.Dict) else []
        value = next((value for value in values if _is_of_numpy(code, value)), None)
        if value is not None and not in_a_test(code, call) and not _loads_all_types(code):
            yield Hit(
                call,
                f"torch.load() loads only tensors and plain types, but {source(value, 40)} is a "
                "NumPy value",
            )


def _loads_all_types(code: Code) -> bool:
    """True if a file of the program loads with weights_only or a list of safe types."""
    return any(
        argument(call, -1, "weights_only") is not None or "safe_globals" in file.text
        for file in program(code, "weights_only", "safe_globals")
        for call in file.calls.get("load", ())
    )


def _is_of_numpy(code: Code, node: ast.AST | None, depth: int = 4) -> bool:
    """True if a function of NumPy, such as np.mean(), computes the value."""
    if isinstance(node, ast.Call):
        return code.full(node.func).startswith("numpy.") and last_name(node.func) != "load"
    return path(node) != "" and depth > 0 and _is_of_numpy(code, code.value(node), depth - 1)


def _has_a_way_out(code: Code, load: ast.Call) -> bool:
    """True if the code handles a failure of the load, for example by loading in another way."""
    tries = [above for above in code.ancestors(load) if isinstance(above, ast.Try)]
    if not tries:
        return expects_an_error(code, load)
    return any(
        code.calls_in(handler, "load")
        or not any(isinstance(part, (ast.Raise, ast.Return)) for part in ast.walk(handler))
        for each in tries
        for handler in each.handlers
    )


def _other_object(code: Code, load: ast.Call) -> str | None:
    """Describes an object in the file that is not a tensor or plain type, or returns None."""
    statement = code.statement(load)
    if isinstance(statement, ast.Return) and statement.value is load:
        is_model = _returns_a_model(code, load)
        return "this file also saves whole models" if is_model else None
    if not isinstance(statement, ast.Assign) or statement.value is not load:
        return None
    name = path(statement.targets[0])
    if name and _is_a_module(code, statement, name):
        return f"{name} is a whole model"
    if name and (saved := _other_value(code, statement, name)):
        return f"the file also contains {saved}"
    return None


def _is_a_module(code: Code, statement: ast.Assign, name: str) -> bool:
    """True if the code uses the loaded object like a module before it assigns the name again."""
    function = code.function(statement)
    later = [
        place(other)
        for other in code.within(function, ast.Assign)
        if place(other) > place(statement)
        and path(other.targets[0]) == name
        and not code.excludes(statement, other)
    ]
    until = min(later, default=(10**9, 0))
    called = any(
        place(statement) < place(call) <= until
        and last_name(call.func) in OF_A_MODULE
        and path(getattr(call.func, "value", None)) == name
        for call in code.calls_in(function)
    )
    return called or any(  # model.decoder.length = 3
        place(statement) < place(part) <= until
        and isinstance(part.ctx, ast.Store)
        and path(part).startswith(f"{name}.")
        and part.attr not in OF_A_TENSOR
        for part in code.within(function, ast.Attribute)
    )


def _returns_a_model(code: Code, load: ast.Call) -> bool:
    """True if the function is called load_model(), and the file saves a model as a whole."""
    words = getattr(code.function(load), "name", "").split("_")
    return bool({"load", "restore"} & set(words) and set(MODELS) & set(words)) and any(
        path(argument(call, 0, "obj")) in MODELS for call in torch_saves(code)
    )


def _other_value(code: Code, statement: ast.Assign, name: str) -> str | None:
    """The object with attributes in a checkpoint that this file both saves and loads."""
    read = {
        constant(part.slice)
        for part in code.within(code.function(statement), ast.Subscript)
        if path(part.value) == name
    }
    for call in torch_saves(code):
        saved = code.value(argument(call, 0, "obj"))
        if not isinstance(saved, ast.Dict):
            continue
        keys = {constant(key) for key in saved.keys if key is not None}
        if not is_fragment(code) and not read & keys:
            continue
        for value in saved.values:
            if is_fragment(code):
                has_attributes = path(value) in ("args", "opt")
            else:
                has_attributes = bool(path(value)) and _has_attributes(code, value)
                has_attributes = has_attributes or _is_of_numpy(code, value)
            if has_attributes:
                return source(value, 40)
    return None


def _has_attributes(code: Code, value: ast.expr) -> bool:
    """True for the result of parse_args(), and for an object whose attributes the code reads."""
    maker = creating_call(code, value)
    if maker is not None:
        name = last_name(maker.func)
        if name == "parse_args":
            return True
        if name[:1].isupper():
            is_own = name not in PLAIN and not code.torch(maker.func)
            return is_own and definition(code, maker.func) is not None
    if last_name(value) not in ("args", "opt", "opts", "cfg", "config", "hparams", "params"):
        return False
    return any(
        last_name(part.value) == last_name(value) and part.attr not in OF_A_DICT
        for part in code.all(ast.Attribute)
    )
