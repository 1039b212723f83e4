"""How modules are built, and in which mode they run."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from ..code import (
    COMPREHENSIONS,
    FUNCTIONS,
    Code,
    Edit,
    Hit,
    argument,
    constant,
    end,
    has_unpacked,
    inserted,
    last_name,
    names,
    path,
    place,
    receiver,
    source,
)
from ..training import (
    OPTIMIZERS,
    default,
    ends_early,
    expects_an_error,
    is_dead,
    is_fragment,
    is_network,
    without_grad,
    yields_once,
)
from . import needs

DROPOUTS = ("dropout", "dropout1d", "dropout2d", "dropout3d")  # alpha_dropout's default is False
# Layers that have parameters.
LAYERS = frozenset(
    "Linear Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d"  # noqa: SIM905
    " LazyLinear LazyConv1d LazyConv2d LazyConv3d Embedding EmbeddingBag RNN LSTM GRU RNNCell"
    " LSTMCell GRUCell BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm LayerNorm GroupNorm"
    " RMSNorm PReLU MultiheadAttention Transformer TransformerEncoder TransformerDecoder"
    " TransformerEncoderLayer TransformerDecoderLayer".split()
)
BATCH_NORMS = ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm")
# Modules that drop values in eval mode on purpose: Tacotron's prenet, Monte Carlo dropout.
ALWAYS_DROP = ("prenet", "mcdrop", "montecarlo", "bayes", "uncertain")
SAME_SHAPE = (
    "masked_fill", "masked_fill_", "float", "half", "to", "type_as", "contiguous", "clone", "tanh",
    "relu", "dropout", "exp", "transpose",
)  # fmt: skip
# What these return lies in memory in the order of its dimensions.
ORDERED = (
    "contiguous", "cat", "stack", "bmm", "matmul", "zeros", "ones", "rand", "randn",
    "randint", "arange", "tensor",
)  # fmt: skip
# In the name of a layer: it has no parameters.
BARE = (
    "Identity", "Dropout", "DropPath", "Pool", "LU", "Activation", "Act", "ish", "Sigmoid", "Tanh",
    "Softmax", "Flatten", "Rearrange", "Lambda",
)  # fmt: skip
CONTAINERS = ("ModuleList", "ModuleDict", "Sequential", "ParameterList", "ParameterDict")


@needs("ropout")
def functional_dropout_in_eval_mode(code: Code) -> Iterator[Hit]:
    for call in [call for name in DROPOUTS for call in code.calls.get(name, ())]:
        if (
            code.full(call.func).startswith(("torch.nn.functional.", "dropout"))
            and code.torch(call.func)
            and argument(call, 2, "training") is None
            and not has_unpacked(call)
            and _can_drop(code, argument(call, 1, "p"))
            and _runs_in_eval_mode(code, call)
        ):
            yield Hit(
                call,
                f"{source(call)} is not told the mode of the module: it also drops values after "
                "eval()",
                _told_the_mode(code, call),
            )
    for layer in [call for name in DROPOUTS for call in code.calls.get(name.capitalize(), ())]:
        above = code.parent[layer]
        if (
            code.torch(layer.func)
            and isinstance(above, ast.Call)
            and above.func is layer
            and _can_drop(code, argument(layer, 0, "p"))
            and _runs_in_eval_mode(code, above)
        ):
            yield Hit(
                above,
                f"{source(layer)} is a new layer in train mode at each call: it also drops values "
                "after eval()",
            )


def _told_the_mode(code: Code, call: ast.Call) -> tuple[Edit, ...]:
    function = code.scope(call)
    given = [*call.args, *(one.value for one in call.keywords)]
    if not isinstance(function, ast.FunctionDef) or not given:
        return ()
    if [one.arg for one in function.args.args][:1] != ["self"]:
        return ()
    return (inserted(max(map(end, given)), ", training=self.training"),)


@needs("self.", "append|[|{")
def layers_in_a_list_never_train(code: Code) -> Iterator[Hit]:
    for node in code.nodes.get(ast.Assign, []) + code.nodes.get(ast.AnnAssign, []):
        assert isinstance(node, (ast.Assign, ast.AnnAssign))
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        owner = code.owner(node)
        name = path(targets[0])
        if name.count(".") != 1 or not name.startswith("self.") or node.value is None:
            continue
        if is_fragment(code):
            if _layer_in(code, node.value):
                yield Hit(node, f"the layers in {name} are not registered")
            continue
        if not is_network(code, owner) or owner is None:
            continue
        if is_dead(code, node):
            continue
        layer = _layer_in(code, node.value) or _appended(code, owner, node)
        if layer and not _registers(code, owner, node) and _is_read(code, owner, name):
            yield Hit(
                node,
                f"{name} is a plain {_kind(code, node.value)}: parameters(), to() and state_dict() "
                f"do not reach {source(layer, 40)} in it",
            )


@needs("ModuleList|Sequential", "] *|]*|* [|*[")
def multiplied_list_shares_one_layer(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("ModuleList", []) + code.calls.get("Sequential", []):
        if not code.torch(call.func) or _shares_on_purpose(code, call):
            continue
        for given in call.args:
            product = code.value(given.value if isinstance(given, ast.Starred) else given)
            if not isinstance(product, ast.BinOp) or not isinstance(product.op, ast.Mult):
                continue
            several = product.left if isinstance(product.left, ast.List) else product.right
            count = product.right if several is product.left else product.left
            if not isinstance(several, ast.List) or constant(count) in (0, 1):
                continue
            for one in several.elts:
                if _may_have_parameters(code, one):
                    yield Hit(
                        product,
                        f"{source(product)} is {source(one, 40)} {source(count, 20)} times: one "
                        "set of weights",
                        _one_for_each(code, product, several, count),
                    )


def _one_for_each(
    code: Code, product: ast.BinOp, several: ast.List, count: ast.expr
) -> tuple[Edit, ...]:
    """[f()] * n as [f() for _ in range(n)]; of a name, that would be the same layer again."""
    if several is not product.left or len(several.elts) != 1:
        return ()
    if not isinstance(several.elts[0], ast.Call):
        return ()
    rest = f" for _ in range({ast.get_source_segment(code.text, count)})]"
    return (Edit(*end(several.elts[0]), *end(product), rest),)


@needs("parameters")
def parameters_are_used_up(code: Code) -> Iterator[Hit]:
    for node in code.nodes.get(ast.Assign, []):
        assert isinstance(node, ast.Assign)
        if not isinstance(node.targets[0], ast.Name) or not _is_iterator(code, node.value):
            continue
        scope = code.scope(node)
        readers = [
            (name, reader)
            for name in code.within(scope, ast.Name)
            if name.id == node.targets[0].id
            and isinstance(name.ctx, ast.Load)
            and code.scope(name) is scope
            and code.value(name) is node.value
            and (reader := _taker(code, name)) is not None
        ]
        for name, reader in readers:
            if not isinstance(reader, ast.Call) or last_name(reader.func) not in OPTIMIZERS:
                continue
            before = [
                one
                for other, one in readers
                if place(other) < place(name) and not _leaves_before(code, one, reader)
            ]
            if before:
                taker = source(before[0], 50)
                if isinstance(before[0], ast.For):
                    taker = f"the loop of line {before[0].lineno}"
                yield Hit(
                    reader,
                    f"{name.id} yields its parameters once, and {taker} has taken them: the "
                    "optimizer gets none",
                )


@needs("BatchNorm", "momentum")
def batchnorm_momentum_of_tensorflow(code: Code) -> Iterator[Hit]:
    for call, momentum, value in _momentums(code):
        if 0.9 <= value < 1:  # 1 means the newest batch alone
            yield Hit(
                call,
                f"a momentum of {source(momentum, 40)} is the weight of the newest batch: the "
                "running statistics are nearly those of the last one",
            )


@needs("BatchNorm", "momentum")
def batchnorm_with_momentum_zero(code: Code) -> Iterator[Hit]:
    for call, momentum, value in _momentums(code):
        if value == 0:
            yield Hit(
                call,
                f"with a momentum of {source(momentum, 40)} the running statistics are never "
                "updated",
            )


@needs("oftmax")
def softmax_without_dim(code: Code) -> Iterator[Hit]:
    for name, layer in (
        ("softmax", "Softmax"),
        ("log_softmax", "LogSoftmax"),
        ("softmin", "Softmin"),
    ):
        for call in code.nodes.get(ast.Call, []):
            assert isinstance(call, ast.Call)
            if code.full(call.func) in (f"torch.nn.functional.{name}", name):
                dim = argument(call, 1, "dim")
                known = bool(code.torch(call.func)) and not has_unpacked(call)
            else:
                made = code.value(call.func)
                if not isinstance(made, ast.Call) or code.torch(made.func) != layer:
                    continue
                dim, known = argument(made, 0, "dim"), not has_unpacked(made)
            if known and dim is None and call.args and _dimensions(code, call.args[0]) == 3:
                yield Hit(
                    call,
                    f"{source(call.args[0], 40)} has 3 dimensions: {source(call, 40)} takes the "
                    "first",
                )


@needs("__init__", "self.")
def layer_before_super_init(code: Code) -> Iterator[Hit]:
    fragment = is_fragment(code)
    for node in code.nodes.get(ast.Assign, []):
        assert isinstance(node, ast.Assign)
        name = path(node.targets[0])
        if not name.startswith("self.") or not _is_torch_module(code, node.value):
            continue
        owner, function = code.owner(node), code.function(node)
        if not fragment and (
            not is_network(code, owner)
            or getattr(function, "name", "") != "__init__"
            or code.parent[function] is not owner
            or name.count(".") != 1
            or expects_an_error(code, node)
        ):
            continue
        inits = code.calls_in(function, "__init__")
        if inits and all(place(one) > place(node) for one in inits):
            yield Hit(node, f"{name} is assigned before {source(inits[0])}: it raises")
        elif (
            not inits
            and not code.calls_in(function, "super")  # of a misspelt name: that raises first
            and not any(code.owner(call) is owner for call in code.calls.get("__init__", ()))
            and owner is not None
            and _is_direct_module(code, owner)
        ):
            yield Hit(node, f"{owner.name} never calls super().__init__(): {name} = ... raises")


@needs("def _", "self.")
def init_is_misspelt(code: Code) -> Iterator[Hit]:
    for node in code.nodes.get(ast.FunctionDef, []):
        assert isinstance(node, ast.FunctionDef)
        owner = code.parent[node]
        inner = node.name.strip("_")
        if (
            node.name.startswith("_")
            and node.name.endswith("_")
            and node.name != "__init__"
            and (inner == "init" or (_is_typo(inner, "init") and node.name == f"__{inner}__"))
            and not _is_called(code, node)
            and any(
                path(target).startswith("self.")
                for one in code.within(node, ast.Assign)
                for target in one.targets
            )
            and (is_fragment(code) or _lacks(code, owner, "__init__"))
        ):
            yield Hit(node, f"Python never calls {node.name}(): __init__() is Module's")


@needs("def ")
def forward_is_misspelt(code: Code) -> Iterator[Hit]:
    for node in code.nodes.get(ast.FunctionDef, []):
        assert isinstance(node, ast.FunctionDef)
        if node.name == "Forward" or (_is_typo(node.name, "forward") and node.name.isalpha()):
            if not _is_called(code, node) and (
                is_fragment(code) or _lacks(code, code.parent[node], "forward")
            ):
                yield Hit(node, f"a call of the module runs forward(), not {node.name}()")
        elif node.name == "forward" and node in code.parent:
            function = code.parent[node]
            if (
                isinstance(function, ast.FunctionDef)
                and function.name == "__init__"
                and _lacks(code, code.parent[function], "forward")
                and "forward" not in names(function)
            ):
                yield Hit(node, "forward() is indented into __init__(): it is no method")


@needs("ModuleList")
def module_list_is_called(code: Code) -> Iterator[Hit]:
    stored = [
        one
        for one in code.nodes.get(ast.Attribute, ())
        if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store)
    ]
    for call in code.nodes.get(ast.Call, []):
        assert isinstance(call, ast.Call)
        name = path(call.func)
        if (
            name
            and code.made_by(call.func, "ModuleList")
            and all(code.made_by(one, "ModuleList") for one in code.values(call.func))
            and not (
                "." in name
                and any(one.attr == last_name(call.func) and path(one) != name for one in stored)
            )
            and not expects_an_error(code, call)
            and not _is_unused(code, call)
        ):
            yield Hit(call, f"{name} is a ModuleList, which cannot be called")


@needs(".view(", "permute|transpose|.t()")
def view_of_a_permuted_tensor(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("view", ()):
        sizes = call.args
        if call.keywords or has_unpacked(call):
            continue
        if len(sizes) == 1 and isinstance(sizes[0], (ast.Tuple, ast.List)):
            sizes = sizes[0].elts
        elif len(sizes) == 1 and constant(sizes[0]) != -1:
            continue  # a shape, or a dtype
        moved = code.value(receiver(call))
        if expects_an_error(code, call) or _is_unused(code, call):
            continue
        if moved is not None and 0 < len(sizes) <= _gaps(code, moved):
            yield Hit(
                call,
                f"{source(moved)} exchanges strides: no {len(sizes)} dimensions are a view of it",
            )


# --- what the rules above share -------------------------------------------------------------------


def _can_drop(code: Code, p: ast.expr | None) -> bool:
    """Whether it may be above 0 in eval mode."""
    value = code.value(p)
    if value is None and isinstance(p, ast.Name):
        return False  # whoever calls the method may give it 0
    if constant(default(code, p)) == 0:
        return False
    return value is None or (constant(value) != 0 and not _asks_for_mode(value))


def _runs_in_eval_mode(code: Code, call: ast.Call) -> bool:
    """Whether nothing that can be seen keeps it to training."""
    if is_fragment(code):
        return True
    owner, function = code.owner(call), code.function(call)
    if owner is None or not is_network(code, owner) or not isinstance(function, ast.FunctionDef):
        return False
    if is_dead(code, call):
        return False
    if _is_for_training(code, call) or _is_named_for_training(function.name):
        return False
    if without_grad(code, call) or any(word in owner.name.lower() for word in ALWAYS_DROP):
        return False
    callers = [
        one
        for one in code.calls.get(function.name, ())
        if path(receiver(one)) == "self" and code.owner(one) is owner
    ]
    return not callers or not all(_is_for_training(code, one) for one in callers)


def _is_named_for_training(function: str) -> bool:
    return function == "__init__" or any(word in function for word in ("train", "loss", "augment"))


def _is_for_training(code: Code, node: ast.AST) -> bool:
    """Whether a test of the mode comes before it: around it, or as an early return."""
    function = code.function(node)
    for one in code.ancestors(node):
        if one is function:
            break
        if isinstance(one, (ast.If, ast.IfExp, ast.While)) and _asks_for_mode(one.test):
            return True
        if isinstance(one, ast.BoolOp) and _asks_for_mode(one):
            return True
    return any(
        _asks_for_mode(one.test) and isinstance(one.body[-1], (ast.Return, ast.Raise))
        for one in code.within(function, ast.If)
        if place(one) < place(node)
    )


def _asks_for_mode(test: ast.AST) -> bool:
    return any("train" in name.lower() or "eval" in name.lower() for name in names(test))


def _classes(code: Code, name: str) -> list[ast.ClassDef]:
    return [
        one
        for one in code.nodes.get(ast.ClassDef, ())
        if isinstance(one, ast.ClassDef) and one.name == name
    ]


def _has_parameters(code: Code, node: ast.AST | None) -> bool:
    """Whether it certainly makes a module with parameters."""
    if not isinstance(node, ast.Call):
        return False
    name = code.torch(node.func)
    if name in LAYERS:
        return True
    if name in CONTAINERS:
        return any(_has_parameters(code, one) for one in ast.walk(node) if one is not node)
    return isinstance(node.func, ast.Name) and any(
        is_network(code, one)
        and any(
            code.torch(call.func) in LAYERS or code.torch(call.func) == "Parameter"
            for call in ast.walk(one)
            if isinstance(call, ast.Call)
        )
        for one in _classes(code, node.func.id)
    )


def _shares_on_purpose(code: Code, call: ast.Call) -> bool:
    around: list[ast.AST] = [*code.conditions(call)]
    if isinstance(statement := code.statement(call), ast.Assign):
        around += statement.targets
    return any(
        word in name.lower()
        for one in around
        for name in names(one)
        for word in ("share", "tie", "recur")
    )


def _may_have_parameters(code: Code, node: ast.AST) -> bool:
    """Of a module: whether nothing says that it has none."""
    value = code.value(node)
    if not isinstance(value, ast.Call):
        return False
    if code.torch(value.func):
        return _has_parameters(code, value)
    name = last_name(value.func)
    for owner in _classes(code, name):
        made = [one for one in ast.walk(owner) if isinstance(one, ast.Call)]
        if _is_direct_module(code, owner) and not any(
            last_name(one.func)[:1].isupper() or "register" in last_name(one.func) for one in made
        ):
            return False
    return name[:1].isupper() and not any(word in name for word in BARE)


def _layer_in(code: Code, value: ast.AST | None) -> ast.AST | None:
    """A layer that is made in a list, a tuple or a dict."""
    items: list[ast.AST | None] = []
    if isinstance(value, (ast.List, ast.Tuple)):
        items = [*value.elts]
    elif isinstance(value, ast.Dict):
        items = [*value.values]
    elif isinstance(value, ast.ListComp):
        items = [value.elt]
    elif isinstance(value, ast.DictComp):
        items = [value.value]
    return next((one for one in items if _has_parameters(code, one)), None)


def _appended(code: Code, owner: ast.ClassDef, node: ast.Assign | ast.AnnAssign) -> ast.AST | None:
    """A layer that is appended to what is empty at first, also by way of a local name."""
    value = code.value(node.value)
    if not isinstance(value, ast.List):
        return None
    assigned = node.targets[0] if isinstance(node, ast.Assign) else node.target
    wanted = {path(assigned), path(node.value)} - {""}
    for call in ast.walk(owner):
        if (
            isinstance(call, ast.Call)
            and last_name(call.func) in ("append", "insert")
            and path(receiver(call)) in wanted
            and call.args
            and (
                path(receiver(call)).startswith("self.")
                or code.function(call) is code.function(node)
            )
        ):
            layer = call.args[-1]
            if "." not in path(layer) and _has_parameters(code, code.value(layer)):
                return code.value(layer)
    return None


def _registers(code: Code, owner: ast.ClassDef, node: ast.Assign | ast.AnnAssign) -> bool:
    """Whether the class may register the layers of the list, or yield their parameters itself,
    or freezes them.
    """
    assigned = node.targets[0] if isinstance(node, ast.Assign) else node.target
    wanted = {path(assigned), path(node.value)} - {""}
    for one in ast.walk(owner):
        if isinstance(one, FUNCTIONS) and getattr(one, "name", "") in (
            "parameters",
            "named_parameters",
            "_apply",
            "state_dict",
        ):
            return True
        if isinstance(one, ast.Attribute) and one.attr in ("_modules", "_parameters"):
            return True
        frozen = isinstance(one, ast.Attribute) and one.attr in ("requires_grad", "requires_grad_")
        if frozen and any(path(part) in wanted for part in ast.walk(code.function(one))):
            return True  # kept out on purpose
        if not isinstance(one, ast.Call):
            continue
        if last_name(one.func) in (
            "add_module",
            "register_module",
            "register_parameter",
            "setattr",
            "__setattr__",
        ):
            return True
        handed = {path(part) for given in one.args for part in ast.walk(given)}
        name = last_name(one.func)  # ModuleList, or a container of the project
        if (name[:1].isupper() or name == "__init__") and handed & wanted:
            return True
    return False


def _is_read(code: Code, owner: ast.ClassDef, name: str) -> bool:
    """Also where gradients are taken: a teacher may be kept out on purpose."""
    return any(
        isinstance(one, ast.Attribute)
        and isinstance(one.ctx, ast.Load)
        and path(one) == name
        and not without_grad(code, one)
        for one in ast.walk(owner)
    )


def _kind(code: Code, value: ast.AST) -> str:
    value = code.value(value) or value
    kinds = {ast.Dict: "dict", ast.DictComp: "dict", ast.Tuple: "tuple"}
    return kinds.get(type(value), "list")


def _is_iterator(code: Code, value: ast.expr) -> bool:
    """Whether it yields parameters once."""
    parameters = names(value) & {"parameters", "named_parameters"}
    return bool(parameters) and yields_once(code, value)


def _taker(code: Code, name: ast.Name) -> ast.AST | None:
    """What takes all that the iterator yields."""
    above = code.parent[name]
    if isinstance(above, ast.For) and above.iter is name:
        return None if ends_early(code, above) else above
    if isinstance(above, ast.comprehension) and above.iter is name:
        made = code.parent[above]
        if isinstance(made, ast.GeneratorExp):
            user = code.parent[made]
            return user if isinstance(user, ast.Call) and _takes_all(code, user) else None
        return made if isinstance(made, COMPREHENSIONS) else None
    if isinstance(above, ast.Starred):
        return above
    if isinstance(above, ast.Dict):  # [{"params": parameters}]
        above = code.parent[above]
        if isinstance(above, ast.List):
            above = code.parent[above]
    if isinstance(above, ast.Call) and name is not above.func and _takes_all(code, above):
        return above
    return None


def _takes_all(code: Code, call: ast.Call) -> bool:
    return (
        code.full(call.func) in ("sum", "list", "tuple", "set", "sorted", "max", "min", "dict")
        or last_name(call.func) in ("clip_grad_norm_", "clip_grad_value_", "parameters_to_vector")
        or last_name(call.func) in OPTIMIZERS
    )


def _leaves_before(code: Code, one: ast.AST, other: ast.AST) -> bool:
    """Whether the other does not run after it: another branch, or one that returns."""
    if code.excludes(one, other):
        return True
    inside = set(code.ancestors(other))
    return any(
        isinstance(above, ast.If)
        and above not in inside
        and any(isinstance(part, (ast.Return, ast.Raise)) for part in above.body)
        for above in code.ancestors(one)
    )


def _momentums(code: Code) -> Iterator[tuple[ast.Call, ast.expr, float]]:
    """The batch norms with running statistics: the call, its momentum and what that is."""
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


def _is_torch_module(code: Code, value: ast.AST) -> bool:
    """Whether it makes a module of torch's, or a parameter."""
    if not isinstance(value, ast.Call):
        return False
    made, _, name = code.full(value.func).rpartition(".")
    return code.torch(value.func) in (*LAYERS, *CONTAINERS, "Parameter") or (
        made == "torch.nn" and name[:1].isupper()
    )


def _is_direct_module(code: Code, owner: ast.AST) -> bool:
    """Whether nothing but torch's Module is above the class."""
    return isinstance(owner, ast.ClassDef) and [code.full(base) for base in owner.bases] in (
        ["torch.nn.Module"],
        ["torch.nn.modules.Module"],
    )


def _lacks(code: Code, owner: ast.AST, method: str) -> bool:
    """Whether it is a class whose method of this name is Module's."""
    return (
        isinstance(owner, ast.ClassDef)
        and _is_direct_module(code, owner)
        and not any(
            (isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)) and one.name == method)
            or (isinstance(one, ast.Assign) and path(one.targets[0]) == method)
            for one in ast.walk(owner)
            if code.parent[one] is owner
        )
    )


def _is_called(code: Code, method: ast.FunctionDef) -> bool:
    """Whether a method is called, or handed on, but by super()."""
    return any(
        isinstance(one, ast.Attribute)
        and one.attr == method.name
        and not (isinstance(one.value, ast.Call) and last_name(one.value.func) == "super")
        and (path(one.value) != "self" or code.owner(one) is code.owner(method))
        for one in code.nodes.get(ast.Attribute, ())
    )


def _is_unused(code: Code, node: ast.AST) -> bool:
    """Whether it is in a method that nothing in the file calls, but torch or Python: what always
    raises is found in no others.
    """
    function = code.function(node)
    return is_dead(code, node) or (
        isinstance(function, ast.FunctionDef)
        and isinstance(code.parent[function], ast.ClassDef)
        and function.name != "forward"
        and not function.name.startswith("__")
        and not _is_called(code, function)
    )


def _is_typo(name: str, word: str) -> bool:
    """Whether one letter is missing, added, another or exchanged with its neighbour."""
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


def _dimensions(code: Code, node: ast.AST | None) -> int | None:
    """How many dimensions the tensor certainly has."""
    for _ in range(9):
        node = code.value(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
            node = node.left  # scores / sqrt(d)
        elif isinstance(node, ast.Call) and last_name(node.func) in SAME_SHAPE:
            node = node.args[0] if code.torch(node.func) and node.args else receiver(node)
        else:
            break
    if not isinstance(node, ast.Call):
        return None
    name, given = last_name(node.func), node.args
    if name in ("bmm", "baddbmm"):
        return 3
    if name in ("view", "reshape", "permute") and not code.torch(node.func):
        if len(given) == 1 and isinstance(given[0], (ast.Tuple, ast.List)):
            given = given[0].elts
        elif len(given) == 1 and constant(given[0]) != -1:
            return None
        return None if has_unpacked(node) else len(given)
    if name == "einsum" and given and isinstance(equation := constant(given[0]), str):
        output = equation.rpartition("->")[2].strip()
        return len(output) if "->" in equation and output.isalpha() else None
    return None


def _gaps(code: Code, node: ast.AST) -> int:
    """How many neighbours among the dimensions of a permuted tensor certainly do not lie one after
    the other in memory: a view has more dimensions than that.
    """
    if not isinstance(node, ast.Call):
        return 0
    function = bool(code.torch(node.func)) and not code.method(node)
    given = node.args[1:] if function else node.args
    base = node.args[0] if function and node.args else receiver(node)
    if not is_fragment(code) and not _is_contiguous(code, base):
        return 0  # it may be in order again
    name = last_name(node.func)
    if name == "permute" and len(given) == 1 and isinstance(given[0], (ast.Tuple, ast.List)):
        given = given[0].elts
    axes = [one for one in map(constant, given) if isinstance(one, int)]
    if len(axes) != len(given) or any(abs(axis) > 64 for axis in axes):  # torch has no more
        return 0
    if name == "permute":
        order = [axis % len(axes) for axis in axes]
    elif name in ("transpose", "swapaxes", "swapdims") and len(axes) == 2:
        low, high = sorted(axes)
        if low < 0 <= high:
            return 1
        first, number = (low, -low) if low < 0 else (0, high + 1)
        order = list(range(number))
        order[low - first], order[high - first] = order[high - first], order[low - first]
    else:
        return 0
    return sum(after != before + 1 for before, after in itertools.pairwise(order))


def _is_contiguous(code: Code, node: ast.AST | None) -> bool:
    """Whether the tensor certainly lies in memory in the order of its dimensions: element by
    element, torch keeps the order of what was permuted.
    """
    value = code.value(node)
    if isinstance(value, ast.BinOp):
        if isinstance(value.op, ast.MatMult):
            return True
        return _is_contiguous(code, value.left) and isinstance(value.right, ast.Constant)
    if not isinstance(value, ast.Call):
        return False
    if last_name(value.func) in SAME_SHAPE and last_name(value.func) != "transpose":
        inner = value.args[0] if code.torch(value.func) and value.args else receiver(value)
        if last_name(value.func) != "contiguous":
            return _is_contiguous(code, inner)
    return last_name(value.func) in ORDERED or code.made_by(value.func, "Linear", "Embedding")
