from __future__ import annotations

from collections.abc import Iterator

from ...code import Code, Hit, source
from .. import needs
from .shared import can_be_0, is_cared_for, is_times, logs


@needs("oftmax", "log(")
def entropy_of_a_sure_class(code: Code) -> Iterator[Hit]:
    for call, inner in logs(code):
        product = is_times(code, call, inner)
        if product is not None and can_be_0(code, inner) and not is_cared_for(code, call):
            yield Hit(product, f"{source(product)} is 0 * -inf = nan where a probability is 0")
