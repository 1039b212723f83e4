"""How training code is recognised: steps, backward passes, losses, what is a model."""

from __future__ import annotations

import ast
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
NO_GRAD = ("no_grad", "inference_mode", "set_grad_enabled")


def is_module(code: Code, owner: ast.ClassDef | None) -> bool:
    """Whether the class is a torch.nn.Module, by the names of its bases."""
    return owner is not None and any(
        code.full(base)
        in ("torch.nn.Module", "Module", "torch.nn.modules.Module", "pl.LightningModule")
        or code.full(base).startswith("torch.nn.")
        or last_name(base).endswith("Module")
        for base in owner.bases
    )


def is_backward(call: ast.Call) -> bool:
    """loss.backward(), scaler.scale(loss).backward(), accelerator.backward(loss)."""
    return last_name(call.func) == "backward" and isinstance(call.func, ast.Attribute)


def is_optimizer(code: Code, node: ast.AST | None) -> bool:
    """By what it was made of, else by its name."""
    if node is None:
        return False
    value = code.value(node)
    if isinstance(value, ast.Call) and code.torch(value.func) in SCHEDULERS:
        return False
    if isinstance(value, ast.Call) and code.torch(value.func) in OPTIMIZERS:
        return True
    return _named(node, "opt", "optim")


def is_scheduler(code: Code, node: ast.AST | None) -> bool:
    """By what it was made of, else by its name."""
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


@remembered
def optimizer_steps(code: Code, node: ast.AST) -> list[ast.Call]:
    """The calls in it that step an optimizer: opt.step(), scaler.step(opt)."""
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
    """Whether it is under no_grad() or inference_mode(), as a block or a decorator."""
    for one in code.ancestors(node):
        found: list[ast.expr] = []
        if isinstance(one, (ast.With, ast.AsyncWith)):
            found = [item.context_expr for item in one.items]
        elif isinstance(one, FUNCTIONS) and not isinstance(one, ast.Lambda):
            found = one.decorator_list
        for part in found:
            if last_name(part.func if isinstance(part, ast.Call) else part) in NO_GRAD:
                return True
    return False


def criterion(code: Code, call: ast.Call, function: str, module: str) -> bool:
    """Whether it computes this loss: F.cross_entropy(...), nn.CrossEntropyLoss()(...), or a call
    of what that was given to, as in self.criterion(...).
    """
    if code.torch(call.func) == function:
        return True
    if isinstance(call.func, ast.Call):
        return code.torch(call.func.func) == module
    return bool(path(call.func)) and code.made_by(call.func, module)


def softened(code: Code, node: ast.AST | None, function: str, module: str) -> ast.AST | None:
    """The softmax (log_softmax, sigmoid) call that this is, or that the name was given:
    F.softmax(x, 1), x.softmax(1), nn.Softmax(1)(x), self.softmax(x).
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
    """Whether it is in a test, which fails on purpose or knows its numbers."""
    return any(
        isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))
        and one.name.startswith(("test", "_test"))
        for one in code.ancestors(node)
    )


def given(call: ast.Call, position: int, name: str) -> bool:
    return argument(call, position, name) is not None


def _named(node: ast.AST, *parts: str) -> bool:
    if isinstance(node, ast.Subscript):  # optimizers["generator"]
        node = node.value
    name = last_name(node).lower()
    return any(part in name for part in parts)


def is_fragment(code: Code) -> bool:
    """Whether it is a few lines out of a file: it imports nothing."""
    kinds = (ast.Import, ast.ImportFrom)
    return not any(code.all(kind) for kind in kinds)


def is_network(code: Code, owner: ast.ClassDef | None) -> bool:
    """is_module(), also by way of classes of the same file."""
    if owner is None:
        return False
    question = (is_network, owner)
    if question not in code.known:  # a notebook defines a class again and again
        code.known[question] = False
        code.known[question] = _is_network(code, owner)
    return bool(code.known[question])


def _is_network(code: Code, owner: ast.ClassDef) -> bool:
    if any(last_name(base).endswith("DataModule") for base in owner.bases):
        return False
    bases = {base.id for base in owner.bases if isinstance(base, ast.Name)}
    return is_module(code, owner) or any(
        isinstance(one, ast.ClassDef) and one.name in bases and is_network(code, one)
        for one in code.all(ast.ClassDef)
        if place(one) < place(owner)
    )


def expects_an_error(code: Code, node: ast.AST) -> bool:
    """Whether it is under pytest.raises(), assertRaises() or a try."""
    return any(
        isinstance(one, ast.Try)
        or (
            isinstance(one, ast.With)
            and any("raises" in source(item.context_expr).lower() for item in one.items)
        )
        for one in code.ancestors(node)
    )


def is_dead(code: Code, node: ast.AST) -> bool:
    """Whether certainly nobody runs it: in a script, a function or class that nothing the script
    runs comes by; a class whose super() names what the file does not have.
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
    """Of a script, the functions and classes of the module that nothing it runs comes by. Other
    files may call those of any other module.
    """
    defined = {one.name: one for one in code.tree.body if isinstance(one, DEFINITIONS)}
    outside = [one for one in code.tree.body if defined.get(getattr(one, "name", "")) is not one]
    if not any(_runs(one, defined) for one in outside):
        return set()
    named = set().union(*(_mentioned(one) for one in outside))
    named |= {name for name, one in defined.items() if one.decorator_list}
    reached: set[str] = set()
    while new := (named & defined.keys()) - reached:
        reached |= new
        named |= set().union(*(_mentioned(defined[one]) for one in new))
    if named & {"globals", "locals", "eval", "Fire"}:
        return set()
    return {one for name, one in defined.items() if name not in reached}


def _cannot_be_made(code: Code, owner: ast.ClassDef) -> bool:
    imported = [one for kind in (ast.Import, ast.ImportFrom) for one in code.all(kind)]
    if any(alias.name == "*" for one in imported for alias in one.names):  # type: ignore[attr-defined]
        return False
    return bool(imported) and any(
        isinstance(call.args[0], ast.Name) and code.torch(call.args[0]) == call.args[0].id
        for call in code.calls.get("super", ())
        if call.args and code.owner(call) is owner
    )


def default(code: Code, node: ast.AST | None) -> ast.expr | None:
    """The default of the parameter that it is (also by way of self.x), where no call in this file
    gives the parameter: what it is, as far as can be seen.
    """
    for _ in range(9):  # a name may be given itself
        value = code.value(node) if node is not None and path(node) else None
        if value is None:
            break
        node = value
    if not isinstance(node, ast.Name) or len(code.values(node)) != 1:
        return None
    function = code.function(node)
    if not isinstance(function, ast.FunctionDef):
        return None
    name, these = path(node), function.args
    positional = [*these.posonlyargs, *these.args]
    usual = dict(
        zip((one.arg for one in reversed(positional)), reversed(these.defaults), strict=False)
    )
    usual |= {
        one.arg: value
        for one, value in zip(these.kwonlyargs, these.kw_defaults, strict=True)
        if value is not None
    }
    if name not in usual:
        return None
    position = next((at for at, one in enumerate(positional) if one.arg == name), -1)
    owner = code.parent[function]
    called = function.name
    if isinstance(owner, ast.ClassDef):
        position -= position > 0  # self
        called = owner.name if called == "__init__" else called
    for one in [*code.all(ast.Name), *code.all(ast.Attribute)]:
        above = code.parent[one]
        if last_name(one) != called or isinstance(above, ast.Attribute):
            continue
        if not isinstance(above, ast.Call) or (above.func is not one and not _is_super(above)):
            return None  # handed on: to partial(), into a table, to a class below
        if above.func is one and (has_unpacked(above) or given(above, position, name)):
            return None
    return usual[name]


def _is_super(call: ast.Call) -> bool:
    return path(call.func) == "super"


MOVES = frozenset({"to", "cuda", "cpu", "half", "float", "double", "train", "eval", "xpu"})
WRAPPERS = frozenset({"DataParallel", "DistributedDataParallel", "compile"})


def made(code: Code, node: ast.AST | None, depth: int = 3) -> ast.Call | None:
    """The call that made an object: Net(3) of `model = Net(3).to(device)`, also after
    `model = DataParallel(model)`, and of a parameter that all calls in the file give that to.
    """
    for _ in range(9):  # a name may be given itself
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


def certain(code: Code, value: ast.AST, use: ast.AST) -> bool:
    """Whether each branch and loop that gives this value is one that the use is in too. Of two
    functions this says nothing: what an attribute is given always is the same by then.
    """
    if code.function(value) is not code.function(use):
        return True
    around = set(code.ancestors(use))
    return not code.excludes(value, use) and all(
        above in around for above in code.ancestors(value) if isinstance(above, BRANCHES)
    )


def _handed_in(code: Code, name: ast.AST, depth: int) -> ast.AST | None:
    """What all calls of its function in this file hand in for a parameter that nothing replaces."""
    function = code.function(name)
    if not isinstance(function, ast.FunctionDef) or len(code.values(name)) != 1:
        return None
    parameters = [one.arg for one in function.args.posonlyargs + function.args.args]
    if path(name) not in parameters or isinstance(code.parent[function], ast.ClassDef):
        return None
    position = parameters.index(path(name))
    found = [
        made(code, argument(call, position, path(name)), depth - 1)
        for call in code.calls.get(function.name, ())
        if isinstance(call.func, ast.Name) and code.function(call) is not function
    ]
    kinds = {None if one is None else ast.dump(one) for one in found}
    return found[0] if len(kinds) == 1 else None


@remembered
def functions_called(code: Code, node: ast.AST) -> list[ast.FunctionDef]:
    """The functions of this file that it calls: train(model), self.train()."""
    called = {
        last_name(call.func)
        for call in code.calls_in(node)
        if isinstance(call.func, ast.Name) or path(receiver(call)) == "self"
    }
    return [function for function in code.all(ast.FunctionDef) if function.name in called]


def epoch_loop(code: Code, node: ast.AST, depth: int = 2) -> ast.For | None:
    """The loop over epochs that repeats it, also where that calls the function that it is in."""
    for loop in code.loops(node):
        if isinstance(loop, ast.For):
            words = (
                names(loop.target) | names(loop.iter) | names(code.value(loop.iter) or loop.iter)
            )
            if any("epoch" in word.lower() for word in words - {"epoch_iterator"}):
                return loop
    function = code.function(node)
    if not depth or not isinstance(function, ast.FunctionDef):
        return None
    for call in code.calls.get(function.name, ()):
        if code.function(call) is not function and (
            isinstance(call.func, ast.Name) or path(receiver(call)) == "self"
        ):
            found = epoch_loop(code, call, depth - 1)
            if found is not None:
                return found
    return None


def is_never_mentioned(code: Code, node: ast.AST) -> bool:
    """Whether it is in a function of the module that nothing else in the file mentions."""
    around = [one for one in code.ancestors(node) if one in code.tree.body]
    if not around or not isinstance(around[0], (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    function = around[0]
    others = (one for one in code.tree.body if one is not function)
    return not function.decorator_list and not any(
        function.name in _mentioned(one) for one in others
    )


def _runs(statement: ast.stmt, defined: Mapping[str, ast.AST]) -> bool:
    """Whether it makes the file a script: main(), by itself, or `if __name__ == "__main__":`."""
    if isinstance(statement, ast.If) and "__name__" in names(statement.test):
        return True
    call = getattr(statement, "value", None)
    function = defined.get(last_name(call.func)) if isinstance(call, ast.Call) else None
    return isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))


def _mentioned(node: ast.AST) -> set[str]:
    """All names in it, also those in texts (__all__, getattr)."""
    texts = {constant(one) for one in ast.walk(node) if isinstance(one, ast.Constant)}
    return names(node) | {one for one in texts if isinstance(one, str)}


def stands_in(code: Code, node: ast.AST, loop: ast.AST) -> bool:
    """Whether every pass of the loop comes by it: there is no branch between them."""
    kinds = (ast.If, ast.IfExp, ast.Try, ast.Match, *LOOPS, *FUNCTIONS)
    for above in code.ancestors(node):
        if above is loop:
            return True
        if isinstance(above, kinds):
            return False
    return False


def ends_early(code: Code, loop: ast.For) -> bool:
    """Whether it may leave a part of what it is over."""
    return bool(code.within(loop, (ast.Break, ast.Return)))


def rest_of_the_block(code: Code, node: ast.AST) -> list[ast.stmt]:
    statement = code.statement(node)
    return [one for one in code.block(statement) if place(one) > place(statement)]
