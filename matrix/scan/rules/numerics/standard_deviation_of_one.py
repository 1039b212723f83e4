from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, constant, names, path, receiver, source
from ...training import in_a_test, is_fragment
from .. import needs
from .shared import standardizations

SIZES = {"len", "numel", "shape", "size", "nelement", "min", "max"}
ENDS = ("done", "terminal", "mask", "nonterm")  # the rewards of several episodes are together


@needs(".std(", "mean")
def standard_deviation_of_one(code: Code) -> Iterator[Hit]:
    for node, x, std in standardizations(code):
        if (
            not std.args
            and all(constant(keyword.value) is True for keyword in std.keywords)  # unbiased=True
            and path(receiver(std)) == path(x) != ""
            and (is_fragment(code) or _is_of_an_episode(code, x) or _is_of_a_batch(code, node))
            and not _is_guarded(code, node)
            and not in_a_test(code, node)
        ):
            yield Hit(node, f"{source(std)} is NaN if {source(x)} has a single element")


def _is_of_an_episode(code: Code, x: ast.expr) -> bool:
    """True for a tensor of a list that a loop fills from its end, as with discounted rewards."""
    function = code.function(x)
    lists = {
        path(receiver(put))
        for put in code.calls_in(function, "insert", "appendleft")
        if code.loops(put) and not any(end in word for word in _words(code, put) for end in ENDS)
    }
    return any(
        path(made.args[0]) in lists - {""}
        for value in code.values(x)
        if value is not None
        for made in ast.walk(value)
        if isinstance(made, ast.Call)
        and made.args
        and code.torch(made.func) in ("tensor", "Tensor", "FloatTensor", "as_tensor")
    )


def _words(code: Code, node: ast.AST) -> set[str]:
    """The names in the innermost loop around the node, in lower case."""
    return {word.lower() for word in names(code.loops(node)[0])}


def _is_of_a_batch(code: Code, node: ast.expr) -> bool:
    """True in a loop over a loader or a buffer, whose last batch may have a single row."""
    loops = code.loops(node)
    if not loops or not isinstance(loops[0], ast.For):
        return False
    words = names(loops[0].iter) - {"self"}
    return "range" not in words and any(
        part in word.lower() for word in words for part in ("loader", "buffer", "sampler")
    )


def _is_guarded(code: Code, node: ast.expr) -> bool:
    """True if a condition around the node looks at the size of a tensor."""
    tests = code.conditions(node)
    tests += [above.test for above in code.ancestors(node) if isinstance(above, ast.IfExp)]
    return any(names(test) & SIZES for test in tests)
