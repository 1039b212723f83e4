"""Helpers for the construction of modules and the mode in which they run."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, argument, constant, last_name, path, remembered
from ...project import definition
from ...training import class_of, is_dead, is_network

# Layers that have parameters.
LAYERS = frozenset(
    "Linear Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d"
    " LazyLinear LazyConv1d LazyConv2d LazyConv3d Embedding EmbeddingBag RNN LSTM GRU RNNCell"
    " LSTMCell GRUCell BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm LayerNorm GroupNorm"
    " RMSNorm PReLU MultiheadAttention Transformer TransformerEncoder TransformerDecoder"
    " TransformerEncoderLayer TransformerDecoderLayer".split()
)

BATCH_NORMS = ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm")

SAME_SHAPE = (
    "masked_fill", "masked_fill_", "float", "half", "to", "type_as", "contiguous", "clone", "tanh",
    "relu", "dropout", "exp", "transpose",
)  # fmt: skip

CONTAINERS = ("ModuleList", "ModuleDict", "Sequential", "ParameterList", "ParameterDict")


def classes(code: Code, name: str) -> list[ast.ClassDef]:
    return [owner for owner in code.all(ast.ClassDef) if owner.name == name]


def has_parameters(code: Code, node: ast.AST | None) -> bool:
    """True if the node definitely creates a module with parameters."""
    if not isinstance(node, ast.Call):
        return False
    name = code.torch(node.func)
    if name in LAYERS:
        return True
    if name in CONTAINERS:
        return any(has_parameters(code, part) for part in ast.walk(node) if part is not node)
    if isinstance(node.func, ast.Name) and classes(code, node.func.id):
        return any(_creates_parameters(code, owner) for owner in classes(code, node.func.id))
    found = class_of(code, node)
    return (
        found is not None
        and isinstance(found.node, ast.ClassDef)
        and _creates_parameters(found.code, found.node)
    )


@remembered
def _creates_parameters(code: Code, owner: ast.ClassDef, depth: int = 2) -> bool:
    """True if the class is a module that creates parameters, or layers that have them."""
    if not is_network(code, owner):
        return False
    calls = [part for part in ast.walk(owner) if isinstance(part, ast.Call)]
    if any(
        code.torch(call.func) in LAYERS or code.torch(call.func) == "Parameter" for call in calls
    ):
        return True
    inner = [definition(code, call.func) for call in calls if isinstance(call.func, ast.Name)]
    return depth > 0 and any(
        isinstance(found.node, ast.ClassDef)
        and found.node is not owner
        and _creates_parameters(found.code, found.node, depth - 1)
        for found in inner
        if found is not None
    )


def momentums(code: Code) -> Iterator[tuple[ast.Call, ast.expr, float]]:
    """Yields the call, momentum argument and momentum of batch norms with running statistics."""
    for call in [call for name in BATCH_NORMS for call in code.calls.get(name, ())]:
        momentum = argument(call, 2, "momentum")
        tracks = argument(call, 4, "track_running_stats")
        value = constant(code.value(momentum))
        if (
            code.torch(call.func)
            and momentum is not None
            and isinstance(value, (int, float))
            and constant(tracks) is not False
            and not is_dead(code, call)
        ):
            yield call, momentum, value


def is_direct_module(code: Code, owner: ast.AST) -> bool:
    """True if the only base of the class is torch's Module."""
    return isinstance(owner, ast.ClassDef) and [code.full(base) for base in owner.bases] in (
        ["torch.nn.Module"],
        ["torch.nn.modules.Module"],
    )


def lacks(code: Code, owner: ast.AST, method: str) -> bool:
    """True if the node is a class that inherits the method with this name from Module."""
    return (
        isinstance(owner, ast.ClassDef)
        and is_direct_module(code, owner)
        and not any(
            (isinstance(member, (ast.FunctionDef, ast.AsyncFunctionDef)) and member.name == method)
            or (isinstance(member, ast.Assign) and path(member.targets[0]) == method)
            for member in ast.walk(owner)
            if code.parent[member] is owner
        )
    )


def is_called(code: Code, method: ast.FunctionDef) -> bool:
    """True if the method is called or passed on, except through super()."""
    return any(
        isinstance(use, ast.Attribute)
        and use.attr == method.name
        and not (isinstance(use.value, ast.Call) and last_name(use.value.func) == "super")
        and (path(use.value) != "self" or code.owner(use) is code.owner(method))
        for use in code.all(ast.Attribute)
    )


def is_unused(code: Code, node: ast.AST) -> bool:
    """True if no code in this file, torch or Python calls the method that contains the node.

    Code that always raises an error occurs only in unused methods.
    """
    function = code.function(node)
    return is_dead(code, node) or (
        isinstance(function, ast.FunctionDef)
        and isinstance(code.parent[function], ast.ClassDef)
        and function.name != "forward"
        and not function.name.startswith("__")
        and not is_called(code, function)
    )


def is_typo(name: str, word: str) -> bool:
    """True if one letter is missing, added, wrong, or swapped with its neighbor."""
    if name == word or abs(len(name) - len(word)) > 1:
        return False
    if len(name) == len(word):
        wrong = [at for at in range(len(word)) if name[at] != word[at]]
        return len(wrong) == 1 or (
            len(wrong) == 2
            and wrong[1] == wrong[0] + 1
            and name[wrong[0]] == word[wrong[1]]
            and name[wrong[1]] == word[wrong[0]]
        )
    short, long = sorted((name, word), key=len)
    return any(long[:at] + long[at + 1 :] == short for at in range(len(long)))
