from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, last_name, path
from ...training import expects_an_error
from .. import needs
from .shared import is_unused


@needs("ModuleList")
def module_list_is_called(code: Code) -> Iterator[Hit]:
    stored = [
        attribute for attribute in code.all(ast.Attribute) if isinstance(attribute.ctx, ast.Store)
    ]
    for call in code.all(ast.Call):
        name = path(call.func)
        if (
            name
            and code.made_by(call.func, "ModuleList")
            and all(code.made_by(value, "ModuleList") for value in code.values(call.func))
            and not (
                "." in name
                and any(
                    attribute.attr == last_name(call.func) and path(attribute) != name
                    for attribute in stored
                )
            )
            and not expects_an_error(code, call)
            and not is_unused(code, call)
        ):
            yield Hit(call, f"{name} is a ModuleList, which cannot be called")
