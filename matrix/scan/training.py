"""Recognizes training code: optimizer steps, backward passes, losses and models."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from .code import (
    FUNCTIONS,
    LOOPS,
    Code,
    argument,
    constant,
    has_unpacked,
    last_name,
    names,
    path,
    place,
    receiver,
    remembered,
    source,
)
from .project import Definition, around, definition, program

OPTIMIZERS = frozenset(
    "SGD Adam AdamW Adamax NAdam RAdam Adagrad Adadelta RMSprop Rprop ASGD LBFGS"
    " SparseAdam Adafactor Muon".split()
)
SCHEDULERS = frozenset(
    "LambdaLR MultiplicativeLR StepLR MultiStepLR ConstantLR LinearLR ExponentialLR"
    " PolynomialLR CosineAnnealingLR CyclicLR OneCycleLR CosineAnnealingWarmRestarts"
    " SequentialLR ChainedScheduler ReduceLROnPlateau".split()
)
BRANCHES = (ast.If, ast.IfExp, ast.match_case, ast.Try, ast.ExceptHandler, *LOOPS)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
ITERATES = ("enumerate", "tqdm", "iter", "zip", "islice", "trange", "track", "progress_bar")
NO_GRAD = ("no_grad", "inference_mode", "set_grad_enabled")
LOADERS = re.compile(r"(^|_)dls?$|(^|(train|val|valid|test|eval|dev|data)_?)iter(ator)?$")


def is_module(code: Code, owner: ast.ClassDef | None) -> bool:
    """True if the class is a torch.nn.Module, judging by the names of its base classes."""
    return owner is not None and any(
        code.full(base)
        in ("torch.nn.Module", "Module", "torch.nn.modules.Module", "pl.LightningModule")
        or code.full(base).startswith("torch.nn.")
        or last_name(base).endswith("Module")
        for base in owner.bases
    )


def is_backward(call: ast.Call) -> bool:
    """True for loss.backward(), scaler.scale(loss).backward() and accelerator.backward(loss)."""
    return last_name(call.func) == "backward" and isinstance(call.func, ast.Attribute)


def is_optimizer(code: Code, node: ast.AST | None) -> bool:
    """True if the node is an optimizer, judging by the call that created it or by its name."""
    if node is None:
        return False
    value = code.value(node)
    if isinstance(value, ast.Call) and code.torch(value.func) in SCHEDULERS:
        return False
    if isinstance(value, ast.Call) and code.torch(value.func) in OPTIMIZERS:
        return True
    return _named(node, "opt", "optim")


def is_scheduler(code: Code, node: ast.AST | None) -> bool:
    """True if the node is a scheduler, judging by the call that created it or by its name."""
    if node is None:
        return False
    value = code.value(node)
    if isinstance(value, ast.Call) and code.torch(value.func) in SCHEDULERS:
        return True
    return _named(node, "sched")


@remembered
def is_scaler(code: Code, node: ast.AST | None) -> bool:
    if node is None:
        return False
    return code.made_by(node, "GradScaler") or _named(node, "scaler")


def is_loader(code: Code, node: ast.AST | None) -> bool:
    """True if the node is a data loader, judging by the call that created it or by its name.

    enumerate(loader), tqdm(loader) and similar calls count as well.
    """
    if node is None:
        return False
    if isinstance(node, ast.IfExp):
        return is_loader(code, node.body) and is_loader(code, node.orelse)
    if isinstance(node, ast.Call) and last_name(node.func) in ITERATES:
        return any(is_loader(code, value) for value in node.args)
    value = code.value(node)
    if isinstance(value, ast.IfExp) or (
        isinstance(value, ast.Call) and last_name(value.func) in ITERATES
    ):  # bar = tqdm(loader)
        return value is not node and is_loader(code, value)
    if code.made_by(node, "DataLoader") or _named(node, "loader"):
        return True
    name = last_name(node.value if isinstance(node, ast.Subscript) else node).lower()
    return bool(LOADERS.search(name)) or _is_annotated(code, node, "DataLoader")


def _is_annotated(code: Code, node: ast.AST, kind: str) -> bool:
    """True for a parameter whose annotation names this class."""
    function = code.function(node)
    return (
        isinstance(node, ast.Name)
        and isinstance(function, ast.FunctionDef)
        and any(
            parameter.arg == node.id
            and parameter.annotation is not None
            and kind in names(parameter.annotation)
            for parameter in [*function.args.args, *function.args.kwonlyargs]
        )
    )


def backward_of(call: ast.Call) -> ast.expr | None:
    """The loss in loss.backward(), scaler.scale(loss).backward() and accelerator.backward(loss)."""
    if call.args and path(receiver(call)) and not has_unpacked(call):
        return call.args[0]
    loss = receiver(call)
    if isinstance(loss, ast.Call) and last_name(loss.func) == "scale" and loss.args:
        return loss.args[0]
    return loss


@remembered
def optimizer_steps(code: Code, node: ast.AST) -> list[ast.Call]:
    """The calls in the node that step an optimizer: opt.step(), scaler.step(opt)."""
    return [
        call
        for call in code.calls_in(node, "step")
        if is_scaler(code, receiver(call))
        or (is_optimizer(code, receiver(call)) and not is_scheduler(code, receiver(call)))
    ]


@remembered
def backwards(code: Code, node: ast.AST) -> list[ast.Call]:
    return [call for call in code.calls_in(node, "backward") if is_backward(call)]


def without_grad(code: Code, node: ast.AST) -> bool:
    """True if no_grad() or inference_mode() applies to the node, as a block or as a decorator."""
    for above in code.ancestors(node):
        expressions: list[ast.expr] = []
        if isinstance(above, (ast.With, ast.AsyncWith)):
            expressions = [item.context_expr for item in above.items]
        elif isinstance(above, FUNCTIONS) and not isinstance(above, ast.Lambda):
            expressions = above.decorator_list
        for part in expressions:
            if last_name(part.func if isinstance(part, ast.Call) else part) in NO_GRAD:
                return True
    return False


def criterion(code: Code, call: ast.Call, function: str, module: str) -> bool:
    """True if the call computes this loss, as F.cross_entropy(...) or nn.CrossEntropyLoss()(...).

    The module may also be stored under a name, as in self.criterion(...).
    """
    if code.torch(call.func) == function:
        return True
    if isinstance(call.func, ast.Call):
        return code.torch(call.func.func) == module
    return bool(path(call.func)) and code.made_by(call.func, module)


def softened(code: Code, node: ast.AST | None, function: str, module: str) -> ast.AST | None:
    """The call of softmax, log_softmax or sigmoid in the node, or in the value of its name.

    Examples are F.softmax(x, 1), x.softmax(1), nn.Softmax(1)(x) and self.softmax(x).
    """
    value = code.value(node)
    if not isinstance(value, ast.Call):
        return None
    if code.torch(value.func) == function or code.method(value) == function:
        return value
    if criterion(code, value, function, module):
        return value
    return None


def in_a_test(code: Code, node: ast.AST) -> bool:
    """True if the node is in a test, which may fail on purpose or may use special numbers."""
    return any(
        isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef))
        and above.name.startswith(("test", "_test"))
        for above in code.ancestors(node)
    )


def is_passed(call: ast.Call, position: int, name: str) -> bool:
    return argument(call, position, name) is not None


def passed(code: Code, call: ast.Call, position: int, name: str) -> ast.expr | None:
    """The argument, which may also be an entry of `**options` if these are a dict in this file."""
    own = argument(call, position, name)
    if own is not None:
        return own
    for keyword in call.keywords:
        table = code.value(keyword.value) if keyword.arg is None else None
        if isinstance(table, ast.Dict):
            for key, value in zip(table.keys, table.values, strict=True):
                if constant(key) == name:
                    return value
    return None


def _named(node: ast.AST, *parts: str) -> bool:
    if isinstance(node, ast.Subscript):  # optimizers["generator"]
        node = node.value
    name = last_name(node).lower()
    return any(part in name for part in parts)


def is_fragment(code: Code) -> bool:
    """True if the file has no imports, so that it is only part of a program."""
    kinds = (ast.Import, ast.ImportFrom)
    return not any(code.all(kind) for kind in kinds)


def is_network(code: Code, owner: ast.ClassDef | None) -> bool:
    """True if the class is a module, possibly through base classes in the same file."""
    if owner is None:
        return False
    question = (is_network, owner)
    if question not in code.known:  # cached, because a notebook may define a class many times
        code.known[question] = False
        code.known[question] = _is_network(code, owner)
    return bool(code.known[question])


def _is_network(code: Code, owner: ast.ClassDef) -> bool:
    if any(last_name(base).endswith("DataModule") for base in owner.bases):
        return False
    if is_module(code, owner):
        return True
    bases = [definition(code, base) for base in owner.bases]
    return any(
        isinstance(base.node, ast.ClassDef) and is_network(base.code, base.node)
        for base in bases
        if base is not None
    )


def expects_an_error(code: Code, node: ast.AST) -> bool:
    """True if the node is inside pytest.raises(), assertRaises() or a `try` statement."""
    return any(
        isinstance(above, ast.Try)
        or (
            isinstance(above, ast.With)
            and any("raises" in source(item.context_expr).lower() for item in above.items)
        )
        for above in code.ancestors(node)
    )


def is_dead(code: Code, node: ast.AST) -> bool:
    """True if the node is certain never to run.

    Such a node is in a function or class that the script never reaches, or in a class whose super()
    call names a class that the file does not define.
    """
    top = next((a for a in [node, *code.ancestors(node)] if code.parent.get(a) is code.tree), None)
    if not isinstance(top, DEFINITIONS):
        return False
    if isinstance(top, ast.ClassDef) and _cannot_be_made(code, top):
        return True
    if _unreached not in code.known:
        code.known[_unreached] = _unreached(code)
    return top in code.known[_unreached]  # type: ignore[operator]


def _unreached(code: Code) -> set[ast.AST]:
    """The unreachable functions and classes of a script.

    The set is empty for a file that is not a script, because other files may call its functions.
    """
    defined = {
        statement.name: statement
        for statement in code.tree.body
        if isinstance(statement, DEFINITIONS)
    }
    outside = [
        statement
        for statement in code.tree.body
        if defined.get(getattr(statement, "name", "")) is not statement
    ]
    if not any(_runs(statement, defined) for statement in outside):
        return set()
    named = set().union(*(_mentioned(statement) for statement in outside))
    named |= {name for name, definition in defined.items() if definition.decorator_list}
    reached: set[str] = set()
    while new := (named & defined.keys()) - reached:
        reached |= new
        named |= set().union(*(_mentioned(defined[name]) for name in new))
    if named & {"globals", "locals", "eval", "Fire"}:
        return set()
    return {definition for name, definition in defined.items() if name not in reached}


def _cannot_be_made(code: Code, owner: ast.ClassDef) -> bool:
    imported = [statement for kind in (ast.Import, ast.ImportFrom) for statement in code.all(kind)]
    if any(alias.name == "*" for statement in imported for alias in statement.names):  # type: ignore[attr-defined]
        return False
    return bool(imported) and any(
        isinstance(call.args[0], ast.Name) and code.torch(call.args[0]) == call.args[0].id
        for call in code.calls.get("super", ())
        if call.args and code.owner(call) is owner
    )


def default_value(code: Code, node: ast.AST | None) -> ast.expr | None:
    """The default of the parameter that the node reads, either directly or through self.x.

    Returns None if a call in this file passes, or may pass, a value for the parameter.
    """
    for _ in range(9):  # a limit, because a name may be assigned to itself
        value = code.value(node) if node is not None and path(node) else None
        if value is None:
            break
        node = value
    if not isinstance(node, ast.Name) or len(code.values(node)) != 1:
        return None
    function = code.function(node)
    if not isinstance(function, ast.FunctionDef):
        return None
    name, arguments = path(node), function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    usual = dict(
        zip(
            (parameter.arg for parameter in reversed(positional)),
            reversed(arguments.defaults),
            strict=False,
        )
    )
    usual |= {
        parameter.arg: value
        for parameter, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if value is not None
    }
    if name not in usual:
        return None
    position = next((at for at, parameter in enumerate(positional) if parameter.arg == name), -1)
    owner = code.parent[function]
    called = function.name
    if isinstance(owner, ast.ClassDef):
        position -= position > 0  # self
        called = owner.name if called == "__init__" else called
    for use in [*code.all(ast.Name), *code.all(ast.Attribute)]:
        above = code.parent[use]
        if last_name(use) != called or isinstance(above, ast.Attribute):
            continue
        if not isinstance(above, ast.Call) or (above.func is not use and not _is_super(above)):
            return None  # the function is passed on, as in partial(), a table or a subclass
        if above.func is use and (has_unpacked(above) or is_passed(above, position, name)):
            return None
    return usual[name]


def _is_super(call: ast.Call) -> bool:
    return path(call.func) == "super"


MOVES = frozenset({"to", "cuda", "cpu", "half", "float", "double", "train", "eval", "xpu"})
WRAPPERS = frozenset({"DataParallel", "DistributedDataParallel", "compile"})


def creating_call(code: Code, node: ast.AST | None, depth: int = 3) -> ast.Call | None:
    """The call that created an object, such as Net(3) for `model = Net(3).to(device)`.

    Wrappers, such as `model = DataParallel(model)`, are unwrapped. A parameter is traced to its
    argument if all calls in the file pass the same object.
    """
    for _ in range(9):  # a limit, because a name may be assigned to itself
        use, node = node, code.value(node)
        if use is not None and node is None:
            node = use = _handed_in(code, use, depth) if depth else None
        if not isinstance(node, ast.Call) or use is None or not certain(code, node, use):
            return None
        if last_name(node.func) in WRAPPERS and node.args:
            node = node.args[0]
        elif receiver(node) is not None and last_name(node.func) in MOVES:
            node = receiver(node)
        else:
            return node
    return None


def class_of(code: Code, maker: ast.Call, depth: int = 2) -> Definition | None:
    """The class of the object that a call creates, directly or in a function that returns it."""
    found = definition(code, maker.func)
    if found is None or isinstance(found.node, ast.ClassDef):
        return found
    returns = found.code.within(found.node, ast.Return)
    value = returns[0].value if len(returns) == 1 else None
    made = creating_call(found.code, value) if value is not None and depth else None
    return class_of(found.code, made, depth - 1) if made is not None else None


def certain(code: Code, value: ast.AST, use: ast.AST) -> bool:
    """True if all branches and loops around this value also enclose its use.

    This is always True if the value and its use are in different functions, because an attribute
    that one function assigns is assumed to have this value when another function reads it.
    """
    if code.function(value) is not code.function(use):
        return True
    around = set(code.ancestors(use))
    return not code.excludes(value, use) and all(
        above in around for above in code.ancestors(value) if isinstance(above, BRANCHES)
    )


def _handed_in(code: Code, name: ast.AST, depth: int) -> ast.AST | None:
    """The call that creates the object that all calls in this file pass for a parameter."""
    function = code.function(name)
    if not isinstance(function, ast.FunctionDef) or len(code.values(name)) != 1:
        return None
    parameters = [parameter.arg for parameter in function.args.posonlyargs + function.args.args]
    if path(name) not in parameters or isinstance(code.parent[function], ast.ClassDef):
        return None
    position = parameters.index(path(name))
    makers = [
        creating_call(code, argument(call, position, path(name)), depth - 1)
        for call in code.calls.get(function.name, ())
        if isinstance(call.func, ast.Name) and code.function(call) is not function
    ]
    kinds = {None if maker is None else ast.dump(maker) for maker in makers}
    return makers[0] if len(kinds) == 1 else None


@remembered
def functions_called(code: Code, node: ast.AST) -> list[ast.FunctionDef]:
    """The functions in this file that the node calls, as in train(model) and self.train()."""
    called = {
        last_name(call.func)
        for call in code.calls_in(node)
        if isinstance(call.func, ast.Name) or path(receiver(call)) == "self"
    }
    return [function for function in code.all(ast.FunctionDef) if function.name in called]


def epoch_loop(code: Code, node: ast.AST, depth: int = 2) -> ast.For | None:
    """The loop over epochs that repeats the node, directly or by calling its function."""
    for loop in code.loops(node):
        if isinstance(loop, ast.For):
            words = (
                names(loop.target) | names(loop.iter) | names(code.value(loop.iter) or loop.iter)
            ) | _keys(loop.iter)
            if any("epoch" in word.lower() for word in words - {"epoch_iterator"}):
                return loop
    function = code.function(node)
    if not depth or not isinstance(function, ast.FunctionDef):
        return None
    for call in code.calls.get(function.name, ()):
        if code.function(call) is not function and (
            isinstance(call.func, ast.Name) or path(receiver(call)) == "self"
        ):
            outer_loop = epoch_loop(code, call, depth - 1)
            if outer_loop is not None:
                return outer_loop
    return None


def _keys(node: ast.AST) -> set[str]:
    """The keys in the node, such as "epochs" in config["epochs"]."""
    keys = {constant(part.slice) for part in ast.walk(node) if isinstance(part, ast.Subscript)}
    return {key for key in keys if isinstance(key, str)}


def is_never_mentioned(code: Code, node: ast.AST) -> bool:
    """True if the node is in a top-level function that nothing else in the file mentions."""
    around = [above for above in code.ancestors(node) if above in code.tree.body]
    if not around or not isinstance(around[0], (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    function = around[0]
    others = (statement for statement in code.tree.body if statement is not function)
    return not function.decorator_list and not any(
        function.name in _mentioned(statement) for statement in others
    )


def _runs(statement: ast.stmt, defined: Mapping[str, ast.AST]) -> bool:
    """True for a top-level main() or `if __name__ == "__main__":`, which indicates a script."""
    if isinstance(statement, ast.If) and "__name__" in names(statement.test):
        return True
    call = getattr(statement, "value", None)
    function = defined.get(last_name(call.func)) if isinstance(call, ast.Call) else None
    return isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))


def _mentioned(node: ast.AST) -> set[str]:
    """All names and strings in the node. A string may be a name, as in __all__ or getattr()."""
    texts = {constant(part) for part in ast.walk(node) if isinstance(part, ast.Constant)}
    return names(node) | {text for text in texts if isinstance(text, str)}


def stands_in(code: Code, node: ast.AST, loop: ast.AST) -> bool:
    """True if every pass of the loop reaches the node, without a branch in between."""
    kinds = (ast.If, ast.IfExp, ast.Try, ast.Match, *LOOPS, *FUNCTIONS)
    for above in code.ancestors(node):
        if above is loop:
            return True
        if isinstance(above, kinds):
            return False
    return False


def ends_early(code: Code, loop: ast.For) -> bool:
    """True if the loop may stop before the end of its iterable."""
    return bool(code.within(loop, (ast.Break, ast.Return)))


def rest_of_the_block(code: Code, node: ast.AST) -> list[ast.stmt]:
    statement = code.statement(node)
    return [later for later in code.block(statement) if place(later) > place(statement)]


RESUMES = frozenset("start_epoch resume resume_from resume_epoch resume_path start_iter".split())


OPTIONS = re.compile(r"-+(auto.?)?(resume|start.?epoch|epoch.?start|continue)")
HELP = re.compile(r"\b(continu(e|ing)|resum(e|ing))( the)? training")


@remembered
def resumes(code: Code) -> bool:
    """True if the file can continue an earlier run of a program that trains, or is a fragment."""
    if is_fragment(code):
        return True
    return continues(code) and any(
        file.calls.get("backward") for file in around(code, ".backward(")
    )


@remembered
def program_resumes(code: Code) -> bool:
    """True if the program of this file trains and can continue an earlier run, or for a fragment.

    Unlike for resumes(), another module may continue the run.
    """
    if resumes(code):
        return True
    return any(continues(file) for file in program(code, "epoch", "resume")) and any(
        file.calls.get("backward") for file in program(code, ".backward(")
    )


@remembered
def continues(code: Code) -> bool:
    """True if the file has an option, a name or a loop that continues an earlier run."""
    used = {name.id for name in code.all(ast.Name)} | {
        part.attr for part in code.all(ast.Attribute)
    }
    return (
        bool(used & RESUMES)
        or any("resume" in function.name for function in code.all(ast.FunctionDef))
        or any(_starts_later(code, loop) for loop in code.all(ast.For))
        or any(
            OPTIONS.match(str(constant(value)))
            for call in code.calls.get("add_argument", ())
            for value in call.args
        )
        or any(
            HELP.search(str(constant(argument(call, -1, "help"))).lower())
            for call in code.calls.get("add_argument", ())
        )
    )


def _starts_later(code: Code, loop: ast.For) -> bool:
    """True for `for epoch in range(start, end)`, whose start is not a number."""
    over = loop.iter
    return (
        isinstance(over, ast.Call)
        and last_name(over.func) in ("range", "trange")
        and len(over.args) > 1
        and any(constant(value) is None for value in code.values(over.args[0]) or over.args[:1])
        and "epoch" in source(loop.target) + source(over)
    )
