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


@needs("state_dict()", "best")
def best_state_is_an_alias(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("state_dict", ()):
        model = receiver(call)
        if call.args or call.keywords or not path(model):
            continue
        if any(kind(code, model) for kind in (is_optimizer, is_scheduler, is_scaler)):
            continue
        statement = code.statement(call)
        kept = _kept_in(call, statement)
        if kept is None or not _is_best(code, kept, statement):
            continue
        if in_a_test(code, call) or is_dead(code, call):
            continue
        if not _goes_on(code, model, kept, statement):
            continue
        alone = is_fragment(code) and not _is_only_saved(code, kept, statement)
        if alone or _outlives_its_pass(code, kept, statement):
            yield Hit(
                call,
                f"{source(kept)} is a reference to the weights of {source(model)}, which training "  # type: ignore[arg-type]
                "keeps changing",
            )


def _kept_in(call: ast.Call, statement: ast.stmt) -> ast.expr | None:
    """The name that is given the state, or a .copy() of its dictionary."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        pairs = list(zip(target.elts, value.elts, strict=False))
    else:
        pairs = [(target, value)]
    for name, given in pairs:
        while isinstance(given, ast.Call) and given is not call:  # state.copy(), dict(state)
            inner = receiver(given) if last_name(given.func) == "copy" else None
            if last_name(given.func) in ("dict", "OrderedDict") and len(given.args) == 1:
                inner = given.args[0]
            if inner is None:
                break
            given = inner
        if given is call and path(name):
            return name
    return None


def _is_best(code: Code, kept: ast.expr, statement: ast.stmt) -> bool:
    """By its name, or because it is kept where something is better than the best."""
    return "best" in last_name(kept).lower() or any(
        isinstance(test, ast.Compare) and any("best" in name.lower() for name in names(test))
        for test in code.conditions(statement)
    )


def _goes_on(code: Code, model: ast.AST | None, kept: ast.expr, statement: ast.stmt) -> bool:
    """Whether this model is trained after this."""
    if any(_hands_out_copies(one) for one in code.ancestors(statement)):
        return False
    loops = code.loops(statement)
    if loops:
        leaves = isinstance(code.block(statement)[-1], (ast.Break, ast.Return))
        return not leaves and not _is_new_in(code, model, loops[0])
    if path(kept).startswith("self.") and any(
        isinstance(test, ast.Compare) for test in code.conditions(statement)
    ):
        return True  # a callback, after each epoch
    steps = optimizer_steps(code, code.function(statement))
    return any(place(step) > place(statement) for step in steps)


def _hands_out_copies(above: ast.AST) -> bool:
    """with FSDP.state_dict_type(model, ...):"""
    return isinstance(above, ast.With) and any(
        "state_dict" in word for item in above.items for word in names(item.context_expr)
    )


def _is_new_in(code: Code, model: ast.AST | None, loop: ast.AST) -> bool:
    """Whether each pass of the loop has a model of its own."""
    first, _, rest = path(model).partition(".")
    if first == "self":  # self.model of self.model.module
        first = f"self.{rest.partition('.')[0]}"
    for one in code.within(loop, (ast.Name, ast.Attribute)):
        if path(one) != first or not isinstance(one.ctx, ast.Store):
            continue
        above = code.parent[one]
        while isinstance(above, (ast.Tuple, ast.List, ast.Starred)):
            above = code.parent[above]
        # of an assignment, of `with`, of the loop itself or one in it
        given = (getattr(above, name, None) for name in ("value", "context_expr", "iter"))
        value = next((part for part in given if part is not None), None)
        if value is not None and last_name(one) not in names(value):
            return True
    return False


def _outlives_its_pass(code: Code, kept: ast.expr, statement: ast.stmt) -> bool:
    """Whether the state is read where training may have gone on since."""
    uses = _reads_of_the_state(code, kept, statement)
    if any(_is_copied(code, one) for one in uses):
        return False
    return any(
        not _is_given_just_before(code, one, kept)
        and not _is_only_asked(code, one)
        and (_is_load_argument(code, one) or not _is_in_this_pass(code, one, statement))
        for one in uses
    )


def _is_given_just_before(code: Code, use: ast.AST, kept: ast.expr) -> bool:
    """Whether a statement before it, in its block or around that, gives it a state in any case."""
    here = code.statement(use)
    while True:
        if any(_gives(one, kept) for one in code.block(here) if place(one) < place(here)):
            return True
        above = code.parent[here]
        if not isinstance(above, ast.stmt) or isinstance(above, (*LOOPS, ast.FunctionDef)):
            return False
        here = above


def _gives(statement: ast.stmt, kept: ast.expr) -> bool:
    if isinstance(statement, ast.If):
        branches = (statement.body, statement.orelse)
        return all(any(_gives(one, kept) for one in branch) for branch in branches)
    return (
        isinstance(statement, ast.Assign)
        and "state_dict" in names(statement.value)
        and any(path(one) == path(kept) for part in statement.targets for one in ast.walk(part))
    )


def _is_only_saved(code: Code, kept: ast.expr, statement: ast.stmt) -> bool:
    uses = [code.parent[one] for one in _reads_of_the_state(code, kept, statement)]
    return bool(uses) and all(
        isinstance(one, ast.Call) and last_name(one.func) == "save" for one in uses
    )


def _reads_of_the_state(code: Code, kept: ast.expr, statement: ast.stmt) -> list[ast.AST]:
    """Where the name is read: one of a function there, self.best also as stopper.best."""
    function = code.function(statement)
    of_self = path(kept).startswith("self.")
    return [
        one
        for one in code.all(type(kept))
        if isinstance(getattr(one, "ctx", None), ast.Load)
        and (
            last_name(one) == last_name(kept)
            if of_self
            else path(one) == path(kept) and code.function(one) is function
        )
    ]


def _is_only_asked(code: Code, node: ast.AST) -> bool:
    """if best is not None, len(best), print(best)"""
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
    """Whether it is read after it was kept and before the loop, or the call, comes to its end."""
    loops = code.loops(statement)
    if loops and not any(above is loops[0] for above in code.ancestors(node)):
        return False
    return code.function(node) is code.function(statement) and place(node) > place(statement)


def _is_copied(code: Code, node: ast.AST) -> bool:
    above = code.parent[node]
    return isinstance(above, ast.Call) and last_name(above.func) in ("deepcopy", "clone")
