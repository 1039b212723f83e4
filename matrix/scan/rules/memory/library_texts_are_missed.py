from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, constant, last_name, receiver, source
from ...training import in_a_test
from .. import needs
from .shared import OUT_OF_MEMORY

MISSED = (  # texts of failed allocations, without it
    "cuda error: cublas_status_alloc_failed when calling `cublascreate(handle)`",
    "nvml_success == r internal assert failed at cudacachingallocator.cpp",
)
CLASSES = ("torch.cuda.OutOfMemoryError", "torch.OutOfMemoryError")
ALL_ERRORS = ("RuntimeError", "Exception", "BaseException")


@needs("out of memory|OutOfMemoryError")
def library_texts_are_missed(code: Code) -> Iterator[Hit]:
    for test in code.all(ast.Compare):
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
    for handler in code.all(ast.ExceptHandler):
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
