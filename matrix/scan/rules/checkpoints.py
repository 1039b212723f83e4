"""What is saved, and how it is loaded."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code import (
    Code,
    Hit,
    argument,
    constant,
    has_unpacked,
    last_name,
    names,
    path,
    place,
    receiver,
    source,
)
from ..training import (
    backwards,
    certain,
    expects_an_error,
    functions_called,
    is_dead,
    is_fragment,
    is_network,
    is_scheduler,
)
from . import needs

# Keys of a file under which frameworks keep the parameters of a model.
KEYS = ("state_dict", "model", "model_state_dict", "net", "weights", "params")
OPTIONS = ("args", "opt", "opts", "cfg", "config", "hparams", "hps", "FLAGS")
FILES = ("os.path.join", "pathlib.Path", "str", "os.fspath")
# What a module becomes another object by, or what is none.
OTHERS = ("state_dict", "script", "trace", "freeze", "symbolic_trace", "convert", "export")
MOVES = ("to", "cuda", "cpu", "half", "float", "eval", "train")
WHOLES = ("model", "net", "module", "optim", "sched")
NETWORKS = ("model", "net", "coder", "backbone", "crimin", "generator", "critic", "optim", "sched")


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
            and not _is_written_before(code, call)
            and not _is_test(code, call)
            and not is_dead(code, call)
        ):
            yield Hit(
                call,
                f"what {source(call.func, 40)}() returns is dropped: it says whether any key of "
                f"{source(state, 40)} fits",
            )


@needs("load_state_dict")
def load_state_dict_of_a_path(code: Code) -> Iterator[Hit]:
    imported = {
        one.asname or one.name.partition(".")[0]
        for one in code.nodes.get(ast.alias, ())
        if isinstance(one, ast.alias)
    }
    own = any(getattr(one, "name", "") == "load_state_dict" for one in _functions(code))
    for call in code.calls.get("load_state_dict", ()):
        state, model = argument(call, 0, "state_dict"), receiver(call)
        if (
            not own
            and model is not None
            and state is not None
            and path(model).partition(".")[0] not in imported
            and (is_fragment(code) or _is_of_torch(code, model))
            and _is_path(code, state, model)
            and not expects_an_error(code, call)
        ):
            yield Hit(
                call,
                f"{source(state)} is the name of a file, and not what torch.load() returns for it",
            )


@needs("save(", "torch")
def whole_model_needs_its_class(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("save", ()):
        if (
            code.full(call.func) == "torch.save"
            and (model := argument(call, 0, "obj")) is not None
            and _is_model(code, model)
            and not _is_test(code, call)
            and not is_dead(code, call)
        ):
            yield Hit(
                call,
                f"{source(call)} keeps the name and the module of the class of {source(model)}, "
                "not its code",
            )


@needs("load_state_dict", "load(")
def cuda_checkpoint_needs_map_location(code: Code) -> Iterator[Hit]:
    anywhere = _runs_anywhere(code) and not _needs_cuda(code)
    if not is_fragment(code) and not (anywhere and _saves(code)):
        return
    for call in code.calls.get("load", ()):
        if (
            code.full(call.func) == "torch.load"
            and argument(call, 1, "map_location") is None
            and not has_unpacked(call)
            and _is_loaded(code, call)
            and not _is_of_a_scheduler(code, call)
            and not _is_written_before(code, call)
            and not any("cuda" in names(test) for test in code.conditions(call))
            and not expects_an_error(code, call)
            and not _is_test(code, call)
            and not is_dead(code, call)
        ):
            yield Hit(call, f"{source(call)} puts each tensor on the device that it was saved from")


# --- what the rules above share -------------------------------------------------------------------


def _functions(code: Code) -> list[ast.AST]:
    return code.nodes.get(ast.FunctionDef, []) + code.nodes.get(ast.AsyncFunctionDef, [])


def _is_of_torch(code: Code, node: ast.expr) -> bool:
    """Whether it is a network or an optimizer, by its class or its name: others may load a file
    themselves.
    """
    value = code.value(node)
    if isinstance(value, ast.Call) and code.full(value.func).startswith("torch."):
        return True
    words = path(node.func if isinstance(node, ast.Call) else node).lower()
    return any(word in words for word in NETWORKS)


def _is_test(code: Code, node: ast.AST) -> bool:
    return getattr(code.function(node), "name", "").startswith("test")


def _is_of_a_scheduler(code: Code, call: ast.Call) -> bool:
    """Whether it is handed to a scheduler, whose state is numbers and no tensors."""
    above = code.parent[call]
    if not isinstance(above, ast.Call) or last_name(above.func) != "load_state_dict":
        return False
    return is_scheduler(code, receiver(above))


def _is_of_a_file(code: Code, state: ast.AST) -> bool:
    """Whether it is what torch.load() returns for a file that the user names, or the parameters in
    it. The keys of a file that the program has written, or that comes with it, fit.
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
    """The file that it is read from."""
    load = code.value(_parts(code, state)[-1])
    return load.args[0] if isinstance(load, ast.Call) and load.args else None


def _is_handed_in(code: Code, file: ast.expr) -> bool:
    """Whether it is a parameter, for which nothing in this file makes the name of a file itself."""
    function = code.function(file)
    if not isinstance(function, ast.FunctionDef):
        return False
    parameters = [one.arg for one in function.args.posonlyargs + function.args.args]
    if path(file) not in parameters:
        return path(file) in [one.arg for one in function.args.kwonlyargs]
    owner = code.parent[function]
    position = parameters.index(path(file)) - isinstance(owner, ast.ClassDef)
    called = function.name
    if called == "__init__" and isinstance(owner, ast.ClassDef):
        called = owner.name
    given = [argument(call, position, path(file)) for call in code.calls.get(called, ())]
    made = (ast.JoinedStr, ast.BinOp, ast.Call)
    return not any(
        isinstance(code.value(one), made) or isinstance(constant(code.value(one)), str)
        for one in given
    )


def _is_of_this_program(code: Code, load: ast.Call, state: ast.AST) -> bool:
    """Whether the program certainly wrote the file: it saves to the same one, or an optimizer, say,
    which is strict, is loaded from it too.
    """
    file = _file_of(code, state)
    if file is None or is_fragment(code):
        return False
    for save in code.calls.get("save", ()):
        target = argument(save, 1, "f")
        if (
            code.full(save.func) == "torch.save"
            and target is not None
            and ast.dump(target) == ast.dump(file)
            and (code.function(save) is code.function(load) or not isinstance(file, ast.Name))
        ):
            return True
    whole = code.value(_parts(code, state)[-1])
    return any(
        (other := argument(call, 0, "state_dict")) is not None
        and constant(argument(call, 1, "strict")) is not False
        and code.value(_parts(code, other)[-1]) is whole
        for one in code.block(code.statement(load))
        if isinstance(one, ast.Expr)
        for call in code.calls_in(one, "load_state_dict")
    )


def _is_changed(code: Code, state: ast.AST) -> bool:
    """Whether its keys are chosen or renamed by hand, or a key of the model is asked for, which
    raises where it is missing.
    """
    name = path(state)
    if not name:
        return False
    function = code.function(state)
    return any(
        path(one.value) == name and (not isinstance(one.ctx, ast.Load) or _is_key(one.slice))
        for one in code.within(function, ast.Subscript)
    ) or any(path(receiver(call)) == name for call in code.calls_in(function, "pop", "update"))


def _is_key(part: ast.expr) -> bool:
    """Whether it is the name of a parameter: "fc.weight", f"{name}.bias"."""
    last = part.values[-1] if isinstance(part, ast.JoinedStr) and part.values else part
    return "." in str(constant(last))


def _is_built_from_file(code: Code, load: ast.Call) -> bool:
    """Whether the file also has the configuration that the model is built from: then they fit."""
    return any(
        constant(one.slice) in ("config", "cfg", "args", "hparams", "opt", "yaml")
        for one in code.within(code.function(load), ast.Subscript)
    )


def _is_path(code: Code, node: ast.AST, model: ast.expr) -> bool:
    """Whether it is the name of a file: by its value, else by its name."""
    value = code.value(node)
    if value is not None and not certain(code, value, node):
        return False
    if isinstance(value, ast.JoinedStr) or isinstance(constant(value), str):
        return constant(value) != ""
    if isinstance(value, ast.BinOp):  # folder / "model.pt", folder + "model.pt"
        return isinstance(constant(value.right), str)
    if isinstance(value, ast.Call):
        return code.full(value.func) in FILES
    name = path(node).rpartition(".")[2]
    return (
        value is None
        and (name in ("path", "filename") or name.endswith(("_path", "_file")))
        and any(word in last_name(model).lower() for word in ("model", "net", "optim"))
    )


def _is_model(code: Code, node: ast.AST) -> bool:
    """Whether it is certainly a module: by its class, or because it has parameters()."""
    name = path(node)
    if is_fragment(code):
        return name in ("model", "net")
    values = code.values(node) if name else [node]
    made = [one for one in map(_made, filter(None, values)) if isinstance(one, ast.Call)]
    made = [one for one in made if last_name(one.func) != "load"]  # of the best epoch, at the end
    if not made or any(last_name(one.func) in OTHERS for one in made):
        return False
    if all(_makes_module(code, one) for one in made):
        return True
    return bool(name) and any(
        path(call.func) in (f"{name}.parameters", f"{name}.named_parameters")
        and (code.owner(call) is code.owner(node) or not name.startswith("self."))
        for called in ("parameters", "named_parameters")
        for call in code.calls.get(called, ())
    )


def _made(value: ast.AST) -> ast.AST:
    """Net() of Net().to(device)."""
    while isinstance(value, ast.Call) and last_name(value.func) in MOVES:
        model = receiver(value)
        if model is None:
            break
        value = model
    return value


def _makes_module(code: Code, made: ast.Call) -> bool:
    name = code.full(made.func)
    return (name.startswith("torch.nn.") and last_name(made.func)[:1].isupper()) or any(
        isinstance(one, ast.ClassDef) and one.name == name and is_network(code, one)
        for one in code.nodes.get(ast.ClassDef, ())
    )


def _is_loaded(code: Code, load: ast.Call) -> bool:
    """Whether a module or an optimizer loads it, as a whole: a part, as in `model.head`, may come
    from a file of another program.
    """
    return any(
        (state := argument(call, 0, "state_dict")) is not None
        and (of := receiver(call)) is not None
        and (
            path(of).startswith("self.")
            or "." not in path(of)
            or any(word in last_name(of).lower() for word in WHOLES)
        )
        and any(code.value(one) is load for one in _parts(code, state))
        for call in code.calls.get("load_state_dict", ())
    )


def _parts(code: Code, state: ast.AST) -> list[ast.AST]:
    """It, and what it is a part of."""
    found = [state]
    value = code.value(state)
    while isinstance(value, ast.Subscript):
        value = value.value
        found.append(value)
        value = code.value(value)
    return found


def _runs_anywhere(code: Code) -> bool:
    """Whether it asks for CUDA and has another device for where there is none."""
    for call in code.calls.get("is_available", ()):
        if code.full(call.func) in ("torch.cuda.is_available", "torch.accelerator.is_available"):
            statement = code.statement(call)
            if isinstance(statement, ast.Assign):  # cuda = torch.cuda.is_available()
                return True
            if any(constant(one) == "cpu" for one in ast.walk(statement)):
                return True
    return False


def _needs_cuda(code: Code) -> bool:
    """Whether it asks for CUDA but does not run without: then no file of a GPU is read there."""
    branches = (ast.If, ast.IfExp, ast.Try, ast.BoolOp)
    for call in [*code.calls.get("cuda", ()), *code.calls.get("set_default_tensor_type", ())]:
        tensors = last_name(call.func) == "set_default_tensor_type"
        if tensors and not any(
            "cuda" in str(constant(one)) or "cuda" in path(one) for one in call.args
        ):
            continue
        if call.args and not tensors:
            continue  # model.cuda(device)
        around = [one for one in code.ancestors(call) if isinstance(one, branches)]
        leaves = [
            one
            for one in code.within(code.function(call), ast.If)
            if place(one) < place(call) and isinstance(one.body[-1], (ast.Return, ast.Raise))
        ]
        main = [one for one in around if isinstance(one, ast.If) and "__name__" in names(one.test)]
        if around == main and not leaves:
            return True
    return False


def _saves(code: Code) -> bool:
    """Whether the file writes checkpoints itself, on the device that it runs on."""
    return any(code.full(call.func) == "torch.save" for call in code.calls.get("save", ()))


def _is_written_before(code: Code, load: ast.Call) -> bool:
    """Whether the same run trains or saves before it loads: the best epoch, at the end. Also where
    it calls what does so.
    """
    function = code.function(load)
    if any(
        place(one) < place(load)
        for one in backwards(code, function) + code.calls_in(function, "save", "fit", "step")
    ):
        return True
    return any(
        place(call) < place(load)
        for called in functions_called(code, function)
        if called is not function and backwards(code, called)
        for call in code.calls_in(function, called.name)
    )
