"""Explains the numbers in a message, such as mismatched dimensions or the sizes of allocations.
Each reading consists of a pattern and a function of its groups. The function returns a short
explanation, or "" if the numbers explain nothing. The script of the page (templates/page.js) uses
the same patterns, and functions with the same names. A test compares the sentences of both
(tests/page/test_page.py).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

SIZE = r"(\d{1,9}(?:\.\d{1,3})?) ?([KMGT]iB|bytes)"
SHAPE = r"(?:torch\.Size\()?\[([\d, ]{0,60})\]\)?"


def memory(*sizes: str) -> str:
    """Explains the sizes that CUDA's allocator prints, each with its unit: requested, total, free,
    used by tensors, and reserved but unused.
    """
    asked, total, free, tensors, unused = map(_bytes, sizes[::2], sizes[1::2])
    asking, whole, _, held, _ = map("{} {}".format, sizes[::2], sizes[1::2])
    if asked > total:
        return (
            f"one allocation of {asking} is more than the {whole} of the GPU: "
            "look at the shapes in the line that raises the error."
        )
    # printed sizes are rounded to two decimals
    if unused >= 0.99 * asked and unused > 0.1 * (tensors + unused):
        return (
            f"fragmentation: PyTorch has reserved far more than the {held} that tensors hold, "
            f"but no free block is as large as {asking}. Set PYTORCH_CUDA_ALLOC_CONF="
            "expandable_segments:True (max_split_size_mb:128 before torch 2.1)."
        )
    if total - free - tensors - unused > 0.5 * total:
        return (
            f"tensors of this process hold only {held} of {whole}: "
            "other processes hold most of the GPU (nvidia-smi)."
        )
    return (
        f"tensors hold {held} of {whole}, so another {asking} do not fit (it is not fragmentation)"
        ": keep fewer or smaller tensors alive at this line."
    )


def memory_reserved(*sizes: str) -> str:
    """Explains the sizes before torch 2.1: requested, total, used by tensors, free, reserved."""
    unused = max(0.0, _bytes(*sizes[8:]) - _bytes(*sizes[4:6]))
    return memory(*sizes[:4], *sizes[6:8], *sizes[4:6], str(unused), "bytes")


def _bytes(number: str, unit: str) -> float:
    return float(number) * 1024 ** ("bkmgt".index(unit[0].lower()))


def products(rows: str, columns: str, features: str, out: str) -> str:
    """Explains the shapes of a linear layer's input and weight."""
    n, actual, wanted = int(rows), int(columns), int(features)
    if 0 < actual < wanted and wanted % actual == 0 and n % (wanted // actual) == 0:
        samples = n * actual // wanted
        return (
            f"{n} rows of {actual} numbers could also be {samples} of {wanted}. If the batch size "
            f"is {samples}, x.flatten(1) is missing. If the batch size is {n}, the layer needs "
            f"in_features={actual}."
        )
    common = math.gcd(actual, wanted)
    sides = [math.isqrt(number // max(1, common)) for number in (actual, wanted)]
    if min(common, *sides) > 1 and [side**2 * common for side in sides] == [actual, wanted]:
        return (
            f"{actual} = {common} x {sides[0]} x {sides[0]} and {wanted} = {common} x {sides[1]} x "
            f"{sides[1]}: if these are feature maps, the images do not have the size that the "
            f"layer was made for. Resize them, or pool to {sides[1]} x {sides[1]} with "
            "AdaptiveAvgPool2d before the flatten."
        )
    return (
        f"each row has {actual} numbers, but the layer was made for {wanted}: "
        f"set in_features={actual}, or change the layer before it."
    )


def two_shapes(target: str, input: str) -> str:
    """Explains the shapes of a loss's target and input, which should be equal."""
    a, b = _sizes(target), _sizes(input)
    for longer, shorter, more, less in ((b, a, "input", "target"), (a, b, "target", "input")):
        for dim in reversed(range(len(longer))):
            if longer[dim] == 1 and longer[:dim] + longer[dim + 1 :] == shorter:
                return (
                    f"the {more} has an extra dimension of size 1: use "
                    f"{more}.squeeze({dim}) or {less}.unsqueeze({dim})."
                )
    if len(b) > 1 and b[:1] + b[2:] == a:
        return (
            f"the input has {b[1]} numbers for each number of the target. If the target contains "
            "class indices, cross_entropy accepts it directly, and other losses need it one-hot."
        )
    return ""


def parameter(name: str, saved: str, current: str) -> str:
    """Explains the shapes of a parameter in the checkpoint and in the model."""
    a, b = _sizes(saved), _sizes(current)
    both = f"{name} is {_shown(a)} in the checkpoint and {_shown(b)} in the model"
    if 0 < len(a) <= 2 and a[1:] == b[1:]:
        return (
            f"{both}: the number of classes or tokens differs. Build the model with {a[0]}, or "
            "remove the layer from the state dict and train it again."
        )
    return f"{both}: the saved model was built with different sizes."


def stacked(first: str, other: str, at: str) -> str:
    """Explains the shapes of two samples in a batch."""
    a, b = _sizes(first), _sizes(other)
    if len(a) == len(b) == 3 and a[1:] == b[1:] and {a[0], b[0]} <= {1, 3, 4}:
        return (
            f"the number of channels is {a[0]} in sample 0, but {b[0]} in sample {at}: some images "
            'are grayscale or transparent. Load every image with image.convert("RGB").'
        )
    if len(a) == len(b) and a:
        dims = [dim for dim in range(len(a)) if a[dim] != b[dim]]
        return (
            f"sample {at} differs from sample 0 in dim {', '.join(map(str, dims))}: resize or crop "
            "the samples to one size, or pad them in a collate_fn."
        )
    return ""


def channels(weight: str, input: str, wanted: str, given: str) -> str:
    """Explains the shapes of a convolution's weight and input."""
    sizes, spatial = _sizes(input), len(_sizes(weight)) - 2
    if len(sizes) == spatial + 2 and sizes[-1] == int(wanted):
        order = ", ".join(map(str, [0, spatial + 1, *range(1, spatial + 1)]))
        return f"the channels come last in {_shown(sizes)}: use x.permute({order}).contiguous()."
    if (wanted, given) in (("3", "1"), ("3", "4")):
        return 'the images are grayscale or transparent: load them with image.convert("RGB").'
    return ""


def batches(given: str, wanted: str) -> str:
    """Explains the batch sizes of a loss's input and target."""
    a, b = int(given), int(wanted)
    if b and a > b and a % b == 0:
        return (
            f"{a} = {a // b} x {b}: each sample became {a // b} rows of the input. "
            "x.flatten(1) keeps the batch dimension; view(-1, n) does not."
        )
    if a and b > a and b % a == 0:
        return (
            f"{b} = {b // a} x {a}: each sample has {b // a} targets: flatten both in the same way."
        )
    return ""


def elements(shape: str, size: str) -> str:
    """Explains the shape that view() or reshape() is given, and the number of elements."""
    sizes = [int(number) for number in re.findall(r"-?\d+", shape)]
    product, n = abs(math.prod(sizes)), int(size)
    if -1 in sizes:
        if product and n % product:
            return f"{n} is not a multiple of {product}, the product of the other numbers."
        return ""
    if product and n == 3 * product:
        return (
            "the input has 3 times as many numbers as the shape, like an image with three "
            "channels instead of one: use convert('L') or x[..., 0]."
        )
    rest = product // sizes[0] if sizes and sizes[0] else 0
    if rest > 1 and 0 < n < product and n % rest == 0:
        return (
            f"the input has {n // rest} rows of {rest} numbers, but the shape names {sizes[0]}: "
            "if the first number is the batch size, write -1 instead."
        )
    return ""


def _sizes(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


def _shown(sizes: list[int]) -> str:
    return f"[{', '.join(map(str, sizes))}]"


# The patterns work in both Python and JavaScript, and ignore case.
READINGS: list[tuple[str, Callable[..., str]]] = [
    (
        rf"Tried to allocate {SIZE}\. GPU \d{{1,3}} has a total capaci?ty of {SIZE} of which "
        rf"{SIZE} is free.{{0,500}}?Of the allocated memory {SIZE} is allocated by PyTorch,"
        rf".{{0,90}}? {SIZE} is reserved by PyTorch",
        memory,
    ),
    (
        rf"Tried to allocate {SIZE} \(GPU \d{{1,3}}; {SIZE} total capacity; "
        rf"{SIZE} already allocated; {SIZE} free; {SIZE} (?:reserved in total|cached)",
        memory_reserved,
    ),
    (
        r"shapes cannot be multiplied \((\d{1,7})x(\d{1,7}) and (\d{1,7})x(\d{1,7})\)",
        products,
    ),
    (
        r"size mismatch, m1: \[(\d{1,7}) x (\d{1,7})\], m2: \[(\d{1,7}) x (\d{1,7})\]",
        products,
    ),
    (
        rf"target size \({SHAPE}\) (?:that is different to the|must be the same as) "
        rf"input size \({SHAPE}\)",
        two_shapes,
    ),
    (
        rf"size mismatch for (\S{{1,300}}): copying a param(?:eter)? (?:with shape|of) {SHAPE} "
        rf"from checkpoint, (?:the shape in current model is|where the shape is) {SHAPE}",
        parameter,
    ),
    (
        rf"expects each tensor to be equal size, but got {SHAPE} at entry 0 "
        rf"and {SHAPE} at entry (\d{{1,9}})",
        stacked,
    ),
    (
        rf"weight of size {SHAPE}, expected input{SHAPE} to have (\d{{1,9}}) channels, "
        r"but got (\d{1,9})",
        channels,
    ),
    (
        r"Expected input batch_size \((\d{1,9})\) to match target batch_size \((\d{1,9})\)",
        batches,
    ),
    (r"shape '\[([-\d, ]{1,60})\]' is invalid for input of size (\d{1,12})", elements),
]


def read_out(pattern: str, read: Callable[..., str], text: str) -> str:
    """The explanation for a text that matches the pattern of a reading."""
    match = re.match(pattern, text, re.IGNORECASE | re.ASCII)
    return read(*match.groups()) if match else ""
