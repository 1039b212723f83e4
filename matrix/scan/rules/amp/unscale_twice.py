from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, path, receiver, source
from ...training import is_fragment, is_scaler
from .. import needs
from .shared import is_in, parts_of, window_of


@needs("scaler|Scaler", "unscale_")
def unscale_twice(code: Code) -> Iterator[Hit]:
    updated = any(is_scaler(code, receiver(call)) for call in code.calls.get("update", ()))
    handed = any(
        "scaler" in path(value).lower()
        for calls in code.calls.values()
        for call in calls
        for value in [*call.args, *(keyword.value for keyword in call.keywords)]
    )
    for call in code.calls.get("unscale_", ()):
        if not is_scaler(code, receiver(call)):
            continue
        owner = code.owner(call)
        if not updated and not handed and not (owner is not None and owner.bases):
            yield Hit(
                call,
                f"update() is never called, so {source(call, 40)} raises an error in the second "
                "step",
            )
            continue
        around: list[ast.AST] = list(code.loops(call)[:1])
        if not around and is_fragment(code):
            around = [code.tree]
        for step in [step for inside in around for step in code.calls_in(inside, "step")]:
            test = next(iter(code.conditions(step)), None)
            counts = test is not None and any(map(window_of, parts_of(code.value(test) or test)))
            if is_scaler(code, receiver(step)) and test is not None and counts:
                branch = code.parent[test]
                same = [
                    ast.dump(code.value(condition) or condition)
                    for condition in code.conditions(call)
                ]
                own = code.excludes(call, step) or is_in(code, call, branch)
                if not own and not {ast.dump(part) for part in [test, *parts_of(test)]} & {*same}:
                    yield Hit(
                        call,
                        f"{source(call, 40)} is called for every batch of a window, and the second "
                        "call raises an error",
                    )
                    break
