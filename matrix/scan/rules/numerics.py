"""Values that are nan, infinite or not what they are called."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code import (
    COMPREHENSIONS,
    LOOPS,
    Code,
    Edit,
    Hit,
    argument,
    constant,
    end,
    inserted,
    last_name,
    names,
    path,
    place,
    receiver,
    source,
)
from ..training import (
    OPTIMIZERS,
    ends_early,
    in_a_test,
    is_dead,
    is_fragment,
    is_optimizer,
    is_scaler,
    is_scheduler,
    optimizer_steps,
    softened,
    without_grad,
    yields_once,
)
from . import needs

CLIPS = ("clip_grad_norm_", "clip_grad_value_", "clip_grad_norm", "clip_grad_value")
READERS = {"list", "tuple", "set", "sum", "sorted", "max", "min", "dict", "all", "any"}
PICKS = ("gather", "squeeze", "unsqueeze", "view", "reshape", "transpose", "permute", "t", "float")
CARES = {
    *("nan_to_num", "nanmean", "nansum", "nanmedian", "isnan", "isinf", "isfinite"),
    *("where", "errstate", "masked_fill", "xlogy"),
}
MASKS = {"where", "masked_fill"}
BOUNDED = ("tanh", "sigmoid", "softmax", "cosine_similarity", "normalize")  # at most 2 apart
DECODERS = ("decode", "beam", "generate", "predict", "infer", "evaluat", "translate")
AVERAGES = ("step", "copy_to", "store", "restore")  # EMA.step(parameters), in each step


@needs("clip_grad_|ema", "filter(|map(|chain(|parameters()|for ")
def clip_exhausted_generator(code: Code) -> Iterator[Hit]:
    for call, given in _reads_of_parameters(code):
        for name in _drawn(given):
            made = _iterator(code, name)
            if made is None:
                continue
            kind = f"{source(name)} is an iterator (line {place(made)[0]})"
            edits: tuple[Edit, ...] = (inserted(place(made), "list("), inserted(end(made), ")"))
            drawn = [one for use in code.calls.get("next", ()) for one in use.args[:1]]
            if any(_iterator(code, one) is made for one in drawn):
                edits = ()  # next() takes no list
            early = _drained_before(code, made, call)
            if early is not None:
                yield Hit(
                    call,
                    f"{kind} that {source(early, 30)} in line {place(early)[0]} has used up: "
                    f"{source(call.func, 40)}() gets no parameters",
                    edits,
                )
                break
            if any(made not in ast.walk(loop) for loop in code.loops(call)):
                yield Hit(
                    call,
                    f"{kind}: from the second pass of the loop on, {source(call.func, 40)}() gets "
                    "no parameters",
                    edits,
                )
                break


def _reads_of_parameters(code: Code) -> Iterator[tuple[ast.Call, ast.expr]]:
    """The calls that clip or average parameters, and the parameters."""
    for name in CLIPS:
        for call in code.calls.get(name, ()):
            given = argument(call, 0, "parameters") or argument(call, -1, "params")
            if given is not None:
                yield call, given
    for name in AVERAGES:
        for call in code.calls.get(name, ()):
            if "ema" in last_name(receiver(call) or call).lower().split("_") and call.args:
                yield call, call.args[0]


def _drawn(node: ast.expr) -> list[ast.expr]:
    """The names that are read to the end where this is."""
    if isinstance(node, ast.IfExp):
        return _drawn(node.body) + _drawn(node.orelse)
    if isinstance(node, COMPREHENSIONS):
        return _drawn(node.generators[0].iter)
    if isinstance(node, ast.Starred):
        return _drawn(node.value)
    if isinstance(node, (ast.List, ast.Tuple)):
        return [name for one in node.elts if isinstance(one, ast.Starred) for name in _drawn(one)]
    if isinstance(node, ast.Call) and last_name(node.func) in {
        *READERS,
        "chain",
        "filter",
        "map",
    }:
        return [name for one in node.args for name in _drawn(one)]
    return [node] if path(node) else []


def _iterator(code: Code, name: ast.expr) -> ast.expr | None:
    """What the name was given, if that is parameters that can be read only once."""
    value = code.value(name)
    for _ in range(5):  # other names for the same
        if not path(value):
            break
        value = code.value(value)
    return value if isinstance(value, ast.expr) and yields_once(code, value) else None


def _drained_before(code: Code, made: ast.expr, call: ast.Call) -> ast.AST | None:
    """What reads the iterator to its end before this call does."""
    here = code.function(call)
    for name in _uses(code, made):
        reader = _drained_by(code, name)
        if reader is None or reader is call or code.excludes(reader, call):
            continue
        if call in ast.walk(reader):  # the call is in the loop over the iterator
            continue
        there = code.function(reader)
        if place(reader) < place(call) if there is here else there is code.function(made):
            return reader
    return None


def _uses(code: Code, made: ast.expr) -> list[ast.expr]:
    """The places that read a name that was given this."""
    statement = code.statement(made)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    wanted = {path(one) for one in targets}
    return [
        one
        for kind in (ast.Name, ast.Attribute)
        for one in code.nodes.get(kind, ())
        if isinstance(one, (ast.Name, ast.Attribute))
        and isinstance(one.ctx, ast.Load)
        and path(one) in wanted
        and code.value(one) is made
    ]


def _drained_by(code: Code, name: ast.AST) -> ast.AST | None:
    """The call or loop that reads the iterator to its end, if what becomes of it is certain."""
    inner, above = name, code.parent[name]
    while isinstance(above, (ast.Dict, ast.List, ast.Tuple, ast.keyword, ast.Starred, ast.IfExp)):
        inner, above = above, code.parent[above]
    if isinstance(above, ast.For) and inner is above.iter:
        return None if ends_early(code, above) else above
    if isinstance(above, ast.comprehension) and inner is above.iter:
        above = code.parent[above]
        return above if not isinstance(above, ast.GeneratorExp) else _drained_by(code, above)
    if isinstance(above, ast.Call) and inner is not above.func:
        called = last_name(above.func)
        if called in ("chain", "filter", "map"):
            return _drained_by(code, above)
        if called in READERS and inner is name:
            return above
        if called in CLIPS or _is_optimizer_call(above):
            return above
        if "ema" in called.lower() or "optim" in path(above.func).lower():
            return above
        return None
    if isinstance(above, ast.Assign) and inner is not name and len(above.targets) == 1:
        groups = path(above.targets[0])  # [{"params": parameters}]
        later = [
            one
            for one in code.within(code.function(above), ast.Name)
            if one.id == groups and isinstance(one.ctx, ast.Load) and place(one) > place(above)
        ]
        readers = (_drained_by(code, one) for one in later)
        return next((one for one in readers if _is_optimizer_call(one)), None)
    return None


def _is_optimizer_call(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Call) and (
        last_name(node.func) in OPTIMIZERS or "optim" in last_name(node.func).lower()
    )


@needs("abs(", "/")
def smape_zero_over_zero(code: Code) -> Iterator[Hit]:
    for node in code.nodes.get(ast.BinOp, ()):
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div):
            continue
        sizes = _sum_of_sizes(code, node.right)
        function = code.function(node)
        if (
            sizes
            and _has_difference(code, node.left, sizes)
            and not any(last_name(one.func) in CARES for one in code.calls_in(function))
            and not _is_asked_or_changed(code, node.right, function)
            and not _is_of_chosen_rows(code, node.right)
            and not in_a_test(code, node)
        ):
            yield Hit(node, f"{source(node)} is 0/0, nan, in a row where both are 0")


def _sum_of_sizes(code: Code, node: ast.expr) -> set[str]:
    """The two operands of |a| + |b|, or of that times a number; empty for anything else."""
    value = code.value(node)
    if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Div, ast.Mult)):
        if constant(value.right) is not None:
            return _sum_of_sizes(code, value.left)
        return _sum_of_sizes(code, value.right) if constant(value.left) is not None else set()
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Add):
        return set()
    sizes = [_size_of(code, value.left), _size_of(code, value.right)]
    return {ast.dump(one) for one in sizes if one is not None} if all(sizes) else set()


def _size_of(code: Code, node: ast.expr) -> ast.expr | None:
    """The x of x.abs(), torch.abs(x) and np.abs(x)."""
    value = code.value(node)
    if not isinstance(value, ast.Call) or last_name(value.func) not in ("abs", "absolute"):
        return None
    if code.full(value.func).startswith(("torch.", "numpy.")):
        return argument(value, 0, "input")
    return receiver(value) if not value.args else None


def _has_difference(code: Code, node: ast.expr, sizes: set[str]) -> bool:
    """Whether |a - b| of the same two is in it."""
    value = code.value(node)
    for one in ast.walk(value if value is not None else node):
        inner = _size_of(code, one) if isinstance(one, (ast.Name, ast.Call)) else None
        inner = code.value(inner) if inner is not None else None  # type: ignore[assignment]
        if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Sub):
            return {ast.dump(inner.left), ast.dump(inner.right)} == sizes
    return False


def _is_asked_or_changed(code: Code, node: ast.expr, function: ast.AST) -> bool:
    """Whether the divisor is compared with something, written into or used as a mask."""
    name = path(node)
    if not name:
        return False
    for one in code.within(function, (ast.Compare, ast.Subscript, ast.Call)):
        found: list[str] = []
        if isinstance(one, ast.Compare):
            found = [path(one.left), path(one.comparators[0])]
        elif isinstance(one, ast.Subscript):
            found = [path(one.value)]
        elif last_name(one.func).endswith("_"):
            found = [path(receiver(one))]
        if name in found:
            return True
    return False


def _is_of_chosen_rows(code: Code, divisor: ast.expr) -> bool:
    """Whether it is of a[mask], which may leave out the rows where both are 0."""
    found = (code.value(one) for one in ast.walk(code.value(divisor) or divisor))
    kinds = (ast.Name, ast.Compare, ast.UnaryOp, ast.BinOp)
    return any(isinstance(one, ast.Subscript) and isinstance(one.slice, kinds) for one in found)


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
                f"{source(kept)} refers to the weights of {source(model)} itself, and training "  # type: ignore[arg-type]
                "goes on changing them",
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
        for one in code.nodes.get(type(kept), ())
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


@needs("oftmax", "log(")
def log_of_a_softmax(code: Code) -> Iterator[Hit]:
    for call, inner in _logs(code):
        if not _can_be_0(code, inner) or without_grad(code, call) or _is_cared_for(code, call):
            continue
        if _is_times(code, call, inner) or _leaves_the_graph(code, call) or _decodes(code, call):
            continue
        yield Hit(
            call,
            f"{source(call)} is -inf, and its gradient nan, where the softmax rounds to 0",
        )


@needs("oftmax", "log(")
def entropy_of_a_sure_class(code: Code) -> Iterator[Hit]:
    for call, inner in _logs(code):
        product = _is_times(code, call, inner)
        if product is not None and _can_be_0(code, inner) and not _is_cared_for(code, call):
            yield Hit(product, f"{source(product)} is 0 * -inf, nan, for a probability of 0")


def _logs(code: Code) -> Iterator[tuple[ast.Call, ast.expr]]:
    """The logarithms, and what of."""
    for name in ("log", "log2", "log10"):
        for call in code.calls.get(name, ()):
            inner = argument(call, 0, "input") if code.torch(call.func) else receiver(call)
            if inner is not None and (code.torch(call.func) or not call.args):
                yield call, inner


def _softmax_in(code: Code, node: ast.expr) -> ast.AST | None:
    """The softmax that this is, is a part of, or that the name was given."""
    value = code.value(node)
    if isinstance(value, ast.Subscript):
        return _softmax_in(code, value.value)
    if isinstance(value, ast.Call) and code.method(value) in PICKS:
        inner = receiver(value)
        return _softmax_in(code, inner) if inner is not None else None
    return softened(code, value, "softmax", "Softmax")


def _can_be_0(code: Code, node: ast.expr) -> bool:
    """Whether it is a softmax, and not one of scores that lie close together by what made them."""
    found = _softmax_in(code, node)
    scores = None
    if isinstance(found, ast.Call):
        scores = argument(found, 0, "input") if found.args else receiver(found)
        if code.method(found) == "softmax":
            scores = receiver(found)
    value = code.value(scores)
    is_close = isinstance(value, ast.Call) and last_name(value.func) in BOUNDED
    return found is not None and not is_close


def _is_cared_for(code: Code, call: ast.Call) -> bool:
    """Whether something looks for what is not finite, or it is in a test, with its own numbers."""
    function = code.function(call)
    around = function if function is not code.tree else code.statement(call)
    inner = argument(call, 0, "input") if code.torch(call.func) else receiver(call)
    return (
        in_a_test(code, call)
        or any(last_name(one.func) in CARES - MASKS for one in code.calls_in(around))
        or any(
            last_name(one.func).startswith(("clamp", "clip", "add"))
            and last_name(one.func).endswith("_")
            and path(receiver(one)) == path(inner) != ""
            for one in code.calls_in(around)
        )
        or any(
            isinstance(one, ast.Call) and last_name(one.func) in MASKS
            for one in code.ancestors(call)
        )
    )


def _decodes(code: Code, call: ast.Call) -> bool:
    """Whether the logarithm is a score to choose by, where -inf is one too, by the function."""
    name = getattr(code.function(call), "name", "").lower()
    return any(word in name for word in DECODERS)


def _is_times(code: Code, call: ast.Call, inner: ast.expr) -> ast.BinOp | None:
    """The product of the logarithm and what it is of, if there is one."""
    for above in code.ancestors(call):
        if not isinstance(above, ast.BinOp):
            if isinstance(above, ast.UnaryOp):
                continue
            return None
        if isinstance(above.op, ast.Mult):
            wanted = ast.dump(inner)
            sides = (above.left, above.right)
            return above if any(ast.dump(side) == wanted for side in sides) else None
    return None


def _leaves_the_graph(code: Code, call: ast.Call) -> bool:
    """Whether only numbers are made of it: .item(), .detach()."""
    return any(
        isinstance(one, ast.Attribute) and one.attr in ("item", "detach", "numpy", "tolist", "cpu")
        for one in code.ancestors(call)
    )
