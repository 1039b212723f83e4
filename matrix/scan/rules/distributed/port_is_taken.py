from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, path, source
from ...training import in_a_test, is_dead
from .. import needs

ADDRESS = re.compile(r"tcp://.+:[1-9]\d*$")


@needs("MASTER_PORT|tcp://")
def port_is_taken(code: Code) -> Iterator[Hit]:
    for node, port in _fixed_ports(code):
        if not in_a_test(code, node) and not is_dead(code, node):
            yield Hit(node, f"each run uses port {port}, so two runs on one machine cannot overlap")


def _fixed_ports(code: Code) -> Iterator[tuple[ast.AST, str]]:
    """Yields os.environ["MASTER_PORT"] = "29500", and init_process_group() with an address."""
    for assignment in code.all(ast.Assign):
        target, value = assignment.targets[0], assignment.value
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = list(zip(target.elts, value.elts, strict=False))
        for name, port in pairs:
            if not isinstance(name, ast.Subscript) or constant(name.slice) != "MASTER_PORT":
                continue
            number = _number(code, port)
            if path(name.value).endswith("environ") and number and not _is_asked(code, assignment):
                yield assignment, number
    for call in code.calls.get("init_process_group", ()):
        address = constant(code.value(argument(call, 1, "init_method")))
        if isinstance(address, str) and ADDRESS.match(address):
            yield call, address.rpartition(":")[2]


def _number(code: Code, port: ast.expr) -> str:
    """The port in "29500" and str(29500), or ""."""
    if isinstance(port, ast.Call) and path(port.func) == "str" and len(port.args) == 1:
        port = port.args[0]
    number = str(constant(code.value(port)))
    return number if number.isdigit() and number != "0" else ""


def _is_asked(code: Code, node: ast.AST) -> bool:
    """True inside `if "MASTER_PORT" not in os.environ:`."""
    return any("MASTER_PORT" in source(test, 200) for test in code.conditions(node))
