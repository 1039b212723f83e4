"""Mixed precision and gradient accumulation."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ..code import (
    Code,
    Edit,
    Hit,
    argument,
    constant,
    inserted,
    names,
    path,
    place,
    receiver,
    source,
)
from ..training import (
    backwards,
    functions_called,
    is_backward,
    is_fragment,
    is_optimizer,
    is_scaler,
    optimizer_steps,
    rest_of_the_block,
)
from . import needs

CLIPS = ("clip_grad_norm_", "clip_grad_value_")


@needs("clip_grad_", "scaler|Scaler")
def clip_before_unscale(code: Code) -> Iterator[Hit]:
    for clip in [call for name in CLIPS for call in code.calls.get(name, ())]:
        function = code.function(clip)
        scaled = [call for call in backwards(code, function) if _is_scaled(code, call)]
        unscaled = code.calls_in(function, "unscale_")
        elsewhere = any(code.calls_in(one, "unscale_") for one in functions_called(code, function))
        steps = [
            call
            for call in code.calls_in(function, "step")
            if is_scaler(code, receiver(call)) and call.args
        ]
        if (
            _one_before(code, scaled, clip)
            and _one_before(code, [clip], *steps)
            and not _one_before(code, unscaled, clip)
            and not any(code.excludes(call, clip) for call in unscaled)  # of another AMP
            and not elsewhere
            and not path(clip.func).startswith("accelerator.")
        ):
            yield Hit(
                clip,
                f"{source(clip.func, 40)}() shortens gradients that are still multiplied by the "
                "loss scale: the step is shorter by that factor",
                () if unscaled else _unscaled_before(code, clip, scaled, steps),
            )


@needs("scaler|Scaler", "backward", "unscale_")
def backward_after_unscale(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("unscale_", ()):
        others = code.calls_in(code.function(call), "unscale_")
        if len({ast.dump(one) for one in others}) > 1:
            continue  # each optimizer has its own gradients
        for later in rest_of_the_block(code, call):
            if any(
                is_scaler(code, receiver(step)) for step in code.calls_in(later, "step", "update")
            ):
                break
            for backward in backwards(code, later):
                if _is_scaled(code, backward):
                    yield Hit(
                        backward,
                        "this backward() adds gradients that are multiplied by the loss scale to "
                        f"those that {source(call, 40)} has divided by it",
                    )


@needs("scaler|Scaler", "unscale_")
def unscale_twice(code: Code) -> Iterator[Hit]:
    updated = any(is_scaler(code, receiver(call)) for call in code.calls.get("update", ()))
    handed = any(
        "scaler" in path(value).lower()
        for calls in code.calls.values()
        for call in calls
        for value in [*call.args, *(keyword.value for keyword in call.keywords)]
    )
    for call in code.calls.get("unscale_", ()):
        if not is_scaler(code, receiver(call)):
            continue
        owner = code.owner(call)
        if not updated and not handed and not (owner is not None and owner.bases):
            yield Hit(
                call, f"{source(call, 40)} raises in the second step: update() is never called"
            )
            continue
        around: list[ast.AST] = list(code.loops(call)[:1])
        if not around and is_fragment(code):
            around = [code.tree]
        for step in [one for inside in around for one in code.calls_in(inside, "step")]:
            test = next(iter(code.conditions(step)), None)
            counts = test is not None and any(map(_window, _parts(test)))
            if is_scaler(code, receiver(step)) and test is not None and counts:
                branch = code.parent[test]
                same = [ast.dump(code.value(one) or one) for one in code.conditions(call)]
                own = code.excludes(call, step) or _is_in(code, call, branch)
                if not own and not {ast.dump(part) for part in [test, *_parts(test)]} & {*same}:
                    yield Hit(
                        call,
                        f"{source(call, 40)} is called for every batch of a window, and raises for "
                        "the second one",
                    )
                    break


@needs("scaler|Scaler", "backward", ".step(")
def unscale_before_scale(code: Code) -> Iterator[Hit]:
    for step in code.calls.get("step", ()):
        if not is_scaler(code, receiver(step)) or not step.args:
            continue
        function = code.function(step)
        before = [
            call
            for call in backwards(code, function)
            if place(call) < place(step) and not code.excludes(call, step)
        ]
        places = [code.owner(step) or function, *functions_called(code, function)]
        if before and not any(_scales(code, one) for one in places):
            yield Hit(
                step,
                f"{source(step.func, 40)}() raises: the loss was not scaled by scale()",
            )


@needs("scaler|Scaler", "backward", "scale(")
def unscale_divides_by_65536(code: Code) -> Iterator[Hit]:
    for step in code.calls.get("step", ()):
        if not is_scaler(code, receiver(step)) or not step.args:
            continue
        block = code.block(code.statement(step))
        before = [one for one in block if place(one) < place(step)]
        for at in range(len(before) - 1, -1, -1):  # those since the step before
            if optimizer_steps(code, before[at]):
                before = before[at + 1 :]
                break
        direct = [
            one.value
            for one in before
            if isinstance(one, ast.Expr)
            and isinstance(one.value, ast.Call)
            and is_backward(one.value)
        ]
        scaled = [call for call in direct if _is_scaled(code, call)]
        plain = [
            one
            for one in optimizer_steps(code, code.function(step))
            if not is_scaler(code, receiver(one))
        ]
        for call in direct:
            if scaled and call not in scaled and not plain:  # of an optimizer of its own
                yield Hit(
                    call,
                    f"{source(call, 40)} is not scaled, and {source(step, 40)} divides its "
                    "gradients by the loss scale too",
                )


@needs("%", "backward", "step")
def last_window_is_dropped(code: Code) -> Iterator[Hit]:
    for step in code.calls.get("step", ()):
        if not (is_scaler(code, receiver(step)) or is_optimizer(code, receiver(step))):
            continue
        test = next(iter(code.conditions(step)), None)
        counted = _window(test)
        if test is None or counted is None:
            continue
        counter, window = counted
        branch = code.parent[test]
        loops = code.loops(branch)
        function = code.function(branch)
        inside = loops[0] if loops else function
        own = [call for call in backwards(code, inside) if not _is_in(code, call, branch)]
        if (
            any(place(call) < place(step) for call in own)
            and not backwards(code, branch)
            and _starts_anew(code, counter, loops, function)
            and not _steps_after(code, loops[0] if loops else None)
            and not _leaves_early(code, loops[0] if loops else None, window)
            and not _clears(code, loops[0].body if loops else [], branch)
            and constant(window) != 1
        ):
            before = code.block(loops[0]) if loops else []
            stay = "" if _clears(code, before, branch) else ", and their gradients stay"
            yield Hit(
                step,
                "no step is taken for the batches after the last full window of "
                f"{source(window, 40)}{stay}",
            )


@needs("backward", "/")
def accumulated_loss_is_divided(code: Code) -> Iterator[Hit]:
    for node in code.nodes.get(ast.Assign, []) + code.nodes.get(ast.AugAssign, []):
        divided = _divided(node)
        if divided is None:
            continue
        loss, window = divided
        loops = code.loops(node)
        block: ast.AST = loops[0] if loops else code.function(node)
        summed = bool(loops) and path(window) in _names_of_the_range(loops[0])
        if summed or not _is_a_window(code, window, block) or not backwards(code, block):
            continue
        for use in code.calls_in(block, "item", "detach"):
            above, statement = code.parent[use], code.statement(use)
            kept = isinstance(statement, ast.AugAssign) or code.calls_in(statement, "append")
            reported = kept or code.method(use) == "item"
            multiplied = isinstance(above, ast.BinOp) and isinstance(above.op, ast.Mult)
            if (
                path(receiver(use)) == loss
                and place(use) > place(node)
                and not code.excludes(use, node)
                and reported
                and not multiplied
                and not _made_whole(code, statement, window)
            ):
                yield Hit(
                    use,
                    f"{source(use)} was divided by {source(window, 40)} for backward(): what is "
                    "reported is smaller by that factor",
                )
                break


@needs("load_state_dict", "GradScaler", "enabled")
def resume_from_disabled_scaler(code: Code) -> Iterator[Hit]:
    switched = [argument(made, -1, "enabled") for made in code.calls.get("GradScaler", ())]
    if all(enabled is None or constant(enabled) is not None for enabled in switched):
        return
    for call in code.calls.get("load_state_dict", ()):
        guarded = bool(call.args) and _is_not_empty(code, call, call.args[0])
        caught = any(isinstance(one, ast.Try) for one in code.ancestors(call))
        if is_scaler(code, receiver(call)) and call.args and not guarded and not caught:
            yield Hit(
                call,
                f"{source(call.func, 40)}() raises for what a scaler that was off has saved: {{}}",
            )


@needs("GradScaler", "amp")
def default_scaler_is_off(code: Code) -> Iterator[Hit]:
    texts = (constant(node) for node in code.nodes.get(ast.Constant, ()))
    elsewhere = any(isinstance(text, str) and re.search(r"\bmps\b", text) for text in texts)
    if "cuda" in code.text and not elsewhere:
        return  # it runs on CUDA alone, or on the CPU without a scaler
    for call in code.calls.get("GradScaler", ()):
        on_cuda = any(names(test) & {"cuda", "is_cuda"} for test in code.conditions(call))
        plain = not call.args and all(one.arg not in ("device", None) for one in call.keywords)
        if code.full(call.func) == "torch.amp.GradScaler" and plain and not on_cuda:
            yield Hit(call, f"{source(call)} is for CUDA: on any other device it does nothing")


# --- what the rules above share -------------------------------------------------------------------


def _unscaled_before(
    code: Code, clip: ast.Call, scaled: list[ast.Call], steps: list[ast.Call]
) -> tuple[Edit, ...]:
    """The line that is missing, before the first clip of the one step: a call for each batch of a
    window, or for each of several clips, would raise, and one for another optimizer be wrong.
    """
    if len(steps) != 1 or not path(steps[0].args[0]):
        return ()
    step, statement = steps[0], code.statement(clip)
    clips = [
        one
        for one in code.calls_in(code.function(clip), *CLIPS)
        if place(one) < place(step) and not code.excludes(one, clip)
    ]
    if not _one_before(code, scaled, clips[0]) or _one_before(code, clips[:1], *scaled):
        return ()
    if any(code.statement(one) not in code.block(statement) for one in clips):
        return ()
    line, column = place(code.statement(clips[0]))
    indent = code.text.split("\n")[line - 1][:column]
    above = statement
    while not indent.strip():  # else it is not the first of its line
        if code.statement(step) in code.block(above):
            scaler, optimizer = source(step.func)[: -len(".step")], source(step.args[0])
            return (inserted((line, column), f"{scaler}.unscale_({optimizer})\n{indent}"),)
        if not isinstance(code.parent[above], ast.If):
            break
        above = code.statement(code.parent[above])
    return ()


def _is_scaled(code: Code, backward: ast.Call) -> bool:
    """scaler.scale(loss).backward(), also by way of a name."""
    value = code.value(receiver(backward))
    return isinstance(value, ast.Call) and any(
        isinstance(one, ast.Call)
        and isinstance(one.func, ast.Attribute)
        and one.func.attr == "scale"
        and is_scaler(code, one.func.value)
        for one in ast.walk(value)
    )


def _scales(code: Code, node: ast.AST) -> bool:
    """Whether something in it is scaled, or a scaler is handed to what may do it."""
    calls = [one for one in ast.walk(node) if isinstance(one, ast.Call)]
    return any(
        code.method(one) == "scale"
        or any(
            "scaler" in path(value).lower()
            for value in [*one.args, *(k.value for k in one.keywords)]
        )
        for one in calls
    )


def _one_before(code: Code, earlier: list[ast.Call], *later: ast.Call) -> bool:
    """Whether one of the earlier calls may have run when one of the later ones runs."""
    return any(
        place(one) < place(other) and not code.excludes(one, other)
        for one in earlier
        for other in later
    )


def _is_in(code: Code, node: ast.AST, above: ast.AST) -> bool:
    return any(one is above for one in code.ancestors(node))


def _window(test: ast.expr | None) -> tuple[ast.expr, ast.expr] | None:
    """The counter and the window of a test such as `(i + 1) % window == 0`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test = test.operand
    elif isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
        test = test.left
    else:
        return None
    if not isinstance(test, ast.BinOp) or not isinstance(test.op, ast.Mod):
        return None
    return test.left, test.right


def _starts_anew(
    code: Code,
    counter: ast.expr,
    loops: list[ast.For | ast.AsyncFor | ast.While],
    function: ast.AST,
) -> bool:
    """Whether the counter counts the batches of one epoch."""
    used = {one.id for one in ast.walk(counter) if isinstance(one, ast.Name)}
    if not loops:  # of a fragment; or a step of one batch, by its number
        whole = function is code.tree
        return whole or any("batch" in name or "idx" in name for name in used)
    loop = loops[0]
    if isinstance(loop, ast.While):
        return False
    if names(loop.iter) & {"range", "count"} and not names(loop.iter) & {"enumerate", "len"}:
        return False  # steps of the whole training
    targets = {one.id for one in ast.walk(loop.target) if isinstance(one, ast.Name)}
    if used & targets:
        return True
    epoch = loops[1] if len(loops) > 1 else function  # set to 0 before each epoch
    return any(
        isinstance(one.targets[0], ast.Name)
        and one.targets[0].id in used
        and constant(one.value) in (0, 1)
        and (not loops[1:] or any(one is part for part in loops[1].body))
        for one in code.within(epoch, ast.Assign)
        if place(one) < place(loop)
    )


def _steps_after(code: Code, loop: ast.stmt | None) -> bool:
    """Whether the rest of the block takes a step for what is left."""
    return loop is not None and any(
        optimizer_steps(code, part)
        for one in rest_of_the_block(code, loop)
        for part in (one, *functions_called(code, one))
    )


def _clears(code: Code, block: list[ast.stmt], branch: ast.AST) -> bool:
    """Whether a statement of the block itself clears gradients: of a loop, in every pass."""
    return any(
        isinstance(one, ast.Expr) and one is not branch and code.calls_in(one, "zero_grad")
        for one in block
    )


def _leaves_early(code: Code, loop: ast.stmt | None, window: ast.expr) -> bool:
    """Whether the loop passes over the batches after the last full window."""
    if loop is None:
        return False
    for one in code.within(loop, ast.Continue):
        for name in [
            part for test in code.conditions(one)[:1] for part in code.within(test, ast.Name)
        ]:
            value = code.value(name)
            if value is not None and names(value) & names(window):
                return True
    return False


def _divided(node: ast.AST) -> tuple[str, ast.expr] | None:
    """The name and the divisor of `loss = loss / window` and `loss /= window`."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Div):
        return (path(node.target), node.value) if path(node.target) else None
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return None
    value, name = node.value, path(node.targets[0])
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Div) or not name:
        return None
    return (name, value.right) if path(value.left) == name else None


def _made_whole(code: Code, statement: ast.stmt, window: ast.expr) -> bool:
    """Whether what sums the losses is multiplied by the window later, is divided by the number of
    steps, or is set to 0 for each window: the sum over one is its mean. Or nothing reads it.
    """
    if not isinstance(statement, ast.AugAssign):
        return False
    total, function, loops = path(statement.target), code.function(statement), code.loops(statement)
    for one in code.within(function, ast.BinOp):
        parts = {path(one.left), path(one.right)}
        if isinstance(one.op, ast.Mult) and parts == {total, path(window)}:
            return True
        of_steps = path(one.right) in _counters_of_steps(code, function)
        if isinstance(one.op, ast.Div) and of_steps and total in map(path, ast.walk(one.left)):
            return True
    reads = [one for one in code.within(function, ast.Name) if isinstance(one.ctx, ast.Load)]
    if "." not in total and not is_fragment(code) and not any(one.id == total for one in reads):
        return True
    if len(loops) < 2:
        return False
    starts = [one for one in loops[1].body if isinstance(one, ast.Assign)]
    steps = [one for one in optimizer_steps(code, loops[1]) if not _is_in(code, one, loops[0])]
    return bool(steps) and any(path(one.targets[0]) == total for one in starts)


def _counters_of_steps(code: Code, function: ast.AST) -> set[str]:
    """What counts the full windows."""
    return {
        path(one.target)
        for one in code.within(function, ast.AugAssign)
        if any(_window(part) for test in code.conditions(one) for part in _parts(test))
    }


def _parts(test: ast.expr) -> list[ast.expr]:
    return test.values if isinstance(test, ast.BoolOp) else [test]


def _names_of_the_range(loop: ast.For | ast.AsyncFor | ast.While) -> set[str]:
    """What a loop over range(window) repeats: the sum over it is the mean again."""
    if isinstance(loop, ast.While) or not isinstance(loop.iter, ast.Call):
        return set()
    return {path(one) for one in loop.iter.args}


def _is_a_window(code: Code, window: ast.expr, block: ast.AST) -> bool:
    """Whether it is how many batches are accumulated: by its name, or by a step's condition."""
    name = path(window)
    if not name:
        return False
    if "accum" in name.lower() or "window" in name.lower():
        return True
    return any(
        isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod) and path(part.right) == name
        for one in code.within(block, ast.If)
        for part in ast.walk(one.test)
    )


def _is_not_empty(code: Code, call: ast.Call, state: ast.expr) -> bool:
    """Whether an empty state does not get there: `if state:`, or `if not state: return` before."""
    left = [
        part.operand
        for one in code.within(code.function(call), ast.If)
        for part in _parts(one.test)
        if isinstance(part, ast.UnaryOp)
        and isinstance(part.op, ast.Not)
        and isinstance(one.body[-1], (ast.Return, ast.Raise, ast.Continue))
        and place(one) < place(call)
    ]
    return any(_asks_for(code, test, state) for test in [*code.conditions(call), *left])


def _asks_for(code: Code, test: ast.expr, state: ast.expr) -> bool:
    """Whether the test is false for an empty state: it is the state itself, or a part of an and."""
    for part in _parts(test):
        asked = part.left if isinstance(part, ast.Compare) else part
        if isinstance(asked, ast.Call) and path(asked.func) == "len" and asked.args:
            asked = asked.args[0]
        if ast.dump(asked) == ast.dump(state) and not _is_none_test(part):
            return True
        if isinstance(part, ast.Call) and code.method(part) == "get" and part.args:
            key = ast.dump(part.args[0])
            if isinstance(state, ast.Subscript) and ast.dump(state.slice) == key:
                return True
    return False


def _is_none_test(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Is, ast.IsNot))
