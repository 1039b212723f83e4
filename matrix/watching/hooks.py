"""The places in torch where a run learns what the program does.

Public hooks exist for optimizer steps from torch 2.0 on. Everywhere else, a function or a method of
torch is replaced by one that calls it and tells the run. Nothing is stored on the program's own
objects, so they can still be copied and pickled. The replacements do nothing while torch compiles,
scripts or traces.
"""

from __future__ import annotations

import functools
import inspect
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
import torch.utils.data.dataloader

from .events import Backward, Batches, Call, Clip, Function, tensors

if TYPE_CHECKING:
    from .run import Run

# Functions of torch.nn.functional that checks are told about. None of them runs once per layer of a
# common model, except for dropout and attention.
FUNCTIONS = (
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "ctc_loss",
    "dropout",
    "gaussian_nll_loss",
    "gumbel_softmax",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "margin_ranking_loss",
    "mse_loss",
    "nll_loss",
    "normalize",
    "scaled_dot_product_attention",
    "smooth_l1_loss",
    "log_softmax",
    "softmax",
    "softmin",
)
# Methods of tensors that checks are told about, and the functions of the same names in torch. None
# of them runs once per layer of a common model, except for tanh.
METHODS = (
    "argmax",
    "eq",
    "ge",
    "gt",
    "isfinite",
    "isnan",
    "item",
    "log_softmax",
    "ne",
    "softmax",
    "std",
    "tanh",
)
OPERATORS = {"__eq__": "eq", "__ge__": "ge", "__gt__": "gt", "__ne__": "ne"}
ATTENTION = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")  # of the builtin
BATCHES = 4  # batches of each iterator that checks are shown, also in steps that are not sampled

PLAIN = (torch.Tensor, torch.nn.Parameter)  # the tensors of compilers have other types

current: Run | None = None
_undo: list[tuple[Any, str, Any, Any]] = []  # owner, name, original (None: inherited), ours
_handles: list[Any] = []
_parents: list[torch.nn.Module] = []  # modules whose forward() is running
_calls_on = False
# Calls of backward() and grad() that are running. Checkpoints call modules in them.
_differentiates = 0
# True once the program has used torch.compile: calls of modules and methods are no longer told.
_compiles = False
_module_call = torch.nn.Module.__call__
_FORWARD = torch.nn.Module._call_impl.__code__

_step_hooks: Any = sys.modules["torch.optim.optimizer"]  # torch.optim hides this module
if not hasattr(_step_hooks, "register_optimizer_step_pre_hook"):
    _step_hooks = None

_is_compiling: Callable[[], bool] = getattr(
    getattr(torch, "compiler", None), "is_compiling", None
) or (torch._dynamo.is_compiling if hasattr(torch, "_dynamo") else bool)


# True for a tensor inside vmap() or grad(), whose value cannot be read.
_is_wrapped: Callable[[Any], bool] = getattr(
    getattr(torch._C, "_functorch", None), "is_functorch_wrapped_tensor", None
) or (lambda tensor: False)


def install(run: Run) -> None:
    """Replaces the functions. remove() restores them."""
    global current
    current = run
    _optimizers()
    _gradients()
    _modules()
    _tensors()
    _distributions()
    _amp()
    _schedulers()
    _loaders()
    _checkpoints()
    _compilers()
    set_calls(run)


def remove(run: Run) -> None:
    """Restores what install() has replaced, unless somebody else has replaced it since."""
    global current, _calls_on, _collated
    current, _collated = None, 0
    while _undo:
        _restore(*_undo.pop())
    while _handles:
        _handles.pop().remove()
    if _calls_on:
        torch.nn.Module.__call__ = _module_call
        _calls_on = False
    _parents.clear()
    _hooked.clear()


def _restore(owner: Any, name: str, original: Any, ours: Any) -> None:
    if vars(owner).get(name) is ours:
        if original is None:
            delattr(owner, name)
        else:
            setattr(owner, name, original)


def _listener() -> Run | None:
    """The run, if it is to be told about an event that happens now."""
    run = current
    return run if run is not None and run.listens() else None


def _replace(
    owner: Any,
    name: str,
    before: Callable[..., Any] | None = None,
    after: Callable[..., Any] | None = None,
) -> None:
    """Replaces owner.name by a function that calls before(run, *args), the original and after().

    The result of before() is passed to after(run, kept, result, *args, **kwargs).
    """
    original = vars(owner).get(name)
    function = getattr(owner, name, None)
    if function is None:
        return  # this release of torch does not have it
    if isinstance(original, (staticmethod, classmethod)):
        function = original.__func__

    @functools.wraps(function)
    def replacement(*args: Any, **kwargs: Any) -> Any:
        if _is_compiling():
            return function(*args, **kwargs)
        run = _listener()
        if run is None:
            return function(*args, **kwargs)
        kept = before(run, *args, **kwargs) if before else None
        result = function(*args, **kwargs)
        if after:
            after(run, kept, result, *args, **kwargs)
        return result

    # Pickle finds a function by these names.
    if isinstance(owner, type):
        replacement.__module__ = owner.__module__
        replacement.__qualname__ = f"{owner.__qualname__}.{name}"
    else:
        replacement.__module__, replacement.__qualname__ = owner.__name__, name
    kind = type(original) if isinstance(original, (staticmethod, classmethod)) else None
    _put(owner, name, kind(replacement) if kind else replacement)


def _put(owner: Any, name: str, replacement: Any) -> None:
    """Sets owner.name, and keeps what remove() needs."""
    _undo.append((owner, name, vars(owner).get(name), replacement))
    setattr(owner, name, replacement)


# Optimizers


def _optimizers() -> None:
    base = torch.optim.Optimizer
    _replace(base, "__init__", after=_optimizer_made)
    _replace(base, "zero_grad", after=lambda run, _, __, owner, *a, **k: run.tell("cleared", owner))
    _replace(base, "load_state_dict", _groups_before, _optimizer_loaded)
    if _step_hooks:
        _handles.append(_step_hooks.register_optimizer_step_pre_hook(_before_step))
        _handles.append(_step_hooks.register_optimizer_step_post_hook(_after_step))


def _optimizer_made(run: Run, _: Any, __: Any, optimizer: Any, *args: Any, **kwargs: Any) -> None:
    if not _step_hooks:
        _hook_class(type(optimizer))
    run.tell("optimizer_made", optimizer)


_hooked: Any = weakref.WeakSet()  # classes of optimizers, before torch 2.0


def _hook_class(kind: Any) -> None:
    if kind not in _hooked:
        _hooked.add(kind)
        _replace(
            kind,
            "step",
            lambda run, optimizer, *a, **k: _before_step(optimizer, a, k),
            lambda run, _, __, optimizer, *a, **k: _after_step(optimizer, a, k),
        )


def _before_step(optimizer: Any, args: Any, kwargs: Any) -> None:
    run = None if _is_compiling() else _listener()
    if run is not None:
        run.tell("each_step", optimizer)
        if run.sampled:
            run.tell("before_step", optimizer)


def _after_step(optimizer: Any, args: Any, kwargs: Any) -> None:
    run = None if _is_compiling() else _listener()
    if run is not None:
        run.facts.step_returned(optimizer)
        if run.sampled:
            run.tell("after_step", optimizer)
        run.step_ended(run.facts.of(optimizer).steps)


def _groups_before(run: Run, optimizer: Any, *args: Any, **kwargs: Any) -> list[dict[str, Any]]:
    return [
        {key: value for key, value in group.items() if key != "params"}
        for group in optimizer.param_groups
    ]


def _optimizer_loaded(
    run: Run, before: Any, _: Any, optimizer: Any, state_dict: Any, *a: Any, **k: Any
) -> None:
    run.facts.of(optimizer).ignore()
    run.tell("optimizer_loaded", optimizer, state_dict, before)


# Gradients


def _gradients() -> None:
    _replace_differentiation("backward", _before_backward, _after_backward)
    _replace_differentiation("grad", _before_grad, _after_grad)
    for name in ("clip_grad_norm_", "clip_grad_value_"):
        _replace_clip(name)


def _replace_differentiation(
    name: str, before: Callable[..., Any], after: Callable[..., None]
) -> None:
    """Checkpoints differentiate inside backward(); only the outer call is told."""
    function = getattr(torch.autograd, name)

    @functools.wraps(function)
    def replacement(*args: Any, **kwargs: Any) -> Any:
        global _differentiates
        if _is_compiling():
            return function(*args, **kwargs)
        run = None if _differentiates else _listener()
        kept = before(run, *args, **kwargs) if run is not None else None
        _differentiates += 1
        try:
            result = function(*args, **kwargs)
        finally:
            _differentiates -= 1
        if run is not None:
            after(run, kept, result)
        return result

    _put(torch.autograd, name, replacement)


def _before_backward(run: Run, *args: Any, **kwargs: Any) -> Backward:
    backward = Backward(list(tensors(args[0] if args else kwargs.get("tensors"))))
    if run.sampled and any(tensor.requires_grad for tensor in backward.tensors):
        backward.read_graph()
    run.tell("before_backward", backward)
    backward.nodes = []  # backward() frees the graph
    return backward


def _after_backward(run: Run, backward: Backward, _: Any) -> None:
    run.facts.backward_returned(backward)
    if run.sampled:
        run.tell("after_backward", backward)


def _before_grad(
    run: Run, outputs: Any, inputs: Any, *args: Any, **kwargs: Any
) -> tuple[Backward, list[torch.Tensor]]:
    create = kwargs.get("create_graph", args[2] if len(args) > 2 else False)
    backward, listed = Backward(list(tensors(outputs))), list(tensors(inputs))
    if run.sampled:
        backward.read_graph()
    run.tell("differentiated", backward.tensors, listed, bool(create))
    return backward, listed


def _after_grad(run: Run, kept: tuple[Backward, list[torch.Tensor]], result: Any) -> None:
    if run.sampled:
        run.tell("after_grad", *kept, list(result))


def _is_used(parameters: Any) -> bool:
    """True if the program has read a generator to its end before, or a filter of it."""
    while isinstance(parameters, filter):
        parameters = parameters.__reduce__()[1][1]
    return inspect.isgenerator(parameters) and parameters.gi_frame is None


def _replace_clip(name: str) -> None:
    """clip_grad_*() may be given a generator, which is read only once: it gets a list instead."""
    owner: Any = torch.nn.utils
    function = getattr(owner, name)

    @functools.wraps(function)
    def replacement(parameters: Any, *args: Any, **kwargs: Any) -> Any:
        if _is_compiling():
            return function(parameters, *args, **kwargs)
        run = _listener()
        if run is None:
            return function(parameters, *args, **kwargs)
        used = _is_used(parameters)
        if isinstance(parameters, Iterator):
            parameters = list(parameters)
        listed = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
        bound = args[0] if args else kwargs.get("max_norm", kwargs.get("clip_value"))
        clip = Clip(name, listed, bound, exhausted=used and not listed)
        run.tell("clipped", clip)
        clip.result = result = function(parameters, *args, **kwargs)
        run.facts.clip_returned()
        if run.sampled:
            run.tell("after_clip", clip)
        return result

    for module in (owner, getattr(owner, "clip_grad", None)):
        if module is not None and getattr(module, name, None) is function:
            _put(module, name, replacement)


# Modules and functions


def _modules() -> None:
    _replace(torch.nn.Module, "train", after=_mode_set)
    _replace(torch.nn.Module, "eval", after=lambda run, _, __, m: run.tell("mode_set", m, False))
    _replace(
        torch.nn.Module, "zero_grad", after=lambda run, _, __, m, *a, **k: run.tell("cleared", m)
    )
    _replace(torch.nn.Module, "load_state_dict", after=_loaded)
    _replace(torch.nn.Module, "state_dict", after=_state_read)
    for name in FUNCTIONS:
        _replace_function(name)
    parallel = torch.nn.parallel.DistributedDataParallel
    _replace(parallel, "__init__", after=lambda run, _, __, ddp, *a, **k: run.tell("ddp_made", ddp))
    _replace(torch.distributed, "all_gather", before=_gather)


def _gather(run: Run, tensor_list: Any, tensor: Any, *args: Any, **kwargs: Any) -> None:
    run.tell("gathered", tensor, torch.is_grad_enabled())


def _mode_set(run: Run, _: Any, __: Any, module: Any, mode: bool = True) -> None:
    if not _parents and not _is_in_forward():
        run.look()
    run.tell("mode_set", module, mode)


def _is_in_forward() -> bool:
    """True if a module is being called, although calls may not be looked at."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if frame.f_code is _FORWARD:
            return True
        frame = frame.f_back
    return False


def _loaded(run: Run, _: Any, result: Any, module: Any, state_dict: Any, *a: Any, **k: Any) -> None:
    run.look()
    run.tell("loaded", module, state_dict, result)


def _state_read(run: Run, _: Any, state: Any, module: Any, *args: Any, **kwargs: Any) -> None:
    if not args and kwargs.get("destination") is None:  # not a call by the parent's state_dict()
        run.tell("state_read", module, state)


def set_calls(run: Run) -> None:
    """Starts or ends the look at module calls.

    Global module hooks do not see keyword arguments, nor a forward() that raises an error. So
    Module.__call__ is replaced, but only while calls are looked at.
    """
    global _calls_on
    on = current is run and run.looks_at_calls and not _compiles
    if on and not _calls_on and torch.nn.Module.__call__ is _module_call:
        torch.nn.Module.__call__ = _watched_call
        _calls_on = True
    elif not on and _calls_on and not _parents and torch.nn.Module.__call__ is _watched_call:
        torch.nn.Module.__call__ = _module_call
        _calls_on = False


@functools.wraps(_module_call)
def _watched_call(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
    if _is_compiling():
        return _module_call(module, *args, **kwargs)
    run = _listener()
    if run is None or torch._C._get_tracing_state():
        return _module_call(module, *args, **kwargs)
    _parents.append(module)
    try:
        output = _module_call(module, *args, **kwargs)
    finally:
        _parents.pop()
    wrapped = any(map(_is_wrapped, tensors((args, kwargs))))
    if run.looks_at_calls and not _differentiates and not wrapped:
        grad = torch.is_grad_enabled()
        run.tell("called", Call(module, args, kwargs, output, tuple(_parents), grad))
        if not _parents:
            run.model_called()
    elif not _parents:
        set_calls(run)
    return output


def _replace_function(name: str) -> None:
    owner: Any = torch.nn.functional
    function = getattr(owner, name, None)
    if function is None:
        return
    try:
        signature: inspect.Signature | None = inspect.signature(function)
    except ValueError:  # a builtin
        signature = None

    def after(run: Run, _: Any, result: Any, *args: Any, **kwargs: Any) -> None:
        if not run.sampled or not run.looks_at_calls or _differentiates:
            return
        if signature is None:
            arguments = {**dict(zip(ATTENTION, args)), **kwargs}
            given = frozenset(arguments)
        else:
            bound = signature.bind(*args, **kwargs)
            given = frozenset(bound.arguments)
            bound.apply_defaults()
            arguments = bound.arguments
        given_tensors = [v for v in arguments.values() if isinstance(v, torch.Tensor)]
        if not given_tensors or any(map(_is_wrapped, given_tensors)):  # none while torch.fx traces
            return
        grad = torch.is_grad_enabled()
        run.tell("function", Function(name, arguments, result, tuple(_parents), grad, given))

    _replace(owner, name, after=after)


# Tensors and distributions


def _tensors() -> None:
    for name in () if _compiles else METHODS:
        for owner in (torch.Tensor, torch):
            _replace(owner, name, after=_method_of(name))
    for name, plain in () if _compiles else OPERATORS.items():
        _replace(torch.Tensor, name, after=_method_of(plain))
    for kind in (torch.no_grad, torch.inference_mode):
        _replace(kind, "__call__", before=_decorating)


def _method_of(name: str) -> Callable[..., None]:
    def after(run: Run, _: Any, result: Any, *args: Any, **kwargs: Any) -> None:
        if run.sampled and not _differentiates:
            own = args[0] if args else kwargs.get("input")
            if type(own) in PLAIN and not _is_wrapped(own):
                arguments = {**kwargs, "input": own, "others": args[1:]}
                grad = torch.is_grad_enabled()
                run.tell("method", Function(name, arguments, result, tuple(_parents), grad))

    return after


def _decorating(run: Run, context: Any, function: Any = None, *args: Any, **kwargs: Any) -> None:
    run.tell("decorating", context, function)


def _distributions() -> None:
    for kind in [value for value in vars(torch.distributions).values() if isinstance(value, type)]:
        for name in ("sample", "rsample", "log_prob"):
            if name in vars(kind):
                _replace(kind, name, after=_drawn_from(name))


def _drawn_from(name: str) -> Callable[..., None]:
    def after(run: Run, _: Any, result: Any, own: Any, *args: Any, **kwargs: Any) -> None:
        if run.sampled:
            scored = next(iter((*args, *kwargs.values())), None)
            run.tell("drawn", name, own, scored if name == "log_prob" else result)

    return after


# Mixed precision


def _amp() -> None:
    _replace(torch.autocast, "__exit__", after=lambda run, *a, **k: run.tell("autocast_ended"))
    kinds = {torch.cuda.amp.GradScaler, getattr(torch.amp, "GradScaler", torch.cuda.amp.GradScaler)}
    for kind in kinds:
        for name, before, after in (
            ("__init__", None, _scaler_made),
            ("scale", None, _scaled),
            ("unscale_", _unscale, _unscaled),
            ("step", None, _scaler_stepped),
            (
                "update",
                None,
                lambda run, _, __, scaler, *a, **k: run.tell("scaler_updated", scaler),
            ),
        ):
            if name in vars(kind):
                _replace(kind, name, before, after)


def _scaler_made(run: Run, _: Any, __: Any, scaler: Any, *args: Any, **kwargs: Any) -> None:
    last = args[-1] if args else True  # `enabled`, if all arguments are positional
    run.tell("scaler_made", scaler, bool(kwargs.get("enabled", last is not False)))


def _scaled(run: Run, _: Any, result: Any, scaler: Any, *args: Any, **kwargs: Any) -> None:
    if scaler.is_enabled():
        run.facts.scaled(list(tensors(result)))


def _unscale(run: Run, scaler: Any, optimizer: Any, *args: Any, **kwargs: Any) -> None:
    if scaler.is_enabled():
        run.tell("unscaled", scaler, optimizer)


def _unscaled(run: Run, _: Any, __: Any, scaler: Any, optimizer: Any, *a: Any, **k: Any) -> None:
    run.facts.unscale_returned(optimizer)


def _scaler_stepped(
    run: Run, _: Any, __: Any, scaler: Any, optimizer: Any, *args: Any, **kwargs: Any
) -> None:
    gradients = run.facts.of(optimizer)
    stepped, gradients.scaled_steps = gradients.steps != gradients.scaled_steps, gradients.steps
    run.tell("scaler_stepped", scaler, optimizer, stepped)


# Learning rates


def _schedulers() -> None:
    schedulers: Any = torch.optim.lr_scheduler
    bases = (
        getattr(schedulers, "LRScheduler", None),
        getattr(schedulers, "_LRScheduler", None),
        schedulers.ReduceLROnPlateau,
    )
    for base in {each for each in bases if each is not None}:
        _replace(base, "__init__", after=_scheduler_made)
    for kind in {value for value in vars(schedulers).values() if isinstance(value, type)}:
        if "step" in vars(kind) and kind.__module__ == schedulers.__name__:
            _replace(kind, "step", _before_schedule, _after_schedule)


_schedulers_made: Any = weakref.WeakSet()  # the first step of a scheduler is part of its __init__()


def _scheduler_made(run: Run, _: Any, __: Any, scheduler: Any, *args: Any, **kwargs: Any) -> None:
    if scheduler not in _schedulers_made:
        _schedulers_made.add(scheduler)
        run.tell("scheduler_made", scheduler, scheduler.optimizer)


def _before_schedule(run: Run, scheduler: Any, metrics: Any = None, *a: Any, **k: Any) -> None:
    if scheduler in _schedulers_made:
        run.tell("before_schedule", scheduler, metrics)


def _after_schedule(
    run: Run, _: Any, __: Any, scheduler: Any, metrics: Any = None, *a: Any, **k: Any
) -> None:
    if scheduler in _schedulers_made:
        run.tell("after_schedule", scheduler, metrics)


# Data


_batches: dict[int, tuple[Any, Batches]] = {}  # by id of the iterator
_numbers: Any = weakref.WeakKeyDictionary()  # iterators per loader


def _loaders() -> None:
    iterator: Any = torch.utils.data.dataloader._BaseDataLoaderIter
    _replace(iterator, "__init__", after=_loader_started)
    _replace_next(iterator)
    _replace(torch.utils.data._utils.collate, "collate", before=_collating)


_collated = 0  # batches that this process has collated


def _collating(run: Run, samples: Any, *args: Any, **kwargs: Any) -> None:
    global _collated
    outer = sys._getframe(2).f_code.co_name == "default_collate"  # collate() calls itself
    if outer and _collated < BATCHES:
        _collated += 1
        run.tell("collating", samples)


def _loader_started(
    run: Run, _: Any, __: Any, iterator: Any, loader: Any, *a: Any, **k: Any
) -> None:
    run.look()  # perhaps the start of an evaluation
    number = _numbers[loader] = _numbers.get(loader, 0) + 1
    batches = Batches(loader, number, run.step)
    for key in [key for key, (reference, _) in _batches.items() if reference() is None]:
        del _batches[key]
    _batches[id(iterator)] = (weakref.ref(iterator), batches)
    run.tell("loader_started", batches)


def _replace_next(iterator: Any) -> None:
    function = iterator.__next__

    @functools.wraps(function)
    def replacement(self: Any) -> Any:
        run = _listener()
        known = _batches.get(id(self)) if run is not None else None
        if run is None or known is None or known[0]() is not self:
            return function(self)
        batches = known[1]
        try:
            batch = function(self)
        except StopIteration:
            if not batches.ended:
                batches.ended = True
                run.tell("loader_ended", batches)
            raise
        batches.count += 1
        if run.sampled or batches.count <= BATCHES:
            run.tell("batch", batches, batch)
        return batch

    _put(iterator, "__next__", replacement)


# Checkpoints and seeds


def _checkpoints() -> None:
    _replace(torch, "save", before=lambda run, obj, *a, **k: run.tell("saved", obj))
    _replace(torch, "manual_seed", before=lambda run, seed, *a, **k: run.tell("seeded", seed))
    for owner in (torch, torch.random):
        _replace(owner, "set_rng_state", before=lambda run, *a, **k: run.tell("random_state_set"))


# Compilers


def _compilers() -> None:
    _replace_compiler(torch, "compile")
    _replace_compiler(torch.jit, "script")
    _replace_compiler(torch.jit, "trace")


def _restore_methods() -> None:
    """Restores the methods of tensors, because torch.compile cannot read all replacements."""
    names = {*METHODS, *OPERATORS}
    for entry in [each for each in _undo if each[0] in (torch, torch.Tensor) and each[1] in names]:
        _undo.remove(entry)
        _restore(*entry)


def _replace_compiler(owner: Any, name: str) -> None:
    """While torch.jit reads code, torch is as it was. After torch.compile, calls of modules and
    methods of tensors stay so.
    """
    function = getattr(owner, name, None)
    if function is None:
        return

    @functools.wraps(function)
    def replacement(*args: Any, **kwargs: Any) -> Any:
        global _compiles
        if name == "compile" and current is not None:
            _compiles = True
            set_calls(current)
            _restore_methods()
            return function(*args, **kwargs)
        with _originals():
            return function(*args, **kwargs)

    _put(owner, name, replacement)


@contextmanager
def _originals() -> Iterator[None]:
    """Puts the original functions back for a while."""
    owners: tuple[Any, ...] = (torch.nn.functional, torch)
    ours = [
        (owner, name, getattr(owner, name))
        for owner, names in zip(owners, (FUNCTIONS, METHODS))
        for name in names
        if hasattr(owner, name)
    ]
    for owner, name, function in ours:
        setattr(owner, name, getattr(function, "__wrapped__", function))
    try:
        yield
    finally:
        for owner, name, function in ours:
            setattr(owner, name, function)
