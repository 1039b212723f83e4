from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, last_name, names, path, receiver, source
from ...training import backward_of, is_backward, is_fragment
from .. import needs
from .shared import with_its_maker

CROSS_ENTROPY = ("cross_entropy", "CrossEntropyLoss", "NLLLoss", "nll_loss")
MODELS = ("ForCausalLM", "LMHeadModel", "ForSeq2SeqLM", "ForConditionalGeneration", "ForMaskedLM")


@needs("backward(", "/")
def accumulation_averages_unequal_means(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("backward", ()):
        if not is_backward(call):
            continue
        loss = backward_of(call)
        for division in _divisions(code, loss, call):
            count = division.right if isinstance(division, ast.BinOp) else division.value
            mean = division.left if isinstance(division, ast.BinOp) else division.target
            if _counts_steps(code, count) and _is_a_mean_over_tokens(code, mean):
                yield Hit(
                    division,
                    f"{source(mean, 40)} is a mean over the tokens of its batch, so tokens in "
                    "short batches get more weight",
                )
                break


def _divisions(
    code: Code, loss: ast.expr | None, backward: ast.Call
) -> Iterator[ast.BinOp | ast.AugAssign]:
    value = loss if isinstance(loss, ast.BinOp) else code.value(loss)
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div):
        yield value
    for update in code.within(code.function(backward), ast.AugAssign):
        if isinstance(update.op, ast.Div) and path(update.target) == path(loss) != "":
            yield update


def _counts_steps(code: Code, count: ast.expr) -> bool:
    words = {word.lower() for word in names(count)}
    return any("accum" in word for word in words) or (is_fragment(code) and "batches" in words)


def _is_a_mean_over_tokens(code: Code, loss: ast.expr) -> bool:
    """True for a cross entropy that ignores some targets, and for the loss of a language model."""
    value = loss if isinstance(loss, ast.Call) else code.value(loss)
    if isinstance(value, ast.Call):
        if code.torch(value.func) == "cross_entropy" and is_fragment(code):
            return True
        return any(
            last_name(each.func) in CROSS_ENTROPY
            and argument(each, -1, "ignore_index") is not None
            and argument(each, -1, "reduction") is None
            for each in with_its_maker(code, value)
        )
    node = value if isinstance(value, (ast.Attribute, ast.Subscript)) else loss
    outputs = node.value if isinstance(node, (ast.Attribute, ast.Subscript)) else None
    call = code.value(outputs) if outputs is not None else None
    return (
        isinstance(call, ast.Call)
        and receiver(call) is None
        and any(word.arg == "labels" for word in call.keywords)
        and any(word in code.text for word in MODELS)
    )
