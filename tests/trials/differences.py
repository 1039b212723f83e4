"""Compares two ways of computing the same result in torch, on generated examples.

    python -m tests.trials.differences [PAIR]... [--examples N]

A *pair* is a strategy for examples and a function that computes the result of an example in two
ways: the plain and the fused step of an optimizer, a layer on a tensor and on its transposed
copy, an uninterrupted and a resumed scheduler. If the two results differ, Hypothesis searches for
the smallest such example, and the trial prints it. The difference may be a bug in torch. If a
reproducer shows this bug, KNOWN names the reproducer and the examples that it explains.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import io
import itertools
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import click
import hypothesis
import torch
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F
from torch.optim import lr_scheduler

from tests.trials.shared import finish

Example = dict[str, Any]


@dataclasses.dataclass
class Pair:
    name: str
    examples: st.SearchStrategy[Example]
    sides: Callable[..., tuple[Callable[[], Any], Callable[[], Any]]]
    tolerance: float


@dataclasses.dataclass
class Difference:
    example: Example
    one: Any
    other: Any

    def __str__(self) -> str:
        return f"{self.example}\n  one:   {self.one}\n  other: {self.other}"


PAIRS: dict[str, Pair] = {}
SETTINGS = hypothesis.settings(
    database=None,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(hypothesis.HealthCheck),
)


def pair(tolerance: float = 1e-4, **examples: st.SearchStrategy[Any]) -> Callable[..., Any]:
    """Registers a function that returns the two ways for an example as callables."""

    def register(sides: Callable[..., Any]) -> Callable[..., Any]:
        name = sides.__name__
        PAIRS[name] = Pair(name, st.fixed_dictionaries(examples), sides, tolerance)
        return sides

    return register


# ---- comparing ----


def leaves(result: Any) -> Iterator[Tensor]:
    """Yields the tensors and numbers of a result, in order, as float64."""
    if isinstance(result, (list, tuple)):
        for entry in result:
            yield from leaves(entry)
    else:
        yield torch.as_tensor(result).detach().double()


def same(one: Any, other: Any, tolerance: float) -> bool:
    """True if both results are errors, or equal up to a fraction of the largest value.

    NotImplementedError from torch does not count as a difference.
    """
    if isinstance(one, NotImplementedError) or isinstance(other, NotImplementedError):
        return True
    if isinstance(one, Exception) or isinstance(other, Exception):
        return isinstance(one, Exception) and isinstance(other, Exception)
    for a, b in itertools.zip_longest(leaves(one), leaves(other)):
        if a is None or b is None or a.shape != b.shape:
            return False
        finite = a[a.isfinite()].abs()
        scale = max(1.0, finite.max().item()) if finite.numel() else 1.0
        if not torch.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True):
            return False
    return True


def outcome(way: Callable[[], Any]) -> Any:
    try:
        return way()
    except Exception as error:
        return error


def differs(pair: Pair, example: Example) -> Difference | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, other = (outcome(way) for way in pair.sides(**example))
    return None if same(one, other, pair.tolerance) else Difference(example, one, other)


def smallest(pair: Pair, examples: int) -> Difference | None:
    """The smallest example whose results differ and that no reproducer explains."""
    known = [explains for _, explains in KNOWN.get(pair.name, ())]

    def unexplained(example: Example) -> bool:
        return not any(explains(example) for explains in known) and bool(differs(pair, example))

    settings = hypothesis.settings(SETTINGS, max_examples=examples)
    try:
        return differs(pair, hypothesis.find(pair.examples, unexplained, settings=settings))
    except hypothesis.errors.NoSuchExample:
        return None


# ---- tensors ----

LAYOUTS: dict[str, Callable[[Tensor], Tensor]] = {
    "contiguous": lambda x: x.clone(memory_format=torch.contiguous_format),
    "transposed": lambda x: x.transpose(0, -1).contiguous().transpose(0, -1),
    "sliced": lambda x: torch.stack([x, x], -1)[..., 0],
    "channels_last": lambda x: (
        x.contiguous(memory_format=torch.channels_last) if x.dim() == 4 else x.clone()
    ),
}
DTYPES = {name: getattr(torch, name) for name in ("float32", "bfloat16", "float16")}


def numbers(kind: str, *size: int, seed: int = 0) -> Tensor:
    """float64 values that bfloat16 represents exactly."""
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randint(-64, 65, size, generator=generator).double() / 16
    return {
        "drawn": drawn,
        "zeros": torch.zeros_like(drawn),
        "ones": torch.ones_like(drawn),
        "ties": drawn.round().clamp(-1, 1),
    }[kind]


KINDS = st.sampled_from(["drawn", "ones", "zeros", "ties"])
LAYOUT = st.sampled_from(list(LAYOUTS))

# ---- optimizers ----

NUMBERS: dict[str, st.SearchStrategy[Any]] = {
    "lr": st.sampled_from([0.1, 1.0, 0.0]),
    "weight_decay": st.sampled_from([0.0, 0.1]),
    "maximize": st.booleans(),
    "amsgrad": st.booleans(),
    "momentum": st.sampled_from([0.0, 0.9]),
    "dampening": st.sampled_from([0.0, 0.5]),
    "nesterov": st.booleans(),
    "centered": st.booleans(),
    "lr_decay": st.sampled_from([0.0, 0.1]),
    "initial_accumulator_value": st.sampled_from([0.0, 0.5]),
    "decoupled_weight_decay": st.booleans(),
    "lambd": st.sampled_from([1e-4, 0.5]),
    "t0": st.sampled_from([1e6, 1.0]),
    "eps": st.sampled_from([1e-8, 0.1]),
}
ADAM = ("amsgrad", "eps")
OPTIMIZERS: dict[str, tuple[str, ...]] = {
    "SGD": ("momentum", "dampening", "nesterov"),
    "Adam": ADAM,
    "AdamW": ADAM,
    "NAdam": ("decoupled_weight_decay", "eps"),
    "RAdam": ("decoupled_weight_decay", "eps"),
    "RMSprop": ("momentum", "centered", "eps"),
    "Adagrad": ("lr_decay", "initial_accumulator_value", "eps"),
    "Adadelta": ("eps",),
    "Adamax": ("eps",),
    "ASGD": ("lambd", "t0"),
    "Rprop": (),
    "Adafactor": (),
}
FUSED = ("SGD", "Adam", "AdamW", "Adagrad")


@st.composite
def options(draw: st.DrawFn, names: Iterable[str] = tuple(OPTIMIZERS)) -> Example:
    name = draw(st.sampled_from([name for name in names if hasattr(torch.optim, name)]))
    asked = ("lr", "maximize", *OPTIMIZERS[name])
    if name != "Rprop":
        asked += ("weight_decay",)
    use = {"name": name, **{key: draw(NUMBERS[key]) for key in asked}}
    if use.get("nesterov"):
        use |= {"momentum": 0.9, "dampening": 0.0}  # nesterov requires these values
    return use


def optimizer(parameters: Any, name: str, **options: Any) -> Any:
    return getattr(torch.optim, name)(parameters, **options)


def gradients(parameters: list[Tensor], kind: str, layout: str, step: int) -> None:
    for parameter in parameters:
        values = numbers(kind, *parameter.shape, seed=step).to(parameter.dtype)
        parameter.grad = LAYOUTS[layout](values)


def parameters_of(sizes: list[tuple[int, ...]], dtype: str, layout: str) -> list[Tensor]:
    tensors = [numbers("drawn", *size, seed=90 + size[0]).to(DTYPES[dtype]) for size in sizes]
    return [nn.Parameter(LAYOUTS[layout](values)) for values in tensors]


def train(parameters: list[Tensor], optimizer: Any, kind: str, layout: str, steps: range) -> None:
    for step in steps:
        gradients(parameters, kind, layout, step)
        optimizer.step()


SIZES = st.lists(st.sampled_from([(2,), (3, 5), (0,), (2, 3, 4, 5), (17, 1)]), min_size=1)
TRAINING: dict[str, st.SearchStrategy[Any]] = {
    "sizes": SIZES,
    "dtype": st.sampled_from(list(DTYPES)),
    "layout": LAYOUT,
    "grad_layout": LAYOUT,
    "kind": KINDS,
}


def trained(
    use: Example,
    sizes: list[tuple[int, ...]],
    dtype: str,
    layout: str,
    grad_layout: str,
    kind: str,
    **extra: Any,
) -> list[Tensor]:
    parameters = parameters_of(sizes, dtype, layout)
    train(parameters, optimizer(parameters, **use, **extra), kind, grad_layout, range(3))
    return parameters


@pair(**{**TRAINING, "dtype": st.just("float32")}, use=options())
def optimizer_foreach(**example: Any) -> Any:
    return lambda: trained(foreach=False, **example), lambda: trained(foreach=True, **example)


@pair(**TRAINING, use=options(FUSED), tolerance=0.02)
def optimizer_fused(**example: Any) -> Any:
    return lambda: trained(foreach=False, **example), lambda: trained(fused=True, **example)


@pair(**{**TRAINING, "dtype": st.just("float32")}, use=options())
def optimizer_tensor_lr(use: Example, **example: Any) -> Any:
    tensor = {**use, "lr": torch.tensor(use["lr"])}
    return tuple(
        functools.partial(trained, use=each, foreach=False, **example) for each in (use, tensor)
    )


@pair(**{**TRAINING, "dtype": st.just("float32")}, use=options(), foreach=st.booleans())
def optimizer_layout(layout: str, grad_layout: str, **example: Any) -> Any:
    changed = functools.partial(trained, layout=layout, grad_layout=grad_layout, **example)
    return changed, functools.partial(
        trained, layout="contiguous", grad_layout="contiguous", **example
    )


@pair(**{**TRAINING, "dtype": st.just("float32")}, use=options(), foreach=st.booleans())
def optimizer_alone(sizes: list[tuple[int, ...]], **example: Any) -> Any:
    """One optimizer for all parameters, or one optimizer per parameter."""
    return (
        lambda: trained(sizes=sizes, **example),
        lambda: [trained(sizes=[size], **example)[0] for size in sizes],
    )


def complex_trained(real: bool, foreach: bool, kind: str, use: Example) -> Tensor:
    values = torch.view_as_complex(numbers("drawn", 3, 2).float())
    parameter = nn.Parameter(torch.view_as_real(values).clone() if real else values.clone())
    trained_by = optimizer([parameter], foreach=foreach, **use)
    for step in range(3):
        grad = numbers(kind, 3, 2, seed=step).float()
        parameter.grad = grad if real else torch.view_as_complex(grad)
        trained_by.step()
    return parameter if real else torch.view_as_real(parameter)


@pair(use=options(), foreach=st.booleans(), kind=KINDS)
def optimizer_complex(**example: Any) -> Any:
    """A complex parameter, or a real parameter that contains the two parts."""
    return lambda: complex_trained(False, **example), lambda: complex_trained(True, **example)


def saved(state: Any) -> Any:
    """The state after a round trip through a file."""
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


@pair(
    **{**TRAINING, "dtype": st.just("float32")},
    use=options(),
    foreach=st.booleans(),
    before=st.integers(0, 2),
    how=st.sampled_from(["state", "copy"]),
)
def optimizer_resumed(use: Example, foreach: bool, before: int, how: str, **example: Any) -> Any:
    sizes, dtype, layout = (example[key] for key in ("sizes", "dtype", "layout"))
    kind, grad_layout = example["kind"], example["grad_layout"]

    def resumed() -> Any:
        parameters = parameters_of(sizes, dtype, layout)
        made = optimizer(parameters, foreach=foreach, **use)
        train(parameters, made, kind, grad_layout, range(before))
        if how == "copy":
            parameters, made = copy.deepcopy((parameters, made))
        else:
            state = saved(made.state_dict())
            made = getattr(torch.optim, use["name"])(parameters)
            made.load_state_dict(state)
        train(parameters, made, kind, grad_layout, range(before, 3))
        return parameters

    return lambda: trained(use=use, foreach=foreach, **example), resumed


# ---- schedulers ----

SCHEDULERS: dict[str, Callable[..., Any]] = {
    "StepLR": lambda o, **k: lr_scheduler.StepLR(o, 2, 0.5, **k),
    "MultiStepLR": lambda o, **k: lr_scheduler.MultiStepLR(o, [1, 3], 0.5, **k),
    "ConstantLR": lambda o, **k: lr_scheduler.ConstantLR(o, 0.5, 3, **k),
    "LinearLR": lambda o, **k: lr_scheduler.LinearLR(o, 0.25, 1.0, 3, **k),
    "ExponentialLR": lambda o, **k: lr_scheduler.ExponentialLR(o, 0.5, **k),
    "PolynomialLR": lambda o, **k: lr_scheduler.PolynomialLR(o, 4, 2.0, **k),
    "LambdaLR": lambda o, **k: lr_scheduler.LambdaLR(o, lambda n: 0.5**n, **k),
    "MultiplicativeLR": lambda o, **k: lr_scheduler.MultiplicativeLR(o, lambda n: 0.5, **k),
    "CosineAnnealingLR": lambda o, **k: lr_scheduler.CosineAnnealingLR(o, 3, 0.01, **k),
    "CosineAnnealingWarmRestarts": lambda o, **k: lr_scheduler.CosineAnnealingWarmRestarts(
        o, 2, 2, **k
    ),
    "CyclicLR": lambda o, **k: lr_scheduler.CyclicLR(o, 0.1, 1.0, 2, mode="exp_range", **k),
    "OneCycleLR": lambda o, **k: lr_scheduler.OneCycleLR(o, 1.0, 8, **k),
    "OneCycleLR, three phases": lambda o, **k: lr_scheduler.OneCycleLR(
        o, 1.0, 8, three_phase=True, anneal_strategy="linear", **k
    ),
    "SWALR": lambda o, **k: torch.optim.swa_utils.SWALR(o, 0.05, 3, **k),
    "SequentialLR": lambda o, **k: lr_scheduler.SequentialLR(
        o, [lr_scheduler.LinearLR(o, 0.25, 1.0, 2), lr_scheduler.ExponentialLR(o, 0.5)], [2], **k
    ),
    "ChainedScheduler": lambda o, **k: lr_scheduler.ChainedScheduler(
        [lr_scheduler.LinearLR(o, 0.25, 1.0, 2, **k), lr_scheduler.ExponentialLR(o, 0.5, **k)]
    ),
}
SCHEDULER = st.sampled_from(list(SCHEDULERS))


def stepper(tensor_lr: bool, name: str) -> Any:
    lrs = [torch.tensor(lr) if tensor_lr else lr for lr in (1.0, 0.5)]
    groups = [{"params": [nn.Parameter(torch.ones(1))], "lr": lr} for lr in lrs]
    return getattr(torch.optim, name)(groups, lr=lrs[0])


def rates(made: Any, scheduler: Any, steps: int) -> list[float]:
    seen = []
    for _ in range(steps):
        made.step()
        scheduler.step()
        seen += [float(group["lr"]) for group in made.param_groups]
        seen += [float(group.get("momentum", 0.0)) for group in made.param_groups]
    return seen


SCHEDULE = {
    "name": SCHEDULER,
    "optimizer": st.sampled_from(["SGD", "Adam"]),
    "before": st.integers(0, 6),
}


@pair(**SCHEDULE, tensor_lr=st.booleans(), how=st.sampled_from(["state", "last_epoch", "copy"]))
def scheduler_resumed(name: str, optimizer: str, tensor_lr: bool, before: int, how: str) -> Any:
    make = SCHEDULERS[name]
    if how == "last_epoch":
        before = max(before, 1)

    def through() -> Any:
        made = stepper(tensor_lr, optimizer)
        scheduler = make(made)
        rates(made, scheduler, before)
        return rates(made, scheduler, 4)

    def resumed() -> Any:
        made = stepper(tensor_lr, optimizer)
        scheduler = make(made)
        rates(made, scheduler, before)
        if how == "copy":
            made, scheduler = copy.deepcopy((made, scheduler))
        else:
            state, state_of_scheduler = made.state_dict(), scheduler.state_dict()
            made = stepper(tensor_lr, optimizer)
            if how == "state":
                scheduler = make(made)
                scheduler.load_state_dict(state_of_scheduler)
            made.load_state_dict(copy.deepcopy(state))
            if how == "last_epoch":
                scheduler = make(made, last_epoch=before - 1)  # takes the first step
        return rates(made, scheduler, 4)

    return through, resumed


@pair(**SCHEDULE)
def scheduler_tensor_lr(name: str, optimizer: str, before: int) -> Any:
    def way(tensor_lr: bool) -> Any:
        made = stepper(tensor_lr, optimizer)
        return rates(made, SCHEDULERS[name](made), before + 1)

    return lambda: way(False), lambda: way(True)


# ---- functions and layers: x has four dimensions and 4 channels ----

W = numbers("drawn", 4, seed=5)
FUNCTIONS: dict[str, Callable[[Tensor, Tensor], Any]] = {
    "relu": lambda x, w: F.relu(x),
    "prelu": lambda x, w: F.prelu(x, w),
    "gelu": lambda x, w: F.gelu(x, approximate="tanh"),
    "elu": lambda x, w: F.elu(x, 2.0),
    "celu": lambda x, w: F.celu(x, 2.0),
    "softplus": lambda x, w: F.softplus(x, 2.0, 1.0),
    "hardswish": lambda x, w: F.hardswish(x),
    "hardshrink": lambda x, w: F.hardshrink(x),
    "logsigmoid": lambda x, w: F.logsigmoid(x),
    "glu": lambda x, w: F.glu(x, 1),
    "softmax": lambda x, w: F.softmax(x, 1),
    "log_softmax": lambda x, w: F.log_softmax(x, 1),
    "normalize": lambda x, w: F.normalize(x, dim=1, eps=0.01),
    "batch_norm": lambda x, w: F.batch_norm(x, None, None, w, w, True),
    "instance_norm": lambda x, w: F.instance_norm(x, weight=w, bias=w),
    "group_norm": lambda x, w: F.group_norm(x, 2, w, w),
    "layer_norm": lambda x, w: F.layer_norm(x.movedim(1, -1), (4,), w, w),
    "rms_norm": lambda x, w: F.rms_norm(x.movedim(1, -1), (4,), w, 1e-3),
    "linear": lambda x, w: F.linear(x.movedim(1, -1), w.expand(3, 4), w[:3]),
    "conv2d": lambda x, w: F.conv2d(x, w.view(1, 4, 1, 1).expand(3, 4, 2, 2), w[:3], padding=1),
    "conv2d of groups": lambda x, w: F.conv2d(x, w.view(4, 1, 1, 1).expand(4, 1, 2, 2), groups=4),
    "conv_transpose2d": lambda x, w: F.conv_transpose2d(
        x, w.view(4, 1, 1, 1).expand(4, 2, 2, 2), stride=2
    ),
    "max_pool2d": lambda x, w: F.max_pool2d(x, 3, 1, 1),
    "max_pool2d with holes": lambda x, w: F.max_pool2d(x, 2, 1, dilation=2, ceil_mode=True),
    "avg_pool2d": lambda x, w: F.avg_pool2d(x, 2, 2, 1, True, False),
    "lp_pool2d": lambda x, w: F.lp_pool2d(x, 2, 2),
    "adaptive_max_pool2d": lambda x, w: F.adaptive_max_pool2d(x, 2),
    "adaptive_avg_pool2d": lambda x, w: F.adaptive_avg_pool2d(x, 2),
    "pad with its edge": lambda x, w: F.pad(x, (2, 1, 3, 0), "replicate"),
    "pad by reflection": lambda x, w: F.pad(x, (1, 1, 1, 1), "reflect"),
    "pad around": lambda x, w: F.pad(x, (1, 2, 1, 0), "circular"),
    "bilinear": lambda x, w: F.interpolate(x, size=(5, 3), mode="bilinear"),
    "bilinear, antialiased": lambda x, w: F.interpolate(
        x, size=(5, 3), mode="bilinear", antialias=True
    ),
    "bicubic": lambda x, w: F.interpolate(x, scale_factor=1.7, mode="bicubic"),
    "nearest": lambda x, w: F.interpolate(x, scale_factor=0.6),
    "pixel_shuffle": lambda x, w: F.pixel_shuffle(x, 2),
    "pixel_unshuffle": lambda x, w: F.pixel_unshuffle(x[..., :2, :2], 2),
    "unfold": lambda x, w: F.unfold(x, 2, padding=1),
    "fold": lambda x, w: F.fold(x.flatten(2), (x.shape[2] + 1, x.shape[3] + 1), 2),
    "grid_sample": lambda x, w: F.grid_sample(x, x[:, :2].movedim(1, -1) / 4),
    "mean": lambda x, w: x.mean((0, 2)),
    "var": lambda x, w: x.var((0, 2)),
    "std": lambda x, w: x.std(1),
    "norm": lambda x, w: x.norm(dim=1),
    "norm of order 3": lambda x, w: torch.linalg.vector_norm(x, 3, dim=(1, 2)),
    "norm of order inf": lambda x, w: torch.linalg.vector_norm(x, torch.inf, dim=1),
    "logsumexp": lambda x, w: x.logsumexp((1, 2)),
    "cumsum": lambda x, w: x.cumsum(2),
    "cumprod": lambda x, w: x.cumprod(1),
    "cummax": lambda x, w: x.cummax(1).values,
    "logcumsumexp": lambda x, w: x.logcumsumexp(1),
    "prod": lambda x, w: x.prod(1),
    "amax": lambda x, w: x.amax((1, 3)),
    "median": lambda x, w: x.median(1).values,
    "sort": lambda x, w: x.sort(1).values,
    "topk": lambda x, w: x.topk(2, 1).values,
    "renorm": lambda x, w: x.renorm(2, 1, 1.0),
    "clamp": lambda x, w: x.clamp(-1, 1),
    "where": lambda x, w: torch.where(x > 0, x, w.view(-1, 1, 1)),
    "index": lambda x, w: x[:, [0, 0, 2]],
    "index_select": lambda x, w: x.index_select(1, torch.tensor([0, 0, 2])),
    "take": lambda x, w: x.take(torch.tensor([0, 5, 5])),
    "masked_select": lambda x, w: x.masked_select(x > 0),
    "index_add": lambda x, w: x.index_add(1, torch.tensor([0, 0]), x[:, :2]),
    "index_copy": lambda x, w: x.index_copy(1, torch.tensor([0, 1]), x[:, 2:]),
    "scatter_add": lambda x, w: x.scatter_add(1, torch.zeros_like(x, dtype=torch.long), x),
    "scatter_reduce mean": lambda x, w: x.scatter_reduce(
        1, torch.zeros_like(x, dtype=torch.long), x, "mean"
    ),
    "scatter_reduce amax": lambda x, w: x.scatter_reduce(
        1, torch.zeros_like(x, dtype=torch.long), x, "amax"
    ),
    "roll": lambda x, w: x.roll((1, 2), (1, 2)),
    "flip": lambda x, w: x.flip(1, 2),
    "tril": lambda x, w: x.tril(-1),
    "diagonal": lambda x, w: x.diagonal(0, 1, 2),
    "repeat_interleave": lambda x, w: x.repeat_interleave(torch.tensor([1, 0, 2, 3]), 1),
    "cdist": lambda x, w: torch.cdist(x, x.flip(2)),
    "cdist of order 1": lambda x, w: torch.cdist(x, x.flip(2), p=1.0),
    "pairwise_distance": lambda x, w: F.pairwise_distance(x, x.flip(1)),
    "cosine_similarity": lambda x, w: F.cosine_similarity(x, x.flip(1)),
    "attention": lambda x, w: F.scaled_dot_product_attention(x, x, x, is_causal=True),
    "cross_entropy": lambda x, w: F.cross_entropy(
        x, x.argmin(1), weight=w.abs(), label_smoothing=0.1
    ),
    "nll_loss": lambda x, w: F.nll_loss(x, x.argmin(1), weight=w.abs() + 1, ignore_index=0),
    "huber_loss": lambda x, w: F.huber_loss(x, x.flip(1), delta=0.5),
    "smooth_l1_loss": lambda x, w: F.smooth_l1_loss(x, x.flip(1), beta=0.5),
    "kl_div": lambda x, w: F.kl_div(x, x.flip(1), log_target=True),
    "bce": lambda x, w: F.binary_cross_entropy_with_logits(
        x, x.flip(1).sigmoid(), pos_weight=w.view(-1, 1, 1).abs()
    ),
    "bilinear layer": lambda x, w: F.bilinear(
        x.movedim(1, -1), x.movedim(1, -1), w.view(1, 4, 1).expand(2, 4, 4)
    ),
    "einsum": lambda x, w: torch.einsum("nchw,c->nhw", x, w),
    "matmul": lambda x, w: x @ x.mT,
    "embedding_bag": lambda x, w: F.embedding_bag(
        torch.tensor([[0, 1, 1]]), x[0].flatten(1), mode="mean"
    ),
}


def forward_backward(name: str, x: Tensor, w: Tensor) -> list[Tensor]:
    """The value, and the gradients of x and w for a non-constant output gradient."""
    x, w = x.detach().requires_grad_(), w.detach().requires_grad_()
    y = FUNCTIONS[name](x, w)
    back = numbers("drawn", *y.shape, seed=3).to(y.dtype)
    grads = torch.autograd.grad(y, (x, w), back, allow_unused=True)
    return [y, *(grad for grad in grads if grad is not None)]


def but(*names: str) -> st.SearchStrategy[str]:
    return st.sampled_from([name for name in FUNCTIONS if name not in names])


CALL: dict[str, st.SearchStrategy[Any]] = {
    "name": but(),
    "kind": KINDS,
    "n": st.sampled_from([2, 1, 3]),
    "h": st.sampled_from([4, 5, 9]),
    "w": st.sampled_from([4, 3, 17]),
}


@pair(**CALL, layout=LAYOUT, dtype=st.sampled_from(list(DTYPES)), tolerance=0.02)
def function_layout(name: str, kind: str, n: int, h: int, w: int, layout: str, dtype: str) -> Any:
    x, weight = numbers(kind, n, 4, h, w).to(DTYPES[dtype]), W.to(DTYPES[dtype])
    return tuple(
        functools.partial(forward_backward, name, LAYOUTS[each](x), weight)
        for each in (layout, "contiguous")
    )


@pair(**CALL, dim=st.integers(0, 3), tolerance=1e-4)
def function_expanded(name: str, kind: str, n: int, h: int, w: int, dim: int) -> Any:
    x = numbers(kind, n, 4, h, w).float()
    x = x.narrow(dim, 0, 1).expand_as(x)
    return tuple(
        functools.partial(forward_backward, name, each, W.float()) for each in (x, x.contiguous())
    )


LOW = st.sampled_from(["bfloat16", "float16"])


@pair(**{**CALL, "name": but("grid_sample")}, dtype=LOW, layout=LAYOUT, tolerance=0.05)
def function_precision(
    name: str, kind: str, n: int, h: int, w: int, dtype: str, layout: str
) -> Any:
    x = LAYOUTS[layout](numbers(kind, n, 4, h, w))
    return tuple(
        functools.partial(forward_backward, name, x.to(each), W.to(each))
        for each in (DTYPES[dtype], torch.float64)
    )


# the result shapes of these functions depend on the values
MAPPED = {**CALL, "name": but("masked_select", "cross_entropy")}


@pair(**MAPPED, layout=LAYOUT)
def function_vmap(name: str, kind: str, n: int, h: int, w: int, layout: str) -> Any:
    x = LAYOUTS[layout](numbers(kind, n, 4, h, w))

    def call(row: Tensor) -> Any:
        return FUNCTIONS[name](row[None], W)

    return lambda: torch.func.vmap(call)(x), lambda: torch.stack([call(row) for row in x])


@pair(**MAPPED, layout=LAYOUT)
def function_vmap_grad(name: str, kind: str, n: int, h: int, w: int, layout: str) -> Any:
    x = LAYOUTS[layout](numbers(kind, n, 4, h, w))
    slope = torch.func.grad(lambda row, w: FUNCTIONS[name](row[None], w).square().sum(), (0, 1))
    return (
        lambda: torch.func.vmap(slope, (0, None))(x, W),
        lambda: [torch.stack(grads) for grads in zip(*(slope(row, W) for row in x), strict=True)],
    )


@pair(**CALL)
def function_jvp(name: str, kind: str, n: int, h: int, w: int) -> Any:
    """One entry of the Jacobian, computed in forward and in reverse mode."""
    x, along = numbers(kind, n, 4, h, w), numbers("drawn", n, 4, h, w, seed=8)

    def f(x: Tensor) -> Any:
        return FUNCTIONS[name](x, W)

    def forward() -> Any:
        y, tangent = torch.func.jvp(f, (x,), (along,))
        return (tangent * numbers("drawn", *y.shape, seed=3)).sum()

    def reverse() -> Any:
        y, pull = torch.func.vjp(f, x)
        return (pull(numbers("drawn", *y.shape, seed=3))[0] * along).sum()

    return forward, reverse


@pair(**CALL, order=st.sampled_from([1, 2]), tolerance=1e-3)
def function_numeric(name: str, kind: str, n: int, h: int, w: int, order: int) -> Any:
    """The derivative along a direction, by autograd and by finite differences."""
    generator = torch.Generator().manual_seed(h)
    size = (n, 4, h, w)
    x = numbers(kind, *size) + torch.randn(size, dtype=torch.float64, generator=generator) / 8
    along = numbers("drawn", *size, seed=8) / 4

    def value(x: Tensor) -> Any:
        y = FUNCTIONS[name](x, W)
        return (y * numbers("drawn", *y.shape, seed=3)).sum()

    def slope(x: Tensor) -> Any:
        (grad,) = torch.autograd.grad(value(x), x, create_graph=True)
        return (grad * numbers("drawn", *size, seed=4)).sum()

    def f(x: Tensor) -> Any:
        return (value if order == 1 else slope)(x.detach().requires_grad_())

    def analytic() -> Any:
        point = x.detach().requires_grad_()
        y = (value if order == 1 else slope)(point)
        if not y.requires_grad:
            return 0.0
        (grad,) = torch.autograd.grad(y, point, allow_unused=True)
        return 0.0 if grad is None else (grad * along).sum()

    return analytic, lambda: (f(x + 1e-5 * along) - f(x - 1e-5 * along)) / 2e-5


@pair(**CALL, layout=LAYOUT)
def function_compiled(name: str, kind: str, n: int, h: int, w: int, layout: str) -> Any:
    x = LAYOUTS[layout](numbers(kind, n, 4, h, w).float())

    def compiled() -> Any:
        torch.compiler.reset()
        point, weight = x.detach().requires_grad_(), W.float().requires_grad_()
        y = torch.compile(FUNCTIONS[name], backend="aot_eager_decomp_partition")(point, weight)
        back = numbers("drawn", *y.shape, seed=3).to(y.dtype)
        grads = torch.autograd.grad(y, (point, weight), back, allow_unused=True)
        return [y, *(grad for grad in grads if grad is not None)]

    return lambda: forward_backward(name, x, W.float()), compiled


# ---- long sums. These are omitted because they are known to stall: Tensor.index (pytorch#156173),
# index_reduce (pytorch#139242), histc (pytorch#174668) and nll_loss (pytorch#29429) ----

SUMS: dict[str, Callable[[Tensor], Any]] = {
    "sum": lambda x: x.sum(0),
    "mean": lambda x: x.mean(0),
    "var": lambda x: x.var(0),
    "norm": lambda x: x.norm(dim=0),
    "cumsum": lambda x: x.cumsum(0)[-1],
    "logsumexp": lambda x: x.logsumexp(0),
    "log_softmax": lambda x: x.t().contiguous().log_softmax(1),
    "softmax": lambda x: x.softmax(0),
    "matmul": lambda x: x.t() @ x.sign(),
    "add a row": lambda x: x + x[0],
    "expand": lambda x: x[:1].expand_as(x) * 1,
    "index_select": lambda x: x.index_select(0, torch.zeros(len(x), dtype=torch.long)),
    "gather": lambda x: x.gather(0, torch.zeros(x.shape, dtype=torch.long)),
    "index_add": lambda x: x[:1].index_add(0, torch.zeros(len(x), dtype=torch.long), x),
    "scatter_add": lambda x: x[:1].scatter_add(0, torch.zeros(x.shape, dtype=torch.long), x),
    "segment_reduce": lambda x: torch.segment_reduce(x, "mean", lengths=torch.tensor([len(x)])),
    "embedding": lambda x: F.embedding(torch.zeros(len(x), dtype=torch.long), x),
    "embedding_bag": lambda x: F.embedding_bag(torch.zeros(len(x), 1, dtype=torch.long), x),
    "layer_norm": lambda x: F.layer_norm(x, (4,), 1 + x[0], x[0]),
    "rms_norm": lambda x: F.rms_norm(x, (4,), 1 + x[0], 1e-3),
    "group_norm": lambda x: F.group_norm(x, 2, 1 + x[0], x[0]),
    "batch_norm": lambda x: F.batch_norm(x, None, None, 1 + x[0], x[0], True),
    "prelu": lambda x: F.prelu(-x, x[0]),
    "linear": lambda x: F.linear(x, x[:4], x[0]),
    "mse_loss": lambda x: F.mse_loss(x, x[0].expand_as(x)),
    "cross_entropy, smooth": lambda x: F.cross_entropy(
        x.t(), torch.zeros(4, dtype=torch.long), label_smoothing=0.1
    ),
    "interpolate": lambda x: F.interpolate(x[None, None, :2], size=(len(x), 4)),
}


@pair(
    name=st.sampled_from(list(SUMS)),
    rows=st.sampled_from([8, 1000, 5000, 70000]),
    kind=st.sampled_from(["ones", "zeros"]),
    dtype=LOW,
    tolerance=0.1,
)
def long_sum(name: str, rows: int, kind: str, dtype: str) -> Any:
    """Sums of many equal terms, in low precision and in float64."""

    def way(dtype: torch.dtype) -> Any:
        x = numbers(kind, rows, 4).to(dtype).requires_grad_()
        y = SUMS[name](x)
        (grad,) = torch.autograd.grad(y, x, torch.ones_like(y))
        return [part.double().clamp(-largest, largest) for part in (y, grad)]

    largest = torch.finfo(DTYPES[dtype]).max
    return lambda: way(DTYPES[dtype]), lambda: way(torch.float64)


# ---- loaders ----


@pair(
    size=st.integers(0, 9),
    batch_size=st.sampled_from([1, 2, 4, None]),
    shuffle=st.booleans(),
    drop_last=st.booleans(),
)
def loader_workers(size: int, **options: Any) -> Any:
    """Two epochs, loaded in the main process and by two workers."""
    if options["batch_size"] is None:
        options["drop_last"] = False

    def way(workers: int) -> Any:
        generator = torch.Generator().manual_seed(0)
        loader: Any = torch.utils.data.DataLoader(
            list(range(size)), num_workers=workers, generator=generator, **options
        )
        return [list(loader), list(loader)]

    return lambda: way(0), lambda: way(2)


# ---- differences that a reproducer shows ----


def named(*names: str) -> Callable[[Example], bool]:
    return lambda example: example["name"] in names


def by_last_epoch(*names: str) -> Callable[[Example], bool]:
    return lambda example: example["how"] == "last_epoch" and example["name"] in names


# pair -> the reproducers that show a difference, and the examples that each reproducer explains
KNOWN: dict[str, list[tuple[str, Callable[[Example], bool]]]] = {
    "optimizer_fused": [
        (
            "numerics/fused_cpu_ignores_layout",
            lambda example: not {example["layout"], example["grad_layout"]} <= {"contiguous"},
        ),
        (
            "numerics/fused_sgd_skips_low_precision_191763",
            lambda example: example["dtype"] != "float32",
        ),
    ],
    "long_sum": [
        ("layers/layer_norm_gradient_stalls_in_bfloat16", named("layer_norm")),
        ("layers/embedding_gradient_stalls_in_bfloat16", named("embedding", "embedding_bag")),
        ("loss/label_smoothing_overflows_in_float16", named("cross_entropy, smooth")),
        ("loss/log_softmax_overflows_in_float16", named("log_softmax")),
        ("numerics/logsumexp_overflows_in_float16", named("logsumexp")),
        ("numerics/segment_reduce_stalls_in_bfloat16", named("segment_reduce")),
    ],
    "scheduler_resumed": [
        ("schedulers/step_lr_decays_on_resume", by_last_epoch("StepLR", "MultiStepLR")),
        ("schedulers/swalr_ignores_last_epoch", by_last_epoch("SWALR")),
        ("schedulers/sequential_lr_forgets_last_epoch", by_last_epoch("SequentialLR")),
        (
            "schedulers/warm_restarts_resumed_in_another_cycle",
            by_last_epoch("CosineAnnealingWarmRestarts"),
        ),
    ],
}


@click.command()
@click.argument("names", metavar="[PAIR]...", nargs=-1)
@click.option("--examples", default=200, show_default=True, help="Examples per pair.")
def main(names: tuple[str, ...], examples: int) -> None:
    """Search for examples on which two ways to the same result differ.

    Exit status: 0 every difference is explained, 1 an unexplained difference, 2 usage error.
    """
    if unknown := sorted(set(names) - set(PAIRS)):
        raise click.UsageError(f"no pair {', '.join(unknown)}; expected {', '.join(PAIRS)}")
    differing = []
    for name in names or PAIRS:
        if difference := smallest(PAIRS[name], examples):
            differing.append(f"{name}: {difference}")
    sys.exit(finish(differing))


if __name__ == "__main__":
    main()
