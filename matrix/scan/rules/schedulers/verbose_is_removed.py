from __future__ import annotations

from collections.abc import Iterator

from ...code import Code, Hit, argument, last_name
from ...training import SCHEDULERS, expects_an_error, is_dead
from .. import needs


@needs("verbose", "lr_scheduler|LR")
def verbose_is_removed(code: Code) -> Iterator[Hit]:
    for name in SCHEDULERS:
        for call in code.calls.get(name, ()):
            if (
                code.torch(call.func) == name
                and argument(call, -1, "verbose") is not None
                and not expects_an_error(code, call)
                and not is_dead(code, call)
            ):
                yield Hit(call, f"{last_name(call.func)} has had no option verbose since torch 2.7")
