from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, source
from ...iterators import CLIPS
from ...training import backwards, optimizer_steps, rest_of_the_block
from .. import needs


@needs("clip_grad", "step(")
def clip_after_the_step(code: Code) -> Iterator[Hit]:
    for step in code.calls.get("step", ()):
        statement = code.statement(step)
        if step not in optimizer_steps(code, statement):
            continue
        block = code.block(statement)
        before = block[: block.index(statement)]
        if any(code.calls_in(earlier, *CLIPS) for earlier in before):
            continue
        if not any(backwards(code, earlier) for earlier in before):
            continue
        clips: list[ast.Call] = []
        for later in rest_of_the_block(code, step):
            if backwards(code, later) or optimizer_steps(code, later) or _reads(later):
                break
            clips += code.calls_in(later, *CLIPS)
        else:
            for clip in clips[:1]:
                yield Hit(
                    clip,
                    f"{source(clip.func, 40)}() comes after {source(step, 40)}, which has "
                    "already used the gradients",
                )


def _reads(statement: ast.stmt) -> bool:
    return any(
        isinstance(part, ast.Attribute) and part.attr == "grad" for part in ast.walk(statement)
    )
