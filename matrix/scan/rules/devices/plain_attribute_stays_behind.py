from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit
from ...created import CONSTANTS, factory, has_a_device, is_mixed, is_moved, kept_tensors, uses
from ...training import is_dead, is_fragment, is_network
from .. import needs


@needs("torch.", "self.")
def plain_attribute_stays_behind(code: Code) -> Iterator[Hit]:
    if is_fragment(code):
        for node in code.all(ast.Assign):
            if factory(code, node.value, CONSTANTS) is not None and "self.mask" in code.text:
                yield Hit(node, "to() does not move this tensor, because it is a plain attribute")
        return
    for owner in code.all(ast.ClassDef):
        if not is_network(code, owner):
            continue
        for node, name in kept_tensors(code, owner, CONSTANTS):
            reads = list(uses(code, owner, name))
            if (
                any(is_mixed(code, read) for read in reads)
                and not any(is_moved(code, read) for read in reads)
                and has_a_device(code)
                and not is_dead(code, node)
            ):
                yield Hit(node, f"to() does not move {name}, because it is a plain attribute")
