from __future__ import annotations

from collections.abc import Iterator

from ...code import Code, Hit, has_unpacked, source
from ...training import is_passed
from .. import needs


@needs("cudnn", "flags(")
def cudnn_flags_drop_settings(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("flags", ()):
        if (
            code.full(call.func) == "torch.backends.cudnn.flags"
            and (call.args or call.keywords)
            and not is_passed(call, 0, "enabled")
            and not has_unpacked(call)
        ):
            yield Hit(call, f"{source(call)} does not pass `enabled`, so it switches cuDNN off")
