from __future__ import annotations

from collections.abc import Iterator

from ...code import Code, Hit, source
from .. import needs
from .shared import loads_of_a_fragment, saved_wrapped

WRAPPERS = ("DataParallel", "DistributedDataParallel")


@needs("state_dict|save|checkpoint")
def data_parallel_prefix(code: Code) -> Iterator[Hit]:
    for call, model in saved_wrapped(code, WRAPPERS, "module"):
        yield Hit(
            call,
            f"{source(model)} is wrapped, so its keys begin with 'module.' and do not load into a "
            "model that is not wrapped",
        )
    for call in loads_of_a_fragment(code):
        yield Hit(call, "the keys in a state that was saved from a wrapper begin with 'module.'")
