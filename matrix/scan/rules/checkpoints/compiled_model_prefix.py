from __future__ import annotations

from collections.abc import Iterator

from ...code import Code, Hit, source
from .. import needs
from .shared import loads_of_a_fragment, saved_wrapped


@needs("state_dict|save|checkpoint")
def compiled_model_prefix(code: Code) -> Iterator[Hit]:
    for call, model in saved_wrapped(code, ("compile",), "_orig_mod"):
        yield Hit(
            call,
            f"{source(model)} is compiled, so its keys begin with '_orig_mod.' and do not load "
            "into a model that is not compiled",
        )
    for call in loads_of_a_fragment(code):
        yield Hit(
            call, "the keys in a state that was saved from a compiled model begin with '_orig_mod.'"
        )
