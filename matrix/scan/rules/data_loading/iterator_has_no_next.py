from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Edit, Hit, end, inserted, last_name, place, receiver, source
from ...training import is_fragment, is_loader
from .. import needs


@needs(".next()", "iter(")
def iterator_has_no_next(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("next", ()):
        iterator = receiver(call)
        made = code.value(iterator) if iterator is not None else None
        if call.args or call.keywords or iterator is None or not isinstance(made, ast.Call):
            continue
        if last_name(made.func) != "iter" or len(made.args) != 1:
            continue
        if is_fragment(code) or is_loader(code, made.args[0]):
            edits = (inserted(place(iterator), "next("), Edit(*end(iterator), *end(call), ")"))
            yield Hit(
                call,
                f"the iterator of {source(made.args[0], 40)} has no method next(); call "
                "next(iterator) instead",
                edits,
            )
