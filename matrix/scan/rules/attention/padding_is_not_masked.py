from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...code import Code, Hit, has_unpacked, last_name, names, path, source
from ...project import around
from ...sequences import RECURRENT, is_padded, knows_lengths, runs
from ...training import is_dead, is_fragment, is_network
from .. import needs

LAYERS = ("MultiheadAttention", "TransformerEncoderLayer")
PADS = re.compile(
    r"<pad>|\[PAD\]|pad_sequence|pad_?(?:id|idx|token|index)|padding_idx", re.IGNORECASE
)
CARES = re.compile(r"mask|len(?:gth)?s\b|pack|inf\b|image|cnn|pixel|visual|feat", re.IGNORECASE)
PRODUCTS = ("bmm", "matmul", "einsum", "mul")


@needs("pad_sequence|padding_idx|oftmax", "ncoder|ttention|attn|bmm|matmul")
def padding_is_not_masked(code: Code) -> Iterator[Hit]:
    for run in runs(code, LAYERS):
        call = run.call
        if has_unpacked(call) or any("mask" in (word.arg or "") for word in call.keywords):
            continue
        if not is_padded(code, call) or knows_lengths(code, call) or is_dead(code, call):
            continue
        yield Hit(call, f"{run.layer}() attends to the padding as well, because it gets no mask")
    if not is_fragment(code):
        yield from _own_attention(code)


def _own_attention(code: Code) -> Iterator[Hit]:
    """Yields the softmax of an attention over the states of an LSTM, written without a layer."""
    for owner in code.all(ast.ClassDef):
        if not is_network(code, owner) or CARES.search(" ".join(names(owner) | {owner.name})):
            continue
        calls = [part for part in ast.walk(owner) if isinstance(part, ast.Call)]
        made = {code.torch(call.func) for call in calls}
        if "Embedding" not in made or not made & set(RECURRENT):
            continue
        for call in calls:
            if (
                last_name(call.func) == "softmax"
                and _weighs(code, call)
                and not is_dead(code, call)
                and any(PADS.search(file.text) for file in around(code, "pad", "PAD"))
            ):
                yield Hit(
                    call, f"without a mask, {source(call, 40)} also gives weight to the padding"
                )


def _weighs(code: Code, softmax: ast.Call) -> bool:
    """True if the weights are returned or multiplied, as by bmm()."""
    statement = code.statement(softmax)
    name = path(statement.targets[0]) if isinstance(statement, ast.Assign) else ""
    function = code.function(softmax)
    is_returned = getattr(function, "name", "") != "forward" and any(
        name and name in names(returned) for returned in code.within(function, ast.Return)
    )
    return bool(name) and (
        is_returned
        or any(
            any(name in names(value) for value in product.args)
            for product in code.calls_in(function, *PRODUCTS)
        )
    )
