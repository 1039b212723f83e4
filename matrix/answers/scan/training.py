"""How training code is recognised: steps, backward passes, losses, what is a model."""

from __future__ import annotations

import ast

from .code import FUNCTIONS, Code, argument, last_name, path, place, receiver, source

OPTIMIZERS = frozenset(
    "SGD Adam AdamW Adamax NAdam RAdam Adagrad Adadelta RMSprop Rprop ASGD LBFGS"  # noqa: SIM905
    " SparseAdam Adafactor Muon".split()
)
SCHEDULERS = frozenset(
    "LambdaLR MultiplicativeLR StepLR MultiStepLR ConstantLR LinearLR ExponentialLR"  # noqa: SIM905
    " PolynomialLR CosineAnnealingLR CyclicLR OneCycleLR CosineAnnealingWarmRestarts"
    " SequentialLR ChainedScheduler ReduceLROnPlateau".split()
)
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


def is_scaler(code: Code, node: ast.AST | None) -> bool:
    if node is None:
        return False
    return code.made_by(node, "GradScaler") or _named(node, "scaler")


def optimizer_steps(code: Code, node: ast.AST) -> list[ast.Call]:
    """The calls in it that step an optimizer: opt.step(), scaler.step(opt)."""
    return [
        call
        for call in code.calls_in(node, "step")
        if is_scaler(code, receiver(call))
        or (is_optimizer(code, receiver(call)) and not is_scheduler(code, receiver(call)))
    ]


def scheduler_steps(code: Code, node: ast.AST) -> list[ast.Call]:
    return [call for call in code.calls_in(node, "step") if is_scheduler(code, receiver(call))]


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
    return not any(code.nodes.get(kind) for kind in kinds)


def is_network(code: Code, owner: ast.ClassDef | None) -> bool:
    """is_module(), also by way of classes of the same file."""
    if owner is None or any(last_name(base).endswith("DataModule") for base in owner.bases):
        return False
    bases = {base.id for base in owner.bases if isinstance(base, ast.Name)}
    return is_module(code, owner) or any(
        isinstance(one, ast.ClassDef) and one.name in bases and is_network(code, one)
        for one in code.nodes.get(ast.ClassDef, ())
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
