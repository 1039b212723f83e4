"""Memory that is not given back, and errors about memory that are not recognised."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code import (
    Code,
    Hit,
    constant,
    last_name,
    path,
    place,
    receiver,
    source,
)
from ..training import backwards, in_a_test, is_fragment, without_grad
from . import needs

OUT_OF_MEMORY = "out of memory"
MISSED = (  # texts of failed allocations, without it
    "cuda error: cublas_status_alloc_failed when calling `cublascreate(handle)`",
    "nvml_success == r internal assert failed at cudacachingallocator.cpp",
)
SMALL = (
    "len", "str", "int", "range", "isinstance", "append", "zero_grad", "update", "info",
    "put", "send",
)  # fmt: skip
CLASSES = ("torch.cuda.OutOfMemoryError", "torch.OutOfMemoryError")
ALL_ERRORS = ("RuntimeError", "Exception", "BaseException")


@needs("out of memory|OutOfMemoryError")
def library_texts_are_missed(code: Code) -> Iterator[Hit]:
    for test in code.nodes.get(ast.Compare, ()):
        function = code.function(test)
        if (
            isinstance(test, ast.Compare)
            and isinstance(test.ops[0], (ast.In, ast.NotIn))
            and OUT_OF_MEMORY in str(constant(test.left)).lower()
            and _is_text_of_an_error(code, test.comparators[0])
            and not in_a_test(code, test)
            and not any(
                _finds_others(code, one, test) for one in code.within(function, ast.Compare)
            )
            and not _is_raised_anyway(code, test)
        ):
            yield Hit(
                test,
                f"{source(test)} does not recognise a failed allocation of cuBLAS, or one on a "
                "MIG slice: their texts say something else",
            )
    for handler in code.nodes.get(ast.ExceptHandler, ()):
        if (
            isinstance(handler, ast.ExceptHandler)
            and handler.type is not None
            and code.full(handler.type) in CLASSES
            and not isinstance(handler.body[-1], ast.Raise)
            and not in_a_test(code, handler)
            and not _catches_more(code, handler)
        ):
            yield Hit(
                handler.type,
                f"{source(handler.type)} is not what a failed allocation of cuBLAS, or one on a "
                "MIG slice, raises",
            )


def _is_text_of_an_error(code: Code, node: ast.expr) -> bool:
    """str(error), error.args[0], also in lower case or by way of a name."""
    value = code.value(node)
    if isinstance(value, ast.Call) and last_name(value.func) in ("lower", "format_exc"):
        value = code.value(receiver(value)) if last_name(value.func) == "lower" else value
    if isinstance(value, ast.Call):
        return last_name(value.func) in ("str", "repr", "format_exc")
    return isinstance(value, ast.Subscript) and last_name(value.value) == "args"


def _finds_others(code: Code, test: ast.Compare, known: ast.Compare) -> bool:
    """Whether it is another look into a text, which finds one of those that are missed."""
    above = code.parent[known]
    if test is known or not isinstance(test.ops[0], (ast.In, ast.NotIn)):
        return False
    if isinstance(above, ast.BoolOp) and isinstance(above.op, ast.And) and test in above.values:
        return False
    wanted = constant(test.left)
    if not isinstance(wanted, str):  # any(text in str(error) for text in TEXTS)
        return isinstance(code.parent[test], ast.GeneratorExp)
    return any(wanted.lower() in text for text in MISSED)


def _is_raised_anyway(code: Code, test: ast.Compare) -> bool:
    """Whether the handler only reports, and raises an error in any case."""
    branch = code.statement(test)
    if not isinstance(branch, ast.If):
        return False
    if isinstance(test.ops[0], ast.In) and isinstance(branch.body[-1], ast.Raise):
        return True
    handler = next((a for a in code.ancestors(branch) if isinstance(a, ast.ExceptHandler)), None)
    return (
        handler is not None
        and isinstance(handler.body[-1], ast.Raise)
        and not code.within(branch, (ast.Return, ast.Continue, ast.Break))
    )


def _catches_more(code: Code, handler: ast.ExceptHandler) -> bool:
    """Whether another handler of the same `try` catches what this one does not."""
    found = code.parent[handler]
    others = found.handlers if isinstance(found, ast.Try) else []
    return any(
        one.type is None or any(last_name(part) in ALL_ERRORS for part in ast.walk(one.type))
        for one in others
    )


@needs("except", "Error", "memory|cache|OutOfMemory")
def retry_inside_except(code: Code) -> Iterator[Hit]:
    for handler in code.nodes.get(ast.ExceptHandler, ()):
        tried = code.parent[handler]
        if not isinstance(tried, ast.Try) or not isinstance(handler, ast.ExceptHandler):
            continue
        if not _is_for_memory(handler) or in_a_test(code, handler):
            continue
        first = {path(call.func) for one in tried.body for call in code.calls_in(one)} - {""}
        for statement in handler.body:
            for call in code.calls_in(statement):
                if path(call.func) in first and _is_work(call) and not _lets_go(code, call):
                    yield Hit(
                        call,
                        f"{source(call.func)}() runs again while the exception keeps the tensors "
                        "of its first run",
                    )


def _is_for_memory(handler: ast.ExceptHandler) -> bool:
    """Whether it handles running out of memory: by its class, its text or what it cleans up."""
    if handler.type is None:
        return False
    parts = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    if any(last_name(one) == "OutOfMemoryError" for one in parts):
        return True
    if not any(last_name(one) == "RuntimeError" for one in parts):
        return False
    return any(
        (isinstance(one, ast.Constant) and OUT_OF_MEMORY in str(one.value).lower())
        or (isinstance(one, ast.Call) and last_name(one.func) == "empty_cache")
        for statement in handler.body
        for one in ast.walk(statement)
    )


def _is_work(call: ast.Call) -> bool:
    """Whether it may need memory of the device again: no printing, no second try on the CPU."""
    name, short = path(call.func), last_name(call.func)
    given = [*call.args, *(one.value for one in call.keywords)]
    if name.startswith(("torch.", "gc.", "time.", "os.", "warnings.")):
        return False
    if all(isinstance(one, ast.Constant) and not isinstance(one.value, int) for one in given):
        return False  # None or a text: it is told of the failure
    if short.startswith(("print", "log")) or short in SMALL:
        return False
    return not any(constant(one) == "cpu" for one in ast.walk(call))


def _lets_go(code: Code, call: ast.Call) -> bool:
    """Whether the function deletes what it holds before its error leaves it."""
    return any(
        getattr(function, "name", "") == last_name(call.func)
        and isinstance(handler, ast.ExceptHandler)
        for deleted in code.nodes.get(ast.Delete, ())
        for function in [code.function(deleted)]
        for handler in code.ancestors(deleted)
    )


@needs(".eval()", ".append(")
def validation_keeps_its_graphs(code: Code) -> Iterator[Hit]:
    for put in code.calls.get("append", ()):
        kept = path(receiver(put))
        if len(put.args) != 1 or not kept or not code.loops(put):
            continue
        output = code.value(put.args[0])
        if not isinstance(output, ast.Call) or not path(output.func):
            continue
        function, model = code.function(put), path(output.func)
        evals = [
            call
            for call in code.calls.get("eval", ())
            if (_is_called_as(path(receiver(call)), model) or is_fragment(code))
            and place(call) < place(output)
            and code.function(call) is function
        ]
        if (
            evals
            and not without_grad(code, output)
            and not backwards(code, function)
            and not in_a_test(code, put)
            and not code.calls_in(function, "set_grad_enabled", "requires_grad_", "grad")
            and not code.calls_in(code.tree, "set_grad_enabled")
            and not _is_called_without_grad(code, function)
        ):
            yield Hit(
                put,
                f"{kept} keeps the graph of each output of {model}(): eval() leaves autograd on",
            )


def _is_called_as(evaluated: str, name: str) -> bool:
    """Whether a call of this name is a forward of what eval() was called on."""
    if evaluated == "self":
        return name in ("self", "self.forward", "self.model", "self.net", "self.network")
    return name in (evaluated, f"{evaluated}.forward") or evaluated == f"self.{name}"


def _is_called_without_grad(code: Code, function: ast.AST) -> bool:
    name = getattr(function, "name", "")
    return any(without_grad(code, call) for call in code.calls.get(name, ()))
