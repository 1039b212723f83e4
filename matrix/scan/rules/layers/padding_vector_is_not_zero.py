from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, is_none, last_name, names, path, place, receiver, source
from ...project import around
from ...training import class_of, creating_call, is_dead
from .. import needs

RANDOM = (
    "normal_", "uniform_", "xavier_uniform_", "xavier_normal_", "kaiming_uniform_",
    "kaiming_normal_", "trunc_normal_", "orthogonal_", "xavier_uniform", "xavier_normal",
    "kaiming_uniform", "kaiming_normal",
)  # fmt: skip


EVERY = ("dim", "requires_grad", "weight", "ndim")


@needs("padding_idx|parameters()", "_(|init.")
def padding_vector_is_not_zero(code: Code) -> Iterator[Hit]:
    padded = _padded(code)
    yield from _in_a_loop(code, padded)
    yield from _in_a_loop_over_a_model(code)
    for call in (call for name in RANDOM for call in code.calls.get(name, ())):
        weight = path(_filled(code, call))
        embedding = weight.removesuffix(".data").removesuffix(".weight")
        maker = padded.get((_space(code, call, embedding), embedding))
        if weight == embedding or maker is None or place(maker) > place(call):
            continue
        if not _resets(code, call, embedding) and not is_dead(code, call):
            yield Hit(
                call,
                f"{source(call.func, 40)}() overwrites the padding vector of {embedding}, which "
                "was zero",
            )


def _in_a_loop(code: Code, padded: dict[tuple[ast.AST | None, str], ast.Call]) -> Iterator[Hit]:
    """Yields the initialization of all matrices: `for p in self.parameters(): ...`."""
    for loop in code.all(ast.For):
        if source(loop.iter) != "self.parameters()" or is_dead(code, loop):
            continue
        embeddings = [name for space, name in padded if space is code.owner(loop)]
        for call in code.calls_in(loop, *RANDOM):
            if path(_filled(code, call)).removesuffix(".data") != path(loop.target):
                continue
            if not all("dim" in source(test) for test in code.conditions(call)):
                continue
            for name in embeddings[:1]:
                if not _resets(code, call, name):
                    filled = source(call.func, 40)
                    yield Hit(
                        call, f"{filled}() overwrites the padding vector of {name}, which was zero"
                    )


def _in_a_loop_over_a_model(code: Code) -> Iterator[Hit]:
    """Yields the initialization of all matrices of a model whose class has a padded embedding."""
    for loop in code.all(ast.For):
        model = receiver(loop.iter) if isinstance(loop.iter, ast.Call) else None
        if model is None or not path(model) or path(model) == "self" or is_dead(code, loop):
            continue
        if last_name(loop.iter.func) not in ("parameters", "named_parameters"):  # type: ignore
            continue
        target = loop.target.elts[-1] if isinstance(loop.target, ast.Tuple) else loop.target
        for call in code.calls_in(loop, *RANDOM):
            if path(_filled(code, call)).removesuffix(".data") != path(target):
                continue
            tests = [source(test) for test in code.conditions(call)]
            if not all(any(word in test for word in EVERY) for test in tests):
                continue
            if "padding_idx" in names(code.function(call)) or "embed" in source(loop, 2000).lower():
                continue
            if _has_padding(code, model):
                filled = source(call.func, 40)
                yield Hit(
                    call,
                    f"{filled}() overwrites the embedding's padding vector, which was zero",
                )
                break


def _has_padding(code: Code, model: ast.expr) -> bool:
    """True if the file of the model's class pads. If the class is unknown, checks nearby files."""
    maker = creating_call(code, model)
    if maker is None:
        return any(_padded(file) for file in around(code, "padding_idx"))
    found = class_of(code, maker)
    if found is None or not isinstance(found.node, ast.ClassDef):
        return False
    return bool(_padded(found.code))


def _padded(code: Code) -> dict[tuple[ast.AST | None, str], ast.Call]:
    """(class or function, name) -> the call that creates an Embedding with a padding_idx."""
    found: dict[tuple[ast.AST | None, str], ast.Call] = {}
    for node in code.all(ast.Assign):
        call, name = node.value, path(node.targets[0])
        if isinstance(call, ast.Call) and code.torch(call.func) == "Embedding" and name:
            index = argument(call, 2, "padding_idx")
            if index is not None and not is_none(code.value(index)):
                found[_space(code, node, name), name] = call
    return found


def _space(code: Code, node: ast.AST, name: str) -> ast.AST | None:
    return code.owner(node) if name.startswith("self.") else code.function(node)


def _filled(code: Code, call: ast.Call) -> ast.expr | None:
    """The weight in init.normal_(weight) and weight.data.normal_()."""
    if code.torch(call.func):
        return argument(call, 0, "tensor")
    return receiver(call)


def _resets(code: Code, call: ast.Call, embedding: str) -> bool:
    """True if later code writes to a row again, as in weight[0] = 0 and weight[0].fill_(0)."""
    function = code.function(call)
    writes: list[ast.expr] = [
        target for node in code.within(function, ast.Assign) for target in node.targets
    ]
    writes += [
        part
        for other in code.calls_in(function, "zero_", "fill_", "zeros_", "constant_")
        for part in (receiver(other), argument(other, 0, "tensor"))
        if part is not None
    ]
    return any(
        place(write) > place(call)
        and isinstance(part, ast.Subscript)
        and path(part.value).removesuffix(".data") == f"{embedding}.weight"
        for write in writes
        for part in ast.walk(write)
    ) or any(
        "padding_idx" in names(node) for node in code.within(function, (ast.If, ast.Subscript))
    )
