from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, last_name, source
from ...training import is_dead, is_fragment, is_network
from .. import needs

POOLS = (
    "MaxPool2d",
    "AvgPool2d",
    "MaxPool3d",
    "AvgPool3d",
    "max_pool2d",
    "avg_pool2d",
    "max_pool3d",
)
UPSAMPLES = (
    "ConvTranspose2d", "ConvTranspose3d", "Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d",
    "interpolate", "upsample",
)  # fmt: skip
CARES = re.compile(r"\bpad\(|[cC]rop|size=|ReflectionPad|ZeroPad|resize|divisible|% ?(?:16|32|8)\b")


@needs("cat(")
def unet_of_an_odd_size(code: Code) -> Iterator[Hit]:
    if is_fragment(code):
        for call in code.calls.get("cat", ()):
            if "pad(" not in code.text and "skip" in source(call):
                yield Hit(
                    call, "the sizes differ if the height or width is odd at a downsampling step"
                )
        return
    if CARES.search(code.text.replace("kernel_size=", "").replace("in_size=", "")):
        return
    for name in ("interpolate", "upsample"):
        if any(argument(call, 2, "scale_factor") is None for call in code.calls.get(name, ())):
            return  # to the size of another tensor
    if not _has_calls(code, POOLS) or not _has_calls(code, UPSAMPLES):
        return
    if not re.search(r"u_?net|skip|down|encoder|enc\d", code.text, re.IGNORECASE):
        return
    for call in code.calls.get("cat", ()):
        tensors = argument(call, 0, "tensors")
        if (
            isinstance(tensors, (ast.List, ast.Tuple))
            and len(tensors.elts) >= 2
            and constant(argument(call, 1, "dim")) in (1, -3)
            and getattr(code.function(call), "name", "") == "forward"
            and is_network(code, code.owner(call))
            and not is_dead(code, call)
            and any(_is_upsampled(code, part) for part in tensors.elts)
        ):
            yield Hit(
                call,
                f"{source(call, 40)} fails if the height or width is odd at one of the "
                "downsampling steps",
            )
            return


def _has_calls(code: Code, known: tuple[str, ...]) -> bool:
    return any(code.torch(call.func) == name for name in known for call in code.calls.get(name, ()))


def _is_upsampled(code: Code, node: ast.expr) -> bool:
    """True for the output of a layer that upsamples, judging by its class or its name."""
    value = code.value(node)
    if not isinstance(value, ast.Call):
        return False
    maker = code.value(value.func)
    made = code.torch(maker.func) if isinstance(maker, ast.Call) else ""
    name = last_name(value.func).lower()
    return made in UPSAMPLES or code.torch(value.func) in UPSAMPLES or "up" in name
