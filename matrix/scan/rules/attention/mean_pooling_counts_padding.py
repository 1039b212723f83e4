from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...code import (
    Code,
    Hit,
    argument,
    constant,
    is_none,
    last_name,
    names,
    path,
    receiver,
    source,
)
from ...sequences import (
    ATTENTION,
    RECURRENT,
    has_padding,
    is_padded,
    knows_lengths,
    mean_over,
    reads,
    runs,
)
from ...training import is_dead
from .. import needs

MASK = re.compile(r"^(input_masks?|attention_masks?|\w*padding_mask|\w*pad_mask)$")
IDS = re.compile(r"ids?$|tokens|texts|^input")


@needs("mean(", "mask|padding|!=")
def mean_pooling_counts_padding(code: Code) -> Iterator[Hit]:
    found: set[ast.AST] = set()
    for call in code.calls.get("mean", ()):
        is_function = code.full(call.func).startswith("torch.")
        hidden = argument(call, 0, "input") if is_function else receiver(call)
        if hidden is None or constant(argument(call, int(is_function), "dim")) != 1:
            continue
        if (
            _is_masked(code, hidden)
            or _is_zeroed(code, hidden)
            or (path(hidden) and has_padding(code, hidden) and not knows_lengths(code, call))
        ):
            found.add(call)
    for run in runs(code, (*RECURRENT, *ATTENTION)):
        for name in reads(code, run, run.output):
            mean = mean_over(code, name)
            if mean is None or mean[1] != 1 or knows_lengths(code, run.call):
                continue
            if is_padded(code, run.call):
                found.add(mean[0])
    for node in found:
        if not is_dead(code, node):
            yield Hit(
                node, f"{source(node, 40)} also averages over the padding of shorter sequences"
            )


def _is_masked(code: Code, hidden: ast.expr) -> bool:
    """True for the output of a call that gets a mask, such as model(ids, mask)[0]."""
    node: ast.AST | None = hidden
    for _ in range(6):
        while isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        if not isinstance(node, ast.Name):
            break
        node = code.value(node)
    if not isinstance(node, ast.Call):
        return False
    values = [*node.args, *(word.value for word in node.keywords)]
    words = [last_name(value) for value in values]
    words += [word.arg or "" for word in node.keywords if not is_none(word.value)]
    if "mask" in words and any(IDS.search(word) for word in words):
        return True
    return any(MASK.search(word) for word in words) or any(
        word.arg is None and _pads_several(code, word.value) for word in node.keywords
    )


def _is_zeroed(code: Code, hidden: ast.expr) -> bool:
    """True for embedded * (ids != 0).unsqueeze(-1), whose padding is 0 but counts as a step."""
    value = code.value(hidden)
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Mult):
        return False
    if "unsqueeze" not in names(value) or "mbed" not in code.text:
        return False
    masks: list[ast.AST | None] = [value.left, value.right]
    for _ in range(3):
        masks = [code.value(mask) for mask in masks]
        masks = [
            receiver(mask)
            if isinstance(mask, ast.Call) and last_name(mask.func) in ("unsqueeze", "float", "to")
            else mask
            for mask in masks
        ]
    return any(
        isinstance(mask, ast.Compare)
        and isinstance(mask.ops[0], ast.NotEq)
        and (constant(mask.comparators[0]) == 0 or "pad" in source(mask.comparators[0]).lower())
        for mask in masks
    )


def _pads_several(code: Code, node: ast.expr) -> bool:
    """True for tokenizer(texts, padding=True) and tokenizer(text, padding="max_length")."""
    call = code.value(node)
    if isinstance(call, ast.DictComp):  # {name: value.to(device) for name, value in x.items()}
        over = call.generators[0].iter
        call = code.value(receiver(over)) if isinstance(over, ast.Call) else None
    if isinstance(call, ast.Call) and last_name(call.func) == "to":
        call = code.value(receiver(call))
    if not isinstance(call, ast.Call) or not call.args:
        return False
    padding = constant(argument(call, -1, "padding"))
    several = last_name(call.args[0]).lower()
    return padding == "max_length" or (
        padding in (True, "longest") and (several.endswith("s") or "batch" in several)
    )
