from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, last_name, path, place, receiver, source
from ...training import OPTIMIZERS, creating_call, is_dead, is_fragment
from .. import needs

OPTIONS = ("args", "opt", "opts", "options", "FLAGS", "hparams", "hps", "params")
RATES = ("lr", "learning_rate")


@needs("load_state_dict")
def loaded_rate_replaces_the_new(code: Code) -> Iterator[Hit]:
    if _sets_rates(code):
        return
    for call in code.calls.get("load_state_dict", ()):
        optimizer = receiver(call)
        made = creating_call(code, optimizer)
        if made is None or code.torch(made.func) not in OPTIMIZERS or optimizer is None:
            continue
        rate = argument(made, 1, "lr")
        if rate is None or not (is_fragment(code) or _is_an_option(code, rate)):
            continue
        if place(made) < place(call) and not is_dead(code, call):
            yield Hit(
                call,
                f"{source(call, 40)} restores the saved learning rate, so {source(rate, 30)} has "
                "no effect",
            )


def _is_an_option(code: Code, rate: ast.expr) -> bool:
    """True for args.lr, and for a parameter lr in a script with the option --lr."""
    value = code.value(rate) or rate
    options = [constant(each) for call in code.calls.get("add_argument", ()) for each in call.args]
    if path(value) in RATES:
        return any(str(option).lstrip("-").replace("-", "_") in RATES for option in options)
    return path(value).partition(".")[0] in OPTIONS and bool(options)


def _sets_rates(code: Code) -> bool:
    """True if the file assigns the rate of a parameter group."""
    return any(
        isinstance(part.ctx, ast.Store) and constant(part.slice) in ("lr", "initial_lr")
        for part in code.all(ast.Subscript)
    ) or any(
        "lr" in last_name(call.func).lower().split("_")
        for name in code.calls
        if name.startswith(("adjust", "set"))
        for call in code.calls[name]
    )
