from __future__ import annotations

from collections.abc import Iterator

from ...code import Code, Hit, source
from .. import needs
from .shared import momentums


@needs("BatchNorm", "momentum")
def batchnorm_momentum_of_tensorflow(code: Code) -> Iterator[Hit]:
    for call, momentum, value in momentums(code):
        if 0.9 <= value < 1:  # with 1, only the newest batch counts
            yield Hit(
                call,
                "PyTorch's momentum is the weight of the newest batch, so with "
                f"{source(momentum, 40)}, "
                "the running statistics are almost the statistics of the last batch",
            )
