from __future__ import annotations

from collections.abc import Iterator

from ...code import Code, Hit, source
from .. import needs
from .shared import momentums


@needs("BatchNorm", "momentum")
def batchnorm_with_momentum_zero(code: Code) -> Iterator[Hit]:
    for call, momentum, value in momentums(code):
        if value == 0:
            yield Hit(
                call,
                f"with a momentum of {source(momentum, 40)}, the running statistics are never "
                "updated",
            )
