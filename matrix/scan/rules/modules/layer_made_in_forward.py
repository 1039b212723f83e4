from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, path, source
from ...training import is_fragment, is_network
from .. import needs

TRAINED = frozenset(
    "Linear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d Embedding"
    " LSTM GRU RNN MultiheadAttention TransformerEncoderLayer Bilinear".split()
)


@needs("def forward")
def layer_made_in_forward(code: Code) -> Iterator[Hit]:
    for function in code.all(ast.FunctionDef):
        owner = code.owner(function)
        if function.name != "forward" or not (is_fragment(code) or is_network(code, owner)):
            continue
        for call in code.calls_in(function):
            if code.torch(call.func) in TRAINED and not _is_kept(code, function, call):
                yield Hit(
                    call,
                    f"every call to forward() creates {source(call, 40)} with new random "
                    "weights, which no optimizer trains",
                )


def _is_kept(code: Code, function: ast.FunctionDef, layer: ast.Call) -> bool:
    """True if self keeps the layer, or if the code sets its weights itself."""
    above = code.parent[layer]
    if isinstance(above, ast.Call) and above.func is layer:
        return False  # nn.Linear(2, 3)(x)
    statement = code.statement(layer)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if any(path(part).startswith("self.") for target in targets for part in ast.walk(target)):
        return True
    if code.conditions(layer) or constant(argument(layer, -1, "device")) == "meta":
        return True
    names = {path(target) for target in targets} - {""}
    reads = ("weight", "bias", "load_state_dict", "parameters", "state_dict")
    return bool(code.calls_in(function, "setattr", "add_module", "append")) or any(
        path(used.value) in names
        for used in code.within(function, ast.Attribute)
        if used.attr in reads
    )
