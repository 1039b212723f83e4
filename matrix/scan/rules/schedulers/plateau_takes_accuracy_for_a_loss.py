from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, last_name, names, path, receiver, source
from ...training import creating_call
from .. import needs

RISING = frozenset(
    "acc accuracy accuracies accs f1 auc auroc auprc dice iou miou map bleu bleu4 psnr ssim cider"
    " meteor rouge ndcg kappa jaccard recall precision fscore valacc valaccuracy".split()
)
MEANS = ("mean", "average", "float", "sum", "max", "item")
FALLING = frozenset("loss error err neg negative inverse perplexity ppl wer cer mae mse".split())


@needs("ReduceLROnPlateau", ".step(")
def plateau_takes_accuracy_for_a_loss(code: Code) -> Iterator[Hit]:
    for step in code.calls.get("step", ()):
        scheduler, metric = receiver(step), argument(step, 0, "metrics")
        if scheduler is None or metric is None or not path(scheduler):
            continue
        maker = creating_call(code, scheduler)
        if maker is None or code.torch(maker.func) != "ReduceLROnPlateau":
            continue
        mode = argument(maker, 1, "mode")
        if (mode is None or constant(mode) == "min") and _rises(metric):
            yield Hit(
                step,
                f"{source(scheduler, 40)} has mode 'min', so it treats a rising "
                f"{source(metric, 40)} as a sign that the model is getting worse",
            )


def _rises(metric: ast.expr) -> bool:
    """True for a name such as val_acc, and False for 1 - val_acc and -val_acc."""
    while isinstance(metric, ast.Call) and last_name(metric.func) in MEANS:
        inner = metric.args[0] if metric.args else receiver(metric)
        if inner is None:
            return False
        metric = inner
    if isinstance(metric, ast.Subscript) and isinstance(constant(metric.slice), str):
        words = _words(str(constant(metric.slice)))
    elif path(metric):
        words = _words(last_name(metric))
    else:
        return False
    return bool(words & RISING) and not words & FALLING and not names(metric) & {"min"}


def _words(name: str) -> set[str]:
    return set(name.lower().replace("-", "_").split("_"))
