"""Recognizes recurrent and attention layers, the names of their outputs, and reads of a step."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from .code import (
    Code,
    Hit,
    argument,
    constant,
    end,
    has_unpacked,
    is_none,
    last_name,
    names,
    path,
    place,
    receiver,
    source,
)
from .training import creating_call, is_dead, is_fragment, is_network

RECURRENT = ("LSTM", "GRU", "RNN")
BATCH_FIRST = {  # layer -> the position of batch_first
    "LSTM": 4, "GRU": 4, "RNN": 4, "MultiheadAttention": 8, "TransformerEncoderLayer": 6,
    "TransformerDecoderLayer": 6, "Transformer": 10,
}  # fmt: skip
STACKS = ("TransformerEncoder", "TransformerDecoder")
ATTENTION = ("MultiheadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer")
KEEP_STEPS = ("drop", "norm", "relu", "act")  # layers that keep the shape and the order
BATCHES = ("b", "bs", "bsz", "nbatch", "nbatches")
COMMENT = re.compile(  # [batch, time, ...] in a comment
    r"#(?!.*(?:mask|weight)).*[\[(]\s*(?:batch\w*|bs?|bsz)\s*[,x]\s*"
    r"(?:time\w*|seq\w*|t|l|s|len\w*|tokens?|steps?)\b",
    re.IGNORECASE,
)
LENGTHS = re.compile(r"len(gth)?s?$|lens?_|lengths?_|mask|gather|flip|causal")  # of sequences


class Run(NamedTuple):
    """A call of a layer, such as `output, h = lstm(x)`."""

    layer: str
    maker: ast.Call | None  # the call that created the layer; None in a fragment without this call
    call: ast.Call
    output: str  # the name of the output, or ""
    state: str  # the name of h, or ""


def runs(code: Code, kinds: tuple[str, ...]) -> Iterator[Run]:
    """Yields the calls of layers of these kinds. An encoder is represented by its first layer."""
    kept = {
        path(target)
        for kind in (*kinds, *STACKS)
        for maker in code.calls.get(kind, ())
        if isinstance(statement := code.statement(maker), ast.Assign)
        for target in statement.targets
    }
    for call in code.all(ast.Call) if kept or is_fragment(code) else ():
        name = path(call.func)
        if not call.args and not call.keywords:
            continue
        if name in kept:
            maker = creating_call(code, call.func)
            if maker is not None and code.torch(maker.func) in STACKS:
                layer = argument(maker, 0, "encoder_layer") or argument(maker, -1, "decoder_layer")
                maker = creating_call(code, layer)
            if maker is not None and maker is not call and code.torch(maker.func) in kinds:
                yield Run(name, maker, call, *_outputs(code, call, code.torch(maker.func)))
        elif is_fragment(code) and _is_named(call.func, kinds):
            yield Run(name, None, call, *_outputs(code, call, name))


def _outputs(code: Code, call: ast.Call, kind: str) -> tuple[str, str]:
    """The names of the output and of the state h, such as x for `x = lstm(x)[0]`."""
    value, node = call, code.parent[call]
    is_first = isinstance(node, ast.Subscript) and constant(node.slice) == 0
    if is_first:
        value, node = node, code.parent[node]  # type: ignore[assignment]
    target = node.targets[0] if isinstance(node, ast.Assign) and node.value is value else None
    if not isinstance(target, ast.Tuple):
        returns_one = "Transformer" in kind or "encoder" in kind
        return (path(target), "") if is_first is not returns_one else ("", "")
    if len(target.elts) != 2 or is_first:
        return "", ""
    second = target.elts[1]
    return path(target.elts[0]), path(second.elts[0] if isinstance(second, ast.Tuple) else second)


def _is_named(node: ast.AST, kinds: tuple[str, ...]) -> bool:
    """True if the name of a layer in a fragment is usual for these kinds, such as "lstm"."""
    words = ("lstm", "gru", "rnn") if kinds == RECURRENT else ("encoder", "attention", "attn")
    name = last_name(node)
    return name.islower() and any(word in name for word in words)


def input_of(call: ast.Call) -> ast.expr:
    return call.args[0] if call.args else call.keywords[0].value


def is_batch_first(code: Code, maker: ast.Call) -> bool | None:
    """The value of batch_first, or None if it is unknown."""
    position = BATCH_FIRST.get(code.torch(maker.func))
    if position is None:
        return None
    value = argument(maker, position, "batch_first")
    if value is None:
        return None if has_unpacked(maker) else False
    flag = constant(code.value(value))
    return flag if isinstance(flag, bool) else None


def batch_first_is_missing(
    code: Code, kinds: tuple[str, ...], axis: str, step: str, index: int | None = None
) -> Iterator[Hit]:
    """Yields the layers without batch_first whose input or output has the batch first.

    `axis` and `step` name the dimension of the steps and a step in the findings. With `index`, only
    reads of this step show that the batch comes first, and otherwise reads of any step.
    """
    found = set()
    for run in runs(code, kinds):
        maker = run.maker
        if maker is None or is_batch_first(code, maker) is not False or maker in found:
            continue
        evidence = _batch_in_the_output(code, run, axis, step, index) or batch_comes_first(
            code, run
        )
        if evidence and not is_dead(code, run.call):
            found.add(maker)
            yield Hit(maker, f"{run.layer}() takes [{axis}, batch, ...] by default, but {evidence}")


def _batch_in_the_output(code: Code, run: Run, axis: str, step: str, index: int | None) -> str:
    """The code that takes a step or the mean over the second dimension, as a clause, or ""."""
    for name in reads(code, run, run.output):
        read = step_of(code, name)
        if read is not None and read[1] == 1 and index in (None, read[2]):
            return f"{source(read[0], 40)} takes {step} of [batch, {axis}, ...]"
        mean = mean_over(code, name)
        if mean is not None and mean[1] == 1:
            return f"{source(mean[0], 40)} takes the mean over the {axis} of [batch, {axis}, ...]"
    return ""


def batch_comes_first(code: Code, run: Run) -> str:
    """The code that shows that the input is [batch, time, ...], as a clause, or ""."""
    for node in inputs(code, input_of(run.call)):
        if isinstance(node, ast.Call) and (_swaps_the_last(node) or _views_the_batch(node)):
            return f"{source(node, 50)} leaves the batch first"
    if any(
        COMMENT.search(code.lines[place(part)[0] - 1]) for part in (run.call, run.maker) if part
    ):
        return "a comment says that the batch comes first"
    sized = _batch_is_sized(code, run)
    return sized and f"{sized} uses the first dimension as the batch"


def _views_the_batch(call: ast.Call) -> bool:
    """True for x.view(batch, time, -1) and x.view(x.size(0), time, -1)."""
    if last_name(call.func) not in ("view", "reshape") or len(call.args) != 3:
        return False
    first, second, _ = call.args
    rows = first.value if isinstance(first, ast.Subscript) else first  # x.shape[0]
    if isinstance(rows, ast.Call) and constant(argument(rows, 0)) == 0:
        rows = rows.func  # x.size(0)
    is_size = isinstance(rows, ast.Attribute) and rows.attr in ("shape", "size")
    return constant(second) != 1 and (is_size or _is_a_batch(first))


def _swaps_the_last(call: ast.Call) -> bool:
    """True for x.transpose(1, 2) and x.permute(0, 2, 1)."""
    order = [constant(value) for value in call.args]
    if last_name(call.func) == "permute":
        return order == [0, 2, 1]
    return last_name(call.func) in ("transpose", "swapaxes") and set(order) in ({1, 2}, {-1, -2})


def _batch_is_sized(code: Code, run: Run) -> str:
    """The code that takes the batch size from the first dimension of the input, or ""."""
    parts = [part for part in inputs(code, input_of(run.call)) if isinstance(part, ast.Name)]
    for name in parts:
        for node in code.within(code.function(run.call), ast.Assign):
            target = node.targets[0]
            if isinstance(target, ast.Tuple):
                target, sized = target.elts[0], node.value
            elif isinstance(node.value, ast.Subscript) and constant(node.value.slice) == 0:
                sized = node.value.value  # x.shape[0], x.size()[0]
            else:
                sized = node.value
                if not isinstance(sized, ast.Call) or constant(argument(sized, 0)) != 0:
                    continue
            if isinstance(sized, ast.Call):
                sized = sized.func
            if (
                isinstance(sized, ast.Attribute)
                and sized.attr in ("shape", "size")
                and path(sized.value) == name.id
                and _is_a_batch(target)
                and not _is_assigned_between(code, name, node)
            ):
                return source(node, 50)
    return ""


def _is_a_batch(target: ast.AST) -> bool:
    name = last_name(target).lower()
    return "batch" in name or name in BATCHES


def inputs(
    code: Code, node: ast.AST | None, through: tuple[str, ...] = ("contiguous", "to", "float")
) -> Iterator[ast.Name | ast.Call]:
    """Yields the input of a layer, and the layers of self and their inputs that it comes from.

    `through` names the methods of tensors that are skipped.
    """
    for _ in range(12):
        if isinstance(node, ast.BinOp):
            node = node.left
        elif isinstance(node, ast.Name):
            yield node
            node = code.value(node)
        elif isinstance(node, ast.Call):
            yield node
            if last_name(node.func) in through:
                node = receiver(node)
            else:
                follows = path(node.func).startswith("self.") and node.args
                node = node.args[0] if follows else None
        else:
            return


def knows_lengths(code: Code, node: ast.AST) -> bool:
    """True if the method that contains the node uses the lengths or a mask."""
    words = names(code.function(node))
    return not is_fragment(code) and any(LENGTHS.search(word.lower()) for word in words)


def is_padded(code: Code, layer: ast.Call) -> bool:
    """True if the input of a layer has padding.

    If the file calls pad_sequence(), the batches that its modules get are padded.
    """
    through = ("contiguous", "to", "permute", "transpose")
    return has_padding(code, input_of(layer), through) or (
        bool(code.calls.get("pad_sequence")) and is_network(code, code.owner(layer))
    )


def has_padding(code: Code, node: ast.AST, through: tuple[str, ...] = ()) -> bool:
    """True if the node comes from pad_sequence() or from an Embedding with a padding_idx."""
    for part in inputs(code, node, through):
        if isinstance(part, ast.Call):
            if code.torch(part.func) == "pad_sequence":
                return True
            makers = code.values(part.func) if path(part.func) else []
            if any(_is_padded_embedding(code, maker) for maker in makers):
                return True
    return False


def _is_padded_embedding(code: Code, maker: ast.AST | None) -> bool:
    """True for nn.Embedding(..., padding_idx=0)."""
    if not isinstance(maker, ast.Call) or code.torch(maker.func) != "Embedding":
        return False
    index = argument(maker, 2, "padding_idx")
    return index is not None and not is_none(code.value(index))


def _is_assigned_between(code: Code, name: ast.Name, node: ast.AST) -> bool:
    first, last = sorted((place(code.statement(name)), place(node)))
    return any(
        part.id == name.id and isinstance(part.ctx, ast.Store) and first < place(part) < last
        for part in code.within(code.function(name), ast.Name)
    )


def reads(code: Code, run: Run, name: str) -> Iterator[ast.Name]:
    """Yields the reads of an output, until its name is assigned again.

    `x = self.dropout(x)` does not end the reads, because the order of the steps is unchanged.
    """
    uses = [
        part
        for part in code.within(code.function(run.call), ast.Name)
        if part.id == name and place(part) > end(code.statement(run.call))
    ]
    until = (10**9, 0)
    for part in uses:
        if place(part) > until:
            return
        if isinstance(part.ctx, ast.Load):
            yield part
        elif not _keeps_steps(code.statement(part), name) and not code.excludes(part, run.call):
            until = end(code.statement(part))


def _keeps_steps(statement: ast.stmt, name: str) -> bool:
    value = statement.value if isinstance(statement, ast.Assign) else None
    return (
        isinstance(value, ast.Call)
        and any(word in last_name(value.func).lower() for word in KEEP_STEPS)
        and [path(part) for part in value.args[:1]] == [name]
    )


def step_of(code: Code, name: ast.Name) -> tuple[ast.Subscript, int, int] | None:
    """The (subscript, dimension, index) of x[:, -1], x[:, -1, :] and x[-1]."""
    node = code.parent[name]
    if not isinstance(node, ast.Subscript) or node.value is not name:
        return None
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for dimension, part in enumerate(parts):
        index = constant(part)
        if isinstance(index, int):
            others = parts[:dimension] + parts[dimension + 1 :]
            return (node, dimension, index) if all(map(_is_full, others)) else None
    return None


def _is_full(part: ast.AST) -> bool:
    if constant(part) is Ellipsis:
        return True
    return isinstance(part, ast.Slice) and part.lower is part.upper is part.step is None


def mean_over(code: Code, name: ast.Name) -> tuple[ast.Call, object] | None:
    """The (call, dimension) of x.mean(1) and torch.mean(x, 1)."""
    above = code.parent[name]
    call = code.parent[above] if isinstance(above, ast.Attribute) else above
    if not isinstance(call, ast.Call) or last_name(call.func) != "mean":
        return None
    return call, constant(argument(call, 1 if call is above else 0, "dim"))
