from __future__ import annotations

from collections.abc import Iterator

from ...code import Code, Hit, source
from .. import needs
from .shared import momentums


@needs("BatchNorm", "momentum")
def batchnorm_momentum_of_tensorflow(code: Code) -> Iterator[Hit]:
    for call, momentum, value in momentums(code):
        if 0.9 <= value < 1:  # 1 means the newest batch alone
            yield Hit(
                call,
                f"a momentum of {source(momentum, 40)} is the weight of the newest batch: the "
                "running statistics are nearly those of the last one",
            )
