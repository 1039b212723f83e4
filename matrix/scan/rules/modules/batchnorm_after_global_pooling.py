from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, receiver, source
from ...training import is_dead
from .. import needs

POOLS = ("AdaptiveAvgPool2d", "AdaptiveMaxPool2d", "AdaptiveAvgPool1d", "AdaptiveAvgPool3d")
NORMS = ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d")
KEEPS = (  # layers that keep one position per channel
    *("Conv1d", "Conv2d", "Conv3d", "Flatten", "Linear", "Dropout", "Dropout2d"),
    *("ReLU", "LeakyReLU", "GELU", "SiLU", "Identity"),
)


@needs("AdaptiveAvgPool|AdaptiveMaxPool", "BatchNorm")
def batchnorm_after_global_pooling(code: Code) -> Iterator[Hit]:
    if any(isinstance(receiver(call), ast.Subscript) for call in code.calls.get("eval", ())):
        return  # model[1].eval()
    for stack in code.calls.get("Sequential", ()):
        pool = None
        for layer in stack.args if code.torch(stack.func) else ():
            name = code.torch(layer.func) if isinstance(layer, ast.Call) else ""
            if name in POOLS and isinstance(layer, ast.Call) and _is_global(layer):
                pool = layer
            elif pool is not None and name in NORMS:
                if not is_dead(code, layer):
                    yield Hit(
                        layer,
                        f"{source(pool, 40)} leaves one value per channel and image, so a batch of "
                        "one image raises an error",
                    )
                break
            elif name not in KEEPS:
                pool = None


def _is_global(pool: ast.Call) -> bool:
    size = argument(pool, 0, "output_size")
    sizes = size.elts if isinstance(size, ast.Tuple) else [size]
    return all(constant(each) == 1 for each in sizes)
