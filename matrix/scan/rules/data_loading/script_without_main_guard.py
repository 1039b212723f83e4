from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, has_unpacked, path
from ...training import is_fragment
from .. import needs


@needs("oader")
def script_without_main_guard(code: Code) -> Iterator[Hit]:
    if "__name__" in code.text or "get_ipython" in code.text or "# %%" in code.text:
        return
    if code.path is not None and code.path.suffix == ".ipynb":  # workers cannot import a notebook
        return
    loops = [loop for loop in code.all(ast.For) if code.function(loop) is code.tree]
    if is_fragment(code):
        for loop in loops:
            if path(loop.iter) == "loader" and not code.calls.get("DataLoader"):
                yield Hit(loop, f"each worker of {path(loop.iter)} also runs this loop")
        return
    read = {path(part) for loop in loops for part in ast.walk(loop.iter)}
    for call in code.calls.get("DataLoader", ()):
        workers = constant(argument(call, 5, "num_workers"))
        if not isinstance(workers, int) or workers < 1 or has_unpacked(call):
            continue
        statement = code.statement(call)
        if code.function(call) is not code.tree or not isinstance(statement, ast.Assign):
            continue
        if path(statement.targets[0]) in read:
            yield Hit(
                call,
                f"each of the {workers} workers imports this file, which has no "
                '`if __name__ == "__main__"`, and starts workers of its own',
            )
            return
