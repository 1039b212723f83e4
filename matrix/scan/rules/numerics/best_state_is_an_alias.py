from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import LOOPS, Code, Hit, last_name, names, path, place, receiver, source
from ...training import (
    in_a_test,
    is_dead,
    is_fragment,
    is_optimizer,
    is_scaler,
    is_scheduler,
    optimizer_steps,
)
from .. import needs

MODELS = ("model", "net", "encoder", "decoder", "generator", "discriminator", "policy", "actor")


@needs("state_dict()|.train()|.step()|train(", "best")
def best_state_is_an_alias(code: Code) -> Iterator[Hit]:
    yield from _best_models(code)
    for call in code.calls.get("state_dict", ()):
        model = receiver(call)
        if call.args or call.keywords or not path(model):
            continue
        if any(kind(code, model) for kind in (is_optimizer, is_scheduler, is_scaler)):
            continue
        statement = code.statement(call)
        holder = _holder_of(call, statement)
        if holder is None or not _is_best(code, holder, statement):
            continue
        if in_a_test(code, call) or is_dead(code, call):
            continue
        if not _is_trained_further(code, model, holder, statement):
            continue
        alone = is_fragment(code) and not _is_only_saved(code, holder, statement)
        if alone or _outlives_its_pass(code, holder, statement):
            yield Hit(
                call,
                f"{source(holder)} is a reference to the weights of {source(model)}, which "  # type: ignore[arg-type]
                "training keeps changing",
            )


def _best_models(code: Code) -> Iterator[Hit]:
    """Yields `best_model = model` in a loop that goes on to train the model."""
    for statement in code.all(ast.Assign):
        model, target = statement.value, statement.targets[0]
        holder = target.value if isinstance(target, ast.Subscript) else target
        if not path(model) or not path(holder) or "best" not in last_name(holder).lower():
            continue
        if not _is_a_model(code, model) or in_a_test(code, statement) or is_dead(code, statement):
            continue
        loops = code.loops(statement)
        if not loops or not any(
            isinstance(test, (ast.Compare, ast.BoolOp)) for test in code.conditions(statement)
        ):
            continue
        if not _is_trained_further(code, model, holder, statement) or _is_restored(
            code, model, loops[0]
        ):
            continue
        if not _is_trained_in(code, model, loops[0]):
            continue
        if _outlives_its_pass(code, holder, statement):
            yield Hit(
                statement,
                f"{source(holder)} is {source(model)} itself, not a copy, so it holds the "
                "weights of the last epoch",
            )


def _is_a_model(code: Code, node: ast.expr) -> bool:
    name = last_name(node).lower()
    return name in MODELS or name.endswith(("model", "_net", "network"))


def _is_trained_in(code: Code, model: ast.expr, loop: ast.AST) -> bool:
    """True if the loop steps an optimizer, or calls a function that trains the model."""
    if optimizer_steps(code, loop):
        return True
    return any(
        "train" in last_name(call.func).lower()
        and (
            path(receiver(call)) == path(model) or path(model) in {path(part) for part in call.args}
        )
        for call in code.calls_in(loop)
    )


def _is_restored(code: Code, model: ast.expr, loop: ast.AST) -> bool:
    """True if the loop loads other weights into the model, or copies it."""
    return any(
        path(receiver(call)) == path(model) for call in code.calls_in(loop, "load_state_dict")
    ) or bool(code.calls_in(loop, "deepcopy"))


def _holder_of(call: ast.Call, statement: ast.stmt) -> ast.expr | None:
    """The name to which the state (or a shallow copy of it) is assigned."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        pairs = list(zip(target.elts, value.elts, strict=False))
    else:
        pairs = [(target, value)]
    for name, state in pairs:
        while isinstance(state, ast.Call) and state is not call:  # state.copy(), dict(state)
            inner = receiver(state) if last_name(state.func) == "copy" else None
            if last_name(state.func) in ("dict", "OrderedDict") and len(state.args) == 1:
                inner = state.args[0]
            if inner is None:
                break
            state = inner
        if state is call and path(name):
            return name
    return None


def _is_best(code: Code, holder: ast.expr, statement: ast.stmt) -> bool:
    """True if the holder's name contains "best", or a comparison with the best value guards it."""
    return "best" in last_name(holder).lower() or any(
        isinstance(test, ast.Compare) and any("best" in name.lower() for name in names(test))
        for test in code.conditions(statement)
    )


def _is_trained_further(
    code: Code, model: ast.AST | None, holder: ast.expr, statement: ast.stmt
) -> bool:
    """True if training of the model continues after the statement."""
    if any(_gives_copies(above) for above in code.ancestors(statement)):
        return False
    loops = code.loops(statement)
    if loops:
        leaves = isinstance(code.block(statement)[-1], (ast.Break, ast.Return))
        return not leaves and not _is_new_in(code, model, loops[0])
    if path(holder).startswith("self."):
        helper = code.function(statement)
        tests = code.conditions(statement)
        for call in code.calls.get(getattr(helper, "name", ""), ()):
            if path(receiver(call)) == "self":  # a method such as save_best()
                tests = [*tests, *code.conditions(call)]
        if any(isinstance(test, ast.Compare) for test in tests):
            return True  # a callback that is run after each epoch
    steps = optimizer_steps(code, code.function(statement))
    return any(place(step) > place(statement) for step in steps)


def _gives_copies(above: ast.AST) -> bool:
    """True for `with FSDP.state_dict_type(model, ...):`, where states are copies."""
    return isinstance(above, ast.With) and any(
        "state_dict" in word for item in above.items for word in names(item.context_expr)
    )


def _is_new_in(code: Code, model: ast.AST | None, loop: ast.AST) -> bool:
    """True if every pass of the loop creates a new model."""
    first, _, rest = path(model).partition(".")
    if first == "self":  # for example, self.model in self.model.module
        first = f"self.{rest.partition('.')[0]}"
    for use in code.within(loop, (ast.Name, ast.Attribute)):
        if path(use) != first or not isinstance(use.ctx, ast.Store):
            continue
        above = code.parent[use]
        while isinstance(above, (ast.Tuple, ast.List, ast.Starred)):
            above = code.parent[above]
        # the value of an assignment, a `with`, this loop or an inner loop
        sources = (getattr(above, name, None) for name in ("value", "context_expr", "iter"))
        value = next((part for part in sources if part is not None), None)
        if value is not None and last_name(use) not in names(value):
            return True
    return False


def _outlives_its_pass(code: Code, holder: ast.expr, statement: ast.stmt) -> bool:
    """True if the state is read after training may have continued."""
    uses = _state_reads(code, holder, statement)
    if any(_is_copied(code, use) for use in uses):
        return False
    return any(
        not _is_assigned_just_before(code, use, holder)
        and not _is_only_tested(code, use)
        and (_is_load_argument(code, use) or not _is_in_this_pass(code, use, statement))
        for use in uses
    )


def _is_assigned_just_before(code: Code, use: ast.AST, holder: ast.expr) -> bool:
    """True if an earlier statement in this or an enclosing block definitely assigns a state."""
    here = code.statement(use)
    while True:
        if any(
            _assigns_state(other, holder)
            for other in code.block(here)
            if place(other) < place(here)
        ):
            return True
        above = code.parent[here]
        if not isinstance(above, ast.stmt) or isinstance(above, (*LOOPS, ast.FunctionDef)):
            return False
        here = above


def _assigns_state(statement: ast.stmt, holder: ast.expr) -> bool:
    if isinstance(statement, ast.If):
        branches = (statement.body, statement.orelse)
        return all(any(_assigns_state(inner, holder) for inner in branch) for branch in branches)
    return (
        isinstance(statement, ast.Assign)
        and "state_dict" in names(statement.value)
        and any(
            path(target) == path(holder) for part in statement.targets for target in ast.walk(part)
        )
    )


def _is_only_saved(code: Code, holder: ast.expr, statement: ast.stmt) -> bool:
    uses = [code.parent[read] for read in _state_reads(code, holder, statement)]
    return bool(uses) and all(
        isinstance(use, ast.Call) and last_name(use.func) == "save" for use in uses
    )


def _state_reads(code: Code, holder: ast.expr, statement: ast.stmt) -> list[ast.AST]:
    """The reads of the state in the same function (for self.best, anywhere, as in stopper.best)."""
    function = code.function(statement)
    of_self = path(holder).startswith("self.")
    return [
        use
        for use in code.all(type(holder))
        if isinstance(getattr(use, "ctx", None), ast.Load)
        and (
            last_name(use) == last_name(holder)
            if of_self
            else path(use) == path(holder) and code.function(use) is function
        )
    ]


def _is_only_tested(code: Code, node: ast.AST) -> bool:
    """True for nodes as in `if best is not None`, len(best) and print(best)."""
    above = code.parent[node]
    if isinstance(above, ast.Call) and node is not above.func:
        return last_name(above.func) in ("len", "print", "bool", "isinstance", "type", "id")
    asks = (ast.If, ast.IfExp, ast.Compare, ast.UnaryOp, ast.BoolOp, ast.Assert)
    return isinstance(above, asks) and node not in (
        getattr(above, "body", None),
        getattr(above, "orelse", None),
    )


def _is_load_argument(code: Code, node: ast.AST) -> bool:
    above = code.parent[node]
    return isinstance(above, ast.Call) and last_name(above.func) == "load_state_dict"


def _is_in_this_pass(code: Code, node: ast.AST, statement: ast.stmt) -> bool:
    """True if the node reads the state later in the same pass of the loop or in the same call."""
    loops = code.loops(statement)
    if loops and not any(above is loops[0] for above in code.ancestors(node)):
        return False
    return code.function(node) is code.function(statement) and place(node) > place(statement)


def _is_copied(code: Code, node: ast.AST) -> bool:
    above = code.parent[node]
    return isinstance(above, ast.Call) and last_name(above.func) in ("deepcopy", "clone")
