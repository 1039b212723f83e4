from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, source
from ...training import certain, expects_an_error
from .. import needs

# The parameters for the width and the number of heads, and torch's default values.
WIDTHS = {
    "MultiheadAttention": ("embed_dim", "num_heads", None, None),
    "TransformerEncoderLayer": ("d_model", "nhead", None, None),
    "TransformerDecoderLayer": ("d_model", "nhead", None, None),
    "Transformer": ("d_model", "nhead", 512, 8),
}


@needs("MultiheadAttention|Transformer")
def heads_do_not_divide_embed_dim(code: Code) -> Iterator[Hit]:
    for name, (width_name, heads_name, usual_width, usual_heads) in WIDTHS.items():
        for call in code.calls.get(name, ()):
            width, heads = argument(call, 0, width_name), argument(call, 1, heads_name)
            wide = constant(code.value(width)) if width is not None else usual_width
            many = constant(code.value(heads)) if heads is not None else usual_heads
            if (
                code.torch(call.func)
                and isinstance(wide, int)
                and isinstance(many, int)
                and many > 0
                and wide % many
                and all(size is None or _is_always(code, size) for size in (width, heads))
                and not expects_an_error(code, call)
            ):
                yield Hit(
                    call,
                    f"the width in {source(call)}, {wide}, is not divisible by the number of "
                    f"heads, {many}",
                )


def _is_always(code: Code, node: ast.expr) -> bool:
    """True if the value of the node is known for certain."""
    value = code.value(node)
    return value is not None and certain(code, value, node)
