from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...code import Code, Hit, constant, names, source
from .. import needs


@needs("GradScaler", "amp")
def default_scaler_is_off(code: Code) -> Iterator[Hit]:
    texts = (constant(node) for node in code.all(ast.Constant))
    elsewhere = any(isinstance(text, str) and re.search(r"\bmps\b", text) for text in texts)
    if "cuda" in code.text and not elsewhere:
        return  # the code runs only on CUDA, or on the CPU without a scaler
    for call in code.calls.get("GradScaler", ()):
        on_cuda = any(names(test) & {"cuda", "is_cuda"} for test in code.conditions(call))
        plain = not call.args and all(
            keyword.arg not in ("device", None) for keyword in call.keywords
        )
        if code.full(call.func) == "torch.amp.GradScaler" and plain and not on_cuda:
            yield Hit(
                call,
                f"{source(call)} creates a scaler for CUDA, which does nothing on any other device",
            )
