import datetime
import importlib
import math
import multiprocessing
import pickle
import re
import time
import warnings
from collections import Counter, OrderedDict, UserDict, namedtuple
from dataclasses import dataclass, make_dataclass
from types import MappingProxyType
from typing import Any
from unittest import mock

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from torch import nn
from torch.overrides import TorchFunctionMode

from reference_fixes import loss

NAMES = st.lists(
    st.sampled_from(["price", "volume", "shape", "features", "predictions"]),
    unique=True,
    min_size=1,
)


class Keyed:
    """Like TensorDict, which is not a Mapping and iterates over its rows."""

    def __init__(self, items):
        self.keys, self.items_ = items.keys, items

    def __getitem__(self, name):
        return self.items_[name]


CONTAINERS = {
    "dict": dict,
    "OrderedDict": OrderedDict,
    "UserDict": UserDict,
    "MappingProxyType": MappingProxyType,
    "namedtuple": lambda items: namedtuple("Output", items)(**items),
    "dataclass": lambda items: make_dataclass("Output", list(items))(**items),
    "slots": lambda items: make_dataclass(
        "Output", list(items), namespace={"__slots__": list(items)}
    )(**items),
    "keys": Keyed,
}
containers = st.sampled_from(sorted(CONTAINERS))


class Reads(TorchFunctionMode):
    """Counts the operations that wait for the device."""

    def __init__(self):
        super().__init__()
        self.counts = Counter()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        name = getattr(func, "__name__", "")
        if name in {"item", "tolist", "numpy", "nonzero", "equal", "is_nonzero"} or name in {
            f"__{kind}__" for kind in ("bool", "float", "int", "index")
        }:
            self.counts[name] += 1
        if name == "__getitem__" and getattr(args[1], "dtype", None) == torch.bool:
            self.counts["nonzero"] += 1
        return func(*args, **(kwargs or {}))


# ---- match_by_name ----


def tensors(names, offset=0.0):
    return {
        name: torch.full((2,), offset + number, requires_grad=True)
        for number, name in enumerate(names)
    }


@given(NAMES, NAMES, containers, containers)
def test_every_target_gets_the_prediction_of_its_name_or_all_the_missing_are_named(
    given_names, wanted, outer, inner
):
    predictions = CONTAINERS[outer](tensors(given_names))
    targets = CONTAINERS[inner](tensors(wanted, offset=10.0))
    missing = [name for name in wanted if name not in given_names]
    if missing:
        with pytest.raises(LookupError) as error:
            loss.match_by_name(predictions, targets)
        assert str(missing) in str(error.value)
        assert str(given_names) in str(error.value)
    else:
        pairs = loss.match_by_name(predictions, targets)
        assert list(pairs) == wanted
        for name, (prediction, target) in pairs.items():
            assert prediction[0] == given_names.index(name)
            assert target[0] == 10 + wanted.index(name)


@pytest.mark.parametrize("container", sorted(CONTAINERS))
def test_pairs_are_the_tensors_themselves(container):
    prediction, target = torch.ones(2, requires_grad=True), torch.ones(2)
    given_output, wanted = (CONTAINERS[container]({"a": each}) for each in (prediction, target))
    pair = loss.match_by_name(given_output, wanted)["a"]
    assert pair[0] is prediction
    assert pair[1] is target


@dataclass
class ModelOutput(OrderedDict):
    """Like ModelOutput in transformers, whose items are the fields that are not None."""

    loss: Any = None
    logits: Any = None

    def __post_init__(self):
        self.update({name: value for name, value in vars(self).items() if value is not None})


def test_a_dataclass_that_is_a_mapping_has_the_names_of_its_items():
    assert list(loss.match_by_name({"logits": ONES}, ModelOutput(logits=ONES))) == ["logits"]


def test_names_may_be_integers_and_are_never_taken_for_text():
    ones = torch.ones(2, requires_grad=True)
    assert list(loss.match_by_name({1: ones, 5: ones}, {5: ones})) == [5]
    with pytest.raises(LookupError, match=r"lack \['1'\]; got \[1\]$"):
        loss.match_by_name({1: ones}, {"1": ones})


ONES = torch.ones(2, requires_grad=True)
EXPECTED = "expected a mapping, a dataclass or a named tuple of tensors"


@pytest.mark.parametrize(
    ("predictions", "targets", "error", "text"),
    [
        ({"a": ONES}, {}, LookupError, "no targets: a loss over nothing would be zero or NaN$"),
        ([ONES], {"a": ONES}, TypeError, f"predictions is a list; {EXPECTED}$"),
        ([ONES], (ONES,), TypeError, f"predictions is a list; {EXPECTED}$"),
        (ONES, {"a": ONES}, TypeError, f"predictions is a Tensor; {EXPECTED}$"),
        (dict, {"a": ONES}, TypeError, f"predictions is a type; {EXPECTED}$"),
        ({"a": ONES}, [ONES], TypeError, f"targets is a list; {EXPECTED}$"),
        ({"b": ONES}, {"a": ONES}, LookupError, r"predictions lack \['a'\]; got \['b'\]$"),
        ({"a": None}, {"a": ONES}, TypeError, "prediction 'a' is None, not a tensor$"),
        ({"a": ONES}, {"a": 3.0}, TypeError, "target 'a' is 3.0, not a tensor$"),
    ],
)
def test_what_cannot_be_matched_raises_with_the_whole_reason(predictions, targets, error, text):
    with pytest.raises(error, match=f"^{text}"):
        loss.match_by_name(predictions, targets)


class Output(nn.Module):
    """A module whose output is neither a mapping nor a sequence."""


@pytest.mark.parametrize("container", sorted(CONTAINERS))
@pytest.mark.parametrize(
    ("nest", "place"),
    [
        (lambda found: {"heads": found, "features": ONES}, "['heads']"),
        (lambda found: {"model": {"heads": found}}, "['model']['heads']"),
        (lambda found: {"layers": [ONES, found]}, "['layers'][1]"),
        (lambda found: {"layers": (None, (found,))}, "['layers'][1][0]"),
    ],
)
def test_a_nested_output_is_never_a_silent_zero_and_the_error_says_where_it_is(
    container, nest, place
):
    predictions = nest(CONTAINERS[container](tensors(["volume", "price"])))
    with pytest.raises(LookupError) as error:
        loss.match_by_name(predictions, tensors(["price", "volume"]))
    assert str(error.value) == (
        f"predictions lack ['price', 'volume']; got {list(predictions)}; "
        f"predictions{place} has ['price', 'volume']"
    )


def test_each_place_that_has_some_of_the_missing_names_is_told():
    deeper = {"b": ONES, "c": ONES, "w": {"c": ONES}}
    predictions = {"a": ONES, "x": {"b": ONES}, "y": deeper, "z": {"d": ONES}}
    with pytest.raises(LookupError) as error:
        loss.match_by_name(predictions, {"a": ONES, "b": ONES, "c": ONES})
    assert str(error.value) == (
        "predictions lack ['b', 'c']; got ['a', 'x', 'y', 'z']; predictions['x'] has ['b']; "
        "predictions['y'] has ['b', 'c']; predictions['y']['w'] has ['c']"
    )


def test_the_search_of_an_output_that_holds_itself_ends():
    predictions = {"model": Output()}
    predictions["self"] = predictions
    with pytest.raises(LookupError, match=r"lack \['a'\]; got \['model', 'self'\]$"):
        loss.match_by_name(predictions, {"a": ONES})


NOT_FIRST = {
    "CTC": ((50, 4, 20), (4, 10)),
    "flattened tokens": ((32, 100), (4, 8)),
    "flattened targets": ((4, 8), (32,)),
    "one target for all": ((4, 3), ()),
}


@pytest.mark.parametrize("kind", NOT_FIRST)
def test_the_batch_has_to_agree_where_it_is_first(kind):
    pair = [torch.ones(shape, requires_grad=True) for shape in NOT_FIRST[kind]]
    found = loss.match_by_name({"a": pair[0]}, {"a": pair[1]}, batch_first=False)
    assert found == {"a": tuple(pair)}
    before, behind = ({name: pair[0]} for name in "bc")
    with pytest.raises(ValueError) as error:
        loss.match_by_name({**before, "a": pair[0], **behind}, {**before, "a": pair[1], **behind})
    shapes = [list(shape) for shape in NOT_FIRST[kind]]
    assert str(error.value) == (
        f"'a': prediction {shapes[0]} and target {shapes[1]} differ in batch size; "
        "pass batch_first=False where the batch is not first"
    )


def test_other_dimensions_than_the_first_need_not_agree():
    for shapes in [((2, 3), (2,)), ((2,), (2, 3)), ((), ()), ((2, 5, 7), (2, 7))]:
        pair = tuple(torch.ones(shape, requires_grad=True) for shape in shapes)
        assert loss.match_by_name({"a": pair[0]}, {"a": pair[1]}) == {"a": pair}


shapes = st.lists(st.integers(0, 3), max_size=4).map(tuple)


@given(shapes, shapes)
@example((8, 1), (8,))
@example((8,), (8, 1))
@example((4, 1, 3, 3), (4, 3, 3))
@example((8, 10), (8,))
def test_shapes_that_broadcast_to_a_larger_one_are_refused(prediction, target):
    pair = torch.ones(prediction, requires_grad=True), torch.ones(target)
    try:
        together = (pair[0] - pair[1]).shape
    except RuntimeError:
        together = prediction
    if together in (prediction, target):
        found = loss.match_by_name({"a": pair[0]}, {"a": pair[1]}, batch_first=False)
        assert found == {"a": pair}
        return
    with pytest.raises(ValueError) as error:
        loss.match_by_name({"a": pair[0]}, {"a": pair[1]}, batch_first=False)
    assert str(error.value) == (
        f"'a': prediction {list(prediction)} and target {list(target)} "
        f"would broadcast to {list(together)}: reshape one of them"
    )


def test_every_pair_is_looked_at():
    predictions = {
        name: torch.ones(shape, requires_grad=True)
        for name, shape in (("a", (2, 3)), ("b", (2, 1)))
    }
    with pytest.raises(ValueError, match=r"^'b': prediction \[2, 1\] and target \[2\] would"):
        loss.match_by_name(predictions, {"a": torch.ones(2), "b": torch.ones(2)})


def test_the_batch_sizes_are_named_before_what_they_would_broadcast_to():
    with pytest.raises(ValueError, match=r"^0: .* and target \[1, 8\] differ in batch size"):
        loss.match_by_name({0: torch.ones(8, 1, requires_grad=True)}, {0: torch.ones(1, 8)})


def test_a_prediction_without_a_graph_is_named_where_gradients_are_enabled():
    detached = {"a": ONES, "b": torch.ones(2, 3)}
    target = {"a": torch.ones(2), "b": ONES}  # the graph of a target does not help
    with pytest.raises(ValueError, match=r"^prediction 'b' \[2, 3\] has no graph.*no_grad\(\)$"):
        loss.match_by_name(detached, target)
    for disabled in (torch.no_grad(), torch.inference_mode()):
        with disabled:
            assert list(loss.match_by_name(detached, target)) == ["a", "b"]
    assert list(loss.match_by_name(detached, {"a": torch.ones(2)})) == ["a"]


# ---- SameShapeLoss ----

SHAPES = st.lists(st.integers(1, 3), max_size=3)
ELEMENTWISE = [
    nn.MSELoss(),
    nn.L1Loss(reduction="none"),
    nn.SmoothL1Loss(reduction="sum"),
    nn.BCEWithLogitsLoss(),
    nn.functional.huber_loss,
]


@given(SHAPES, SHAPES, st.sampled_from(ELEMENTWISE))
@example([4, 1], [4], ELEMENTWISE[0])
@example([], [1], ELEMENTWISE[0])
@example([2, 3], [2, 3], ELEMENTWISE[1])
@example([2, 3], [3, 2], ELEMENTWISE[1])
def test_an_elementwise_loss_takes_equal_shapes_only(given_shape, wanted, elementwise):
    x, target = torch.full(given_shape, 0.5), torch.ones(wanted)
    if given_shape == wanted:
        assert torch.equal(loss.SameShapeLoss(elementwise)(x, target), elementwise(x, target))
    else:
        with pytest.raises(ValueError, match="differ in shape") as error:
            loss.SameShapeLoss(elementwise)(x, target)
        assert f"input {given_shape} and target {wanted}" in str(error.value)


@given(SHAPES, st.integers(0, 3), st.booleans())
@example([4], 1, True)
@example([4], 1, False)
@example([2, 1], 2, True)
def test_where_one_dimension_of_size_1_is_too_many_the_advice_works(shape, place, of_input):
    place = min(place, len(shape))
    short, long = torch.zeros(shape), torch.zeros(shape[:place] + [1] + shape[place:])
    input, target = (long, short) if of_input else (short, long)
    with pytest.raises(ValueError) as error:
        loss.SameShapeLoss(nn.MSELoss())(input, target)
    advice = str(error.value).partition(": pass ")[2].split(" or ")
    assert len(advice) == 2
    for code, other in zip(advice, (long, short)):
        tensors = {"input": input, "target": target}
        assert eval(code, tensors).shape == other.shape
    assert advice[0].startswith(("input", "target")[of_input] + ".unsqueeze(")


@pytest.mark.parametrize(
    ("given_shape", "wanted"),
    [([4, 2], [4]), ([4, 1], [3]), ([4, 1, 1], [4]), ([1, 8], [5, 8]), ([2], [3])],
)
def test_other_shapes_get_no_advice(given_shape, wanted):
    with pytest.raises(ValueError, match="differ in shape$"):
        loss.SameShapeLoss(nn.MSELoss())(torch.zeros(given_shape), torch.zeros(wanted))


def test_same_shape_loss_refuses_what_is_no_tensor_or_no_loss():
    same_shape = loss.SameShapeLoss(nn.MSELoss())
    with pytest.raises(TypeError, match="target is 1.0, not a tensor"):
        same_shape(torch.ones(()), 1.0)
    with pytest.raises(TypeError, match="input is 'x', not a tensor"):
        same_shape("x", torch.ones(()))
    with pytest.raises(TypeError, match="loss is 'mse'; expected a module or a function"):
        loss.SameShapeLoss("mse")
    with pytest.raises(TypeError, match="MSELoss'>; expected a module or a function"):
        loss.SameShapeLoss(nn.MSELoss)


def test_same_shape_loss_passes_on_arguments_and_gradients(device):
    x = torch.ones(2, requires_grad=True, device=device)
    same_shape = loss.SameShapeLoss(nn.functional.mse_loss)
    assert same_shape(x, torch.zeros(2, device=device), reduction="sum") == 2
    assert same_shape(x, torch.zeros(2, device=device), None, None, "none").shape == (2,)
    same_shape(x, torch.zeros(2, device=device)).backward()
    assert x.grad.tolist() == [1, 1]


def test_the_weights_of_the_loss_move_with_the_module():
    same_shape = loss.SameShapeLoss(nn.BCEWithLogitsLoss(pos_weight=torch.ones(2)))
    assert same_shape.to(torch.float64).loss.pos_weight.dtype == torch.float64
    assert list(same_shape.children()) == [same_shape.loss]


def test_torch_itself_compares_all_pairs_and_only_warns():
    x, target = torch.tensor([[1.0], [2.0]]), torch.tensor([1.0, 2.0])
    with pytest.warns(UserWarning, match="will likely lead to incorrect results"):
        pairs = nn.MSELoss(reduction="none")(x, target)
    assert pairs.shape == (2, 2)


# ---- masked_mean ----

finite = st.floats(-1e6, 1e6, width=32)


@given(st.lists(st.tuples(finite, st.booleans()), max_size=20))
@example([])
@example([(1.0, False)])
@example([(216580.0, True), (719120.0, True), (-48744.28125, True), (-886688.0, True)])
def test_masked_mean_is_the_mean_of_the_selected_values_and_has_its_gradient(device, rows):
    values = torch.tensor([value for value, _ in rows], device=device, requires_grad=True)
    mask = torch.tensor([selected for _, selected in rows], device=device, dtype=torch.bool)
    if not mask.any():
        with pytest.raises(
            ValueError, match=f"^mean of nothing: the mask selects 0 of {len(rows)} values$"
        ):
            loss.masked_mean(values, mask)
        return
    mean = loss.masked_mean(values, mask)
    exact = values.detach().cpu().double()[mask.cpu()]
    rounding = 2e-6 * exact.abs().max().item()  # large values may cancel
    torch.testing.assert_close(mean.cpu().double(), exact.mean(), rtol=0, atol=rounding)
    mean.backward()
    torch.testing.assert_close(values.grad, mask.float() / mask.sum())


NOT_FINITE = [math.nan, math.inf, -math.inf]


@pytest.mark.parametrize("graph", [True, False])
@pytest.mark.parametrize("enabled", [True, False])
@given(
    place=st.integers(0, 5),
    bad=st.sampled_from(NOT_FINITE),
    outside=st.sampled_from([1.0, *NOT_FINITE]),
)
def test_values_that_are_not_finite_are_refused_inside_the_mask(
    device, graph, enabled, place, bad, outside
):
    values, mask = torch.ones(6, device=device), torch.arange(6, device=device) != (place + 1) % 6
    values[place], values[(place + 1) % 6] = bad, outside
    values.requires_grad_(graph)
    refused = pytest.raises(ValueError, match="^1 of 5 values inside the mask are not finite$")
    with torch.set_grad_enabled(enabled), refused:
        loss.masked_mean(values, mask)


@pytest.mark.parametrize("graph", [True, False])
@pytest.mark.parametrize("enabled", [True, False])
@given(place=st.integers(0, 5), bad=st.sampled_from(NOT_FINITE))
def test_and_outside_it_where_they_would_reach_the_weights(device, graph, enabled, place, bad):
    values, mask = torch.ones(6, device=device), torch.arange(6, device=device) != place
    values[place] = bad
    values.requires_grad_(graph)
    with torch.set_grad_enabled(enabled):
        if graph and enabled:
            with pytest.raises(ValueError) as error:
                loss.masked_mean(values, mask)
            assert str(error.value) == (
                "1 values outside the mask are not finite, and would make gradients NaN: replace "
                "missing targets before the loss, torch.where(mask, target, 0), and drop rows with "
                "such inputs before the model"
            )
        else:
            assert loss.masked_mean(values, mask) == 1


def gradient_of(mean, target):
    """The gradient of a weight that scales a prediction, for the mean of the losses."""
    weight = torch.ones((), requires_grad=True)
    mask = target.isfinite()
    mean((weight * torch.ones(2) - target).square(), mask).backward()
    return weight.grad


def test_a_nan_outside_the_mask_reaches_the_weights_unless_it_is_replaced_before_the_loss():
    target = torch.tensor([3.0, math.nan])
    known = target.isfinite()
    assert gradient_of(lambda values, mask: values[mask].mean(), target).isnan()
    replaced = torch.where(known, target, 0)
    assert gradient_of(lambda values, mask: loss.masked_mean(values, known), replaced) == -4


def test_masked_mean_broadcasts_its_mask_and_wants_bool(device):
    values = torch.tensor([[1.0, 2.0], [3.0, 4.0]], device=device)
    assert loss.masked_mean(values, torch.tensor([[True], [False]], device=device)) == 1.5
    with pytest.raises(ValueError, match="^mean of nothing: the mask selects 0 of 4 values$"):
        loss.masked_mean(values, torch.tensor(False, device=device))
    with pytest.raises(RuntimeError, match="expand"):
        loss.masked_mean(values[0], torch.ones(2, 2, device=device, dtype=torch.bool))
    for dtype in (torch.float16, torch.uint8, torch.int64):
        with pytest.raises(TypeError, match=f"^mask is {dtype}; expected torch.bool$"):
            loss.masked_mean(values, torch.ones(2, 2, device=device, dtype=dtype))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (torch.full((2, 2), 3e38), 3e38),
        (torch.full((300,), 6e4, dtype=torch.float16), 6e4),
        (torch.full((3,), 250.0, dtype=torch.bfloat16), 250.0),
        (torch.tensor([1, 2]), 1.5),
        (torch.tensor([True, False]), 0.5),
        (torch.tensor([1 + 2j, 3 + 0j]), 2 + 1j),
    ],
)
def test_the_mean_is_right_where_the_sum_would_overflow_and_for_every_kind_of_number(
    device, values, expected
):
    mean = loss.masked_mean(values.to(device), torch.tensor(True, device=device))
    assert mean.dtype == (
        values.dtype if values.is_floating_point() or values.is_complex() else torch.float32
    )
    assert mean.item() == pytest.approx(expected, rel=1e-6)


def test_low_precision_is_not_rounded_on_the_way_to_the_mean(device):
    for dtype in (torch.float16, torch.bfloat16):
        means = [
            loss.masked_mean(
                torch.ones(count, dtype=dtype, device=device), torch.tensor(True, device=device)
            )
            for count in range(1, 200)
        ]
        assert all(mean.item() == 1.0 for mean in means)


def test_double_precision_is_kept():
    mean = loss.masked_mean(torch.tensor([0.1], dtype=torch.float64), torch.tensor(True))
    assert mean.item() == 0.1


def test_masked_mean_reads_from_the_device_once(device):
    values = torch.ones(3, device=device, requires_grad=True)
    with Reads() as reads:
        loss.masked_mean(values, values > 0)
    assert reads.counts == {"tolist": 1}


def waits(call):
    """The number of times that the host waits for CUDA during a call."""
    torch.cuda.set_sync_debug_mode("warn")
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    return sum("synchronizing CUDA operation" in str(one.message) for one in caught)


def test_masked_mean_and_check_gradients_wait_once(device):
    if device != "cuda":
        pytest.skip("only CUDA can be asked about synchronisations")
    values, model = torch.ones(3, device=device, requires_grad=True), nn.Linear(2, 1).to(device)
    mask = values > 0
    model(torch.ones(1, 2, device=device)).sum().backward()
    assert waits(lambda: loss.masked_mean(values, mask)) == 1
    assert waits(lambda: loss.check_gradients(model)) == 1


@pytest.mark.skipif(not hasattr(torch, "vmap"), reason="torch 1.13 has no torch.vmap")
def test_vmap_refuses_the_read():
    with pytest.raises(RuntimeError, match="data pointer|vmap"):
        torch.vmap(lambda values: loss.masked_mean(values, values > 0))(torch.ones(2, 2))


# ---- RunningMean ----


class OnCUDA(torch.Tensor):
    """A tensor that claims to be on a GPU."""

    device = torch.device("cuda")


class OnMPS(torch.Tensor):
    """A tensor that claims to be on MPS, which has no float64."""

    device = torch.device("mps")


def on_cuda(number):
    return torch.as_tensor(number).as_subclass(OnCUDA)


KINDS = {
    "number": lambda number, device: number,
    "tensor": lambda number, device: torch.tensor(number, device=device),
    "one element": lambda number, device: torch.tensor([number], device=device),
    "with a graph": lambda number, device: torch.tensor(
        float(number), device=device, requires_grad=True
    ),
    "on a GPU": lambda number, device: (
        on_cuda(number) if device == "cpu" else torch.tensor(number, device=device)
    ),
}
kinds = st.sampled_from(sorted(KINDS))


@given(
    st.lists(
        st.tuples(st.floats(-1e3, 1e3, width=32), st.integers(0, 100), kinds, kinds), max_size=30
    )
)
def test_running_mean_is_the_weighted_mean_and_refuses_to_be_empty(device, updates):
    mean = loss.RunningMean()
    for value, weight, kind, kind_of_weight in updates:
        mean.update(KINDS[kind](value, device), KINDS[kind_of_weight](weight, device))
    total = sum(weight for _, weight, _, _ in updates)
    if total == 0:
        with pytest.raises(
            ValueError,
            match=r"^mean of nothing: no value of any weight was added \(is the loader empty\?\)$",
        ):
            mean.compute()
    else:
        terms = [value * weight for value, weight, _, _ in updates]
        expected, size = math.fsum(terms) / total, math.fsum(map(abs, terms)) / total
        found = mean.compute()
        assert type(found) is float
        # in float32 on MPS, terms that cancel out leave rounding errors
        rounded = 1e-6 * size if device == "mps" else 0.0
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9 + rounded)


def test_a_value_counts_once_unless_it_has_a_weight():
    mean = loss.RunningMean()
    mean.update(1.0)
    mean.update(4.0, 1)
    assert mean.compute() == 2.5
    tiny = loss.RunningMean()
    tiny.update(4.0, 1e-30)
    assert tiny.compute() == 4


def test_the_mean_so_far_can_be_asked_for_at_any_time():
    mean = loss.RunningMean()
    mean.update(torch.tensor(1.0))
    assert mean.compute() == mean.compute() == 1
    mean.update(3.0)
    assert mean.compute() == 2


@pytest.mark.parametrize("kind", [float, torch.as_tensor, on_cuda])
def test_low_precision_weights_are_summed_exactly(kind):
    mean = loss.RunningMean()
    for _ in range(40):
        mean.update(2.0, kind(torch.tensor(2048.0, dtype=torch.float16)))
    assert mean.compute() == 2.0


@pytest.mark.parametrize("kind", [float, torch.as_tensor, on_cuda])
def test_weights_beyond_the_integers_of_float32_are_summed_exactly(kind):
    mean = loss.RunningMean()
    for value, weight in [(1.0, 2.0**24)] + [(0.0, 1.0)] * 64:
        mean.update(value, kind(weight))
    assert mean.compute() == 2**24 / (2**24 + 64)


@pytest.mark.parametrize("role", ["value", "weight"])
def test_running_mean_sums_in_float64_where_the_device_has_it(role):
    for given_tensor, dtype in (
        (on_cuda([1.0]), torch.float64),
        (torch.ones(1).as_subclass(OnMPS), torch.float32),
    ):
        mean = loss.RunningMean()
        mean.update(**{"value": 1.0, role: given_tensor})
        assert mean._sum.dtype == dtype


def test_running_mean_keeps_no_graph(device):
    for leaf in (torch.ones(1, device=device), on_cuda([1.0])):
        mean = loss.RunningMean()  # one mean per device, because MPS accepts no float64
        leaf.requires_grad_()
        mean.update((leaf * 2).sum(), (leaf * 3).sum())
        for part in (mean._sum, mean._weight):
            assert not getattr(part, "requires_grad", False)  # a number on the CPU


def test_running_mean_waits_for_no_device_before_it_is_computed():
    number = torch.ones((), device="meta")  # a read would raise
    mean = loss.RunningMean()
    here = torch.tensor(2.0)
    for value, weight in [(number, number), (number, here), (here, number), (number, 0), (2, 2)]:
        mean.update(value, weight)
    loss.RunningMean().merge(mean)
    assert mean._sum.is_meta
    assert mean._weight.is_meta


def test_running_mean_never_waits_for_cuda_before_it_is_computed(device):
    if device != "cuda":
        pytest.skip("only CUDA can be asked about synchronisations")
    mean, here = loss.RunningMean(), torch.tensor(2.0)
    number, count = torch.tensor(4.0, device=device), torch.tensor([3], device=device)
    number.requires_grad_()

    def update():
        for value, weight in [(number, count), (number, here), (here, count), (number, 0), (2, 2)]:
            mean.update(value, weight)

    assert waits(update) == 0
    assert mean.compute() == pytest.approx((12 + 8 + 6 + 4) / 10)


@pytest.mark.parametrize("weight", [0, 0.0, torch.tensor(0), on_cuda([0.0])])
@pytest.mark.parametrize("value", [*NOT_FINITE, torch.tensor(math.nan), on_cuda([math.inf])])
def test_what_has_no_weight_does_not_count_whatever_it_is(value, weight):
    mean = loss.RunningMean()
    mean.update(value, weight)
    mean.update(2.0)
    assert mean.compute() == 2.0


@pytest.mark.parametrize("value", [math.nan, torch.tensor(math.nan), on_cuda(math.nan)])
def test_a_nan_of_any_weight_makes_the_mean_nan(value):
    mean = loss.RunningMean()
    mean.update(value)
    mean.update(2.0)
    assert math.isnan(mean.compute())


@pytest.mark.parametrize("weight", [-1.0, math.nan, math.inf])
def test_a_weight_out_of_range_raises_at_once_or_on_an_accelerator_when_it_is_read(weight):
    mean = loss.RunningMean()
    for here in (weight, torch.tensor(weight)):
        with pytest.raises(ValueError, match=rf"^weight={weight}: expected a finite number, 0 or "):
            mean.update(1.0, here)
    assert mean.state_dict() == {"sum": 0.0, "weight": 0.0}
    mean.update(1.0, 3)
    mean.update(1.0, on_cuda(weight))
    mean.update(1.0, on_cuda(3))
    total = "inf" if weight == math.inf else "nan"
    with pytest.raises(ValueError, match=f"^weights of {total} in all: each has to be finite, 0 "):
        mean.compute()


@pytest.mark.parametrize("role", ["value", "weight"])
@pytest.mark.parametrize(
    ("given_tensor", "text"),
    [
        (torch.ones(2), r"torch.float32 and shape \[2\]: expected one real number$"),
        (torch.ones(0), r"torch.float32 and shape \[0\]: expected one real number$"),
        (torch.tensor(1j), r"torch.complex64 and shape \[\]: expected one real number$"),
    ],
)
def test_running_mean_refuses_what_is_not_one_real_number(role, given_tensor, text):
    with pytest.raises(ValueError, match=f"^a {role} of {text}"):
        loss.RunningMean().update(**{"value": 1.0, role: given_tensor})


@pytest.mark.parametrize("role", ["value", "weight"])
@pytest.mark.parametrize("given_object", ["0.5 apples", "2.5", b"2", bytearray(b"2"), [1.0], None])
def test_running_mean_refuses_what_is_no_number(role, given_object):
    with pytest.raises((TypeError, ValueError), match="0.5 apples|2|list|NoneType"):
        loss.RunningMean().update(**{"value": 1.0, role: given_object})


@given(
    st.lists(st.tuples(st.floats(-1e3, 1e3), st.integers(0, 5)), min_size=1, max_size=12),
    st.integers(0, 12),
    st.booleans(),
)
def test_merged_means_are_the_mean_of_all_numbers(numbers, cut, pickled):
    whole, parts = loss.RunningMean(), [loss.RunningMean(), loss.RunningMean()]
    for number, (value, weight) in enumerate(numbers):
        for mean in (whole, parts[number < cut]):
            mean.update(value, weight)
    first, second = parts
    if pickled:  # as if it was sent by another process
        second = pickle.loads(pickle.dumps(second))
    before = dict(vars(second))
    first.merge(second)
    assert vars(second) == before
    if not any(weight for _, weight in numbers):
        with pytest.raises(ValueError, match="^mean of nothing"):
            first.compute()
        return
    assert first.compute() == pytest.approx(whole.compute(), rel=1e-9, abs=1e-9)


def test_means_of_several_devices_are_merged_and_a_bad_weight_stays_bad(device):
    here, there = loss.RunningMean(), loss.RunningMean()
    here.update(torch.tensor(1.0, device=device), torch.tensor(3, device=device))
    there.update(on_cuda(5.0))
    here.merge(there)
    assert here.compute() == 2.0
    there.merge(here)
    assert there.compute() == pytest.approx(13 / 5)
    there.update(1.0, on_cuda(-1.0))
    assert {type(number) for number in there.state_dict().values()} == {float}
    loaded = loss.RunningMean()
    loaded.load_state_dict(there.state_dict())
    here.merge(there)
    for mean in (here, loaded):
        with pytest.raises(ValueError, match="^weights of nan in all"):
            mean.compute()


class Second(torch.Tensor):
    """A number on a second accelerator, which cannot add numbers from the first accelerator."""

    device = torch.device("meta")
    moved = []

    def to(self, *given):
        self.moved.append(given)
        return super().to(given[0]) if isinstance(given[0], torch.dtype) else on_cuda(1.0)


@pytest.mark.parametrize("merged", [False, True])
def test_numbers_of_a_second_accelerator_come_to_the_first(merged):
    mean = loss.RunningMean()
    mean.update(on_cuda(2.0))
    with mock.patch.object(Second, "moved", []) as moved:
        number = torch.ones(()).as_subclass(Second)
        if merged:
            other = loss.RunningMean()
            other.update(number)
            mean.merge(other)
        else:
            mean.update(number)
        assert any(target is not torch.float64 for (target,) in moved)
    assert mean.compute() == 1.5


def test_a_mean_goes_on_from_its_state(device):
    mean, again = loss.RunningMean(), loss.RunningMean()
    mean.update(torch.tensor(2.0, device=device), weight=3)
    again.update(9.0, weight=5)
    again.load_state_dict(MappingProxyType(mean.state_dict()))
    assert again.compute() == 2.0
    for each in (mean, again):
        each.update(torch.tensor(6.0, device=device), weight=torch.tensor(1.0, device=device))
        assert each.compute() == 3.0
    assert again.state_dict() == {"sum": 12.0, "weight": 4.0}
    again.load_state_dict(loss.RunningMean().state_dict())
    with pytest.raises(ValueError, match="mean of nothing"):
        again.compute()


def test_the_state_of_a_mean_is_as_precise_as_the_mean():
    mean, again = loss.RunningMean(), loss.RunningMean()
    mean.update(2.0**24 + 1, weight=1 + 2.0**-30)
    again.load_state_dict(mean.state_dict())
    assert again.compute() == mean.compute()
    assert again.state_dict() == mean.state_dict()
    assert again.state_dict()["weight"] == 1 + 2.0**-30


@pytest.mark.parametrize(
    ("state", "error", "text"),
    [
        (None, TypeError, "state_dict=None: expected what state_dict"),
        ({"sum": 1.0}, ValueError, r"a state of \['sum'\]"),
        ({"sum": 1.0, "weight": 2.0, "count": 3}, ValueError, "a state of .*'count'"),
        ({"sum": 1.0, "weight": -0.5}, ValueError, "weight=-0.5: expected 0 or more"),
        ({"sum": 1.0, "weight": "2"}, TypeError, "weight='2': expected one real number"),
        ({"sum": torch.ones(2), "weight": 2.0}, ValueError, "a sum of torch.float32 and shape"),
    ],
)
def test_what_is_no_state_of_a_mean_is_refused_and_changes_nothing(state, error, text):
    mean = loss.RunningMean()
    mean.update(4.0)
    with pytest.raises(error, match=text):
        mean.load_state_dict(state)
    assert mean.compute() == 4.0


@pytest.mark.parametrize("other", [None, 2.0, [1.0]])
def test_only_means_are_merged(other):
    with pytest.raises(TypeError, match=f"^other is a {type(other).__name__}: expected a Runn"):
        loss.RunningMean().merge(other)


def test_a_mean_of_a_subclass_is_a_mean():
    mean, own = loss.RunningMean(), type("Own", (loss.RunningMean,), {})()
    own.update(2.0)
    mean.merge(own)
    own.merge(mean)
    assert mean.compute() == own.compute() == 2


# ---- check_gradients ----

GRADIENTS = {
    "fine": lambda p: torch.ones_like(p),
    "one nonzero": lambda p: (
        torch.eye(*p.shape, device=p.device)
        if p.dim() == 2
        else torch.arange(p.numel(), device=p.device).float()
    ),
    "no gradient": lambda p: None,
    "not finite: inf": lambda p: torch.full_like(p, math.inf),
    "not finite: -inf": lambda p: torch.full_like(p, -math.inf),
    "not finite: nan": lambda p: torch.full_like(p, math.nan),
    "not finite: one": lambda p: torch.arange(p.numel(), device=p.device).sub(0.5).log().view_as(p),
    "all zero": lambda p: torch.zeros_like(p),
}


@given(
    st.lists(st.sampled_from(sorted(GRADIENTS)), min_size=4, max_size=4),
    st.sets(st.integers(0, 3)),
    st.booleans(),
)
def test_check_gradients_names_exactly_the_parameters_that_lack_something(
    device, gradients, frozen, scaled
):
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)).to(device)
    options = {"scaled": True} if scaled else {}
    expected = {}
    for number, ((name, parameter), kind) in enumerate(zip(model.named_parameters(), gradients)):
        parameter.grad = GRADIENTS[kind](parameter)
        parameter.requires_grad_(number not in frozen)
        problem = kind.split(":")[0]
        counts = (
            ("no gradient", "all zero") if scaled else ("no gradient", "all zero", "not finite")
        )
        if number not in frozen and problem in counts:
            expected.setdefault(problem, []).append(name)
    if len(frozen) == 4:
        with pytest.raises(ValueError, match="Sequential has no trainable parameter"):
            loss.check_gradients(model, **options)
    elif expected:
        with pytest.raises(loss.GradientError) as error:
            loss.check_gradients(model, **options)
        order = ("no gradient", "not finite", "all zero")
        assert str(error.value) == "; ".join(
            f"{problem}: {', '.join(expected[problem])}" for problem in order if problem in expected
        )
    else:
        loss.check_gradients(model, **options)


def test_check_gradients_lets_named_parameters_go_without(device):
    model = nn.Sequential(nn.Linear(2, 1)).to(device)
    model[0].weight.sum().backward()
    loss.check_gradients(model, ignore=["*.bias"])
    loss.check_gradients(model, ignore="*.bias")
    loss.check_gradients(model, ignore=["*.gamma", "*.bias"])
    loss.check_gradients(model, ignore=(pattern for pattern in ["*.bias"]))
    with pytest.raises(loss.GradientError, match="^no gradient: 0.bias$"):
        loss.check_gradients(model, ignore=["*.weight"])


def test_a_pattern_is_compared_with_the_whole_name():
    model = nn.ModuleDict({"body": nn.Linear(2, 1), "head": nn.Linear(2, 1)})
    (model["body"].weight.sum() + model["head"].weight.sum()).backward()
    with pytest.raises(loss.GradientError, match=r"^no gradient: body\.bias$"):
        loss.check_gradients(model, ignore=["head.bias"])
    with pytest.raises(loss.GradientError, match=r"^no gradient: body\.bias, head\.bias$"):
        loss.check_gradients(model, ignore=["bias"])


@pytest.mark.parametrize("pattern", ["*.other", "BIAS"])
def test_a_pattern_may_be_given_alone_and_is_not_taken_for_its_letters(pattern):
    with pytest.raises(RuntimeError, match="no gradient: weight, bias"):
        loss.check_gradients(nn.Linear(2, 1), ignore=pattern)


def test_nothing_to_check_is_no_success():
    model = nn.Linear(2, 1)
    model.weight.sum().backward()
    with pytest.raises(ValueError, match=r"^Linear has no .* empty nor in ignore=\['\*'\]$"):
        loss.check_gradients(model, ignore="*")
    for empty in (nn.Linear(2, 1).requires_grad_(False), nn.ReLU(), nn.Linear(2, 0)):
        with pytest.raises(ValueError, match=r"(Linear|ReLU) has no trainable parameter"):
            loss.check_gradients(empty)


class LoRA(nn.Module):
    """A branch x @ A @ B. Initially, B is zero, and so is the gradient of A."""

    def __init__(self):
        super().__init__()
        self.A, self.B = nn.Parameter(torch.ones(2, 1)), nn.Parameter(torch.zeros(1, 2))

    def forward(self, x):
        return x + x @ self.A @ self.B


class Residual(nn.Module):
    """The last gamma is initially zero, as with zero_init_residual."""

    def __init__(self):
        super().__init__()
        self.linear, self.norm = nn.Linear(2, 2), nn.BatchNorm1d(2)
        nn.init.eye_(self.linear.weight)
        nn.init.zeros_(self.norm.weight)

    def forward(self, x):
        return x + self.norm(self.linear(x).square())


class Gate(nn.Module):
    """A branch after a scalar that is initially zero, as in ReZero."""

    def __init__(self):
        super().__init__()
        self.linear, self.alpha = nn.Linear(2, 2), nn.Parameter(torch.zeros(()))

    def forward(self, x):
        return x + self.alpha * self.linear(x)


def groups(model):
    """Groups the parameters in the same way as most trainers."""
    first, *rest = model.parameters()
    return [{"params": [first]}, {"params": rest}]


def backward(model, factor=1.0):
    model.zero_grad()
    x = torch.tensor([[1.0, -2.0], [0.5, 3.0], [-1.5, 2.5]])
    (factor * (model(x) - torch.tensor([3.0, 1.0])).pow(2).sum()).backward()


@pytest.mark.parametrize("kind", [LoRA, Residual, Gate])
def test_a_branch_that_is_zero_at_first_passes_until_it_has_been_stepped(kind):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 2), kind())
    optimizer = torch.optim.SGD(groups(model), lr=0.01)
    blocked = model[1].A if kind is LoRA else model[1].linear.weight
    backward(model)
    assert not blocked.grad.any()
    loss.check_gradients(model)
    optimizer.step()
    backward(model)
    assert blocked.grad.any()
    loss.check_gradients(model)
    blocked.grad.zero_()
    with pytest.raises(loss.GradientError, match=r"^all zero: 1\.(A|linear\.weight)$"):
        loss.check_gradients(model)


@pytest.mark.parametrize("kind", [LoRA, Residual, Gate])
def test_a_zero_loss_is_found_in_a_model_with_such_a_branch(kind):
    model = nn.Sequential(nn.Linear(2, 2), kind())
    backward(model, factor=0.0)
    with pytest.raises(loss.GradientError, match=r"^all zero: 0\.weight, 0\.bias, 1\."):
        loss.check_gradients(model)


def test_neither_a_zero_bias_nor_a_weight_that_is_zero_in_part_excuses_zeros():
    model = nn.ModuleDict({"used": nn.LayerNorm(2), "times_zero": nn.Linear(2, 1)})
    model["rnn"] = nn.GRU(2, 2)
    model["used"].weight.data[0] = 0
    for name, parameter in model.named_parameters():
        if "bias" in name:
            nn.init.zeros_(parameter)
        parameter.grad = torch.ones_like(parameter) * (not name.startswith("times_zero"))
    with pytest.raises(
        loss.GradientError, match=r"^all zero: times_zero\.weight, times_zero\.bias"
    ):
        loss.check_gradients(model)


def test_a_zero_weight_without_a_gradient_excuses_no_zeros():
    model = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False))
    nn.init.zeros_(model[0].weight)
    model[1].weight.grad = torch.zeros(1, 1)
    with pytest.raises(loss.GradientError, match=r"^no gradient: 0\.weight; all zero: 1\.weight$"):
        loss.check_gradients(model)


def test_a_large_gradient_is_counted_without_overflow():
    model = nn.Linear(256, 256, bias=False)
    model.weight.grad = torch.ones(256, 256)
    loss.check_gradients(model)


def test_only_the_name_of_the_parameter_makes_it_a_bias():
    model = nn.ModuleDict({"bias_gate": nn.Linear(1, 1, bias=False), "behind": nn.Linear(1, 1)})
    nn.init.zeros_(model["bias_gate"].weight)
    for name, parameter in model.named_parameters():
        parameter.grad = torch.ones_like(parameter) * name.startswith("bias_gate")
    loss.check_gradients(model)


def test_parameters_without_elements_need_no_gradient():
    model = nn.Sequential(nn.Linear(2, 0), nn.Linear(0, 1))
    model(torch.ones(3, 2)).sum().backward()
    loss.check_gradients(model)


def test_an_optimizer_can_check_before_it_steps():
    if not hasattr(torch.optim.Optimizer, "register_step_pre_hook"):
        pytest.skip("torch 1.13 has no such hook")
    model = nn.Sequential(nn.Linear(2, 2), LoRA())
    optimizer = torch.optim.AdamW(groups(model), lr=0.1)
    optimizer.register_step_pre_hook(lambda *_: loss.check_gradients(model))
    for _ in range(2):
        backward(model)
        optimizer.step()
    before = [parameter.clone() for parameter in model.parameters()]
    backward(model, factor=0.0)
    with pytest.raises(loss.GradientError, match="^all zero: "):
        optimizer.step()
    assert all(map(torch.equal, model.parameters(), before))


@pytest.mark.parametrize("part", [1.0, 1j])
def test_a_complex_gradient_is_zero_where_both_of_its_parts_are(device, part):
    if device == "mps":
        pytest.skip("MPS adds no complex numbers up")
    model = nn.ParameterList([nn.Parameter(torch.ones(2, dtype=torch.cfloat, device=device))])
    model[0].grad = torch.tensor([0, part], dtype=torch.cfloat, device=device)
    loss.check_gradients(model)
    model[0].grad[1] = 0
    with pytest.raises(loss.GradientError, match="^all zero: 0$"):
        loss.check_gradients(model)
    model[0].grad[1] = part * math.nan
    with pytest.raises(loss.GradientError, match="^not finite: 0$"):
        loss.check_gradients(model)


def test_check_gradients_reads_sparse_gradients_and_leaves_them_as_they_are():
    model = nn.Embedding(5, 2, sparse=True)
    model(torch.tensor([1, 1])).sum().backward()
    loss.check_gradients(model)
    assert not model.weight.grad.is_coalesced()
    # +1 and -1 in the same place, so their sum is zero
    model.weight.grad = torch.sparse_coo_tensor([[1, 1]], [[1.0, 1.0], [-1.0, -1.0]], (5, 2))
    with pytest.raises(loss.GradientError, match="^all zero: weight$"):
        loss.check_gradients(model)
    model.weight.grad = torch.sparse_coo_tensor(torch.ones(1, 0), torch.ones(0, 2), (5, 2))
    with pytest.raises(loss.GradientError, match="^all zero: weight$"):
        loss.check_gradients(model)


def test_tied_parameters_are_named_once():
    model = nn.ModuleDict({"a": nn.Linear(2, 2, bias=False), "b": nn.Linear(2, 2, bias=False)})
    model["b"].weight = model["a"].weight
    with pytest.raises(loss.GradientError, match=r"^no gradient: a\.weight$"):
        loss.check_gradients(model)


@pytest.mark.parametrize(
    ("count", "end"),
    [(8, "6.weight, 7.weight"), (9, "7.weight and 1 more"), (12, "7.weight and 4 more")],
)
def test_check_gradients_shortens_long_lists(count, end):
    model = nn.ModuleList(nn.Linear(1, 1, bias=False) for _ in range(count))
    with pytest.raises(loss.GradientError, match=f"{end}$"):
        loss.check_gradients(model)


def test_a_model_without_faults_costs_one_read_from_the_device(device):
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)).to(device)
    model(torch.ones(1, 2, device=device)).sum().backward()
    with Reads() as reads:
        loss.check_gradients(model)
    assert reads.counts == {"tolist": 1}


class Elsewhere(torch.Tensor):
    """A gradient on a second device. Facts about it have to be moved to the first device."""

    device = torch.device("meta")
    moved = []

    def to(self, device):
        self.moved.append(device)
        return self.as_subclass(torch.Tensor)


def test_facts_from_several_devices_are_read_at_once():
    model = nn.Sequential(nn.Linear(2, 1, bias=False), nn.Linear(1, 1, bias=False))
    for layer, kind in zip(model, (torch.Tensor, Elsewhere)):
        layer.weight.grad = torch.ones_like(layer.weight).detach().as_subclass(kind)
    with mock.patch.object(Elsewhere, "moved", []) as moved:
        loss.check_gradients(model)
    assert moved == [torch.device("cpu")]


@pytest.mark.parametrize("zero", ["0 * output", "leaf", "rewrapped"])
def test_no_kind_of_zero_loss_passes_the_check(device, zero):
    model = nn.Linear(2, 1).to(device)
    output = model(torch.ones(1, 2, device=device)).sum()
    losses = {
        "0 * output": 0 * output,
        "leaf": torch.tensor(0.0, requires_grad=True),
        "rewrapped": output.detach().requires_grad_(),
    }
    losses[zero].backward()
    with pytest.raises(loss.GradientError):
        loss.check_gradients(model)


def test_weight_decay_moves_weights_on_gradients_of_zero():
    model = nn.Linear(2, 1)
    before = model.weight.clone()
    (0 * model(torch.ones(1, 2))).sum().backward()
    torch.optim.AdamW(groups(model), lr=0.1).step()
    assert not torch.equal(model.weight, before)


def on_two_ranks(rank, meeting_point):
    """The messages from check_gradients() for two DTensors, as seen by each rank."""
    from torch import distributed

    # A mesh would query the GPU of this machine, which a forked process must not do.
    with mock.patch("torch.cuda.is_available", return_value=False):
        distributed.init_process_group(
            "gloo",
            init_method=f"file://{meeting_point}",
            rank=rank,
            world_size=2,
            timeout=datetime.timedelta(seconds=30),
        )
        try:
            return with_a_process_group(), merged_over_ranks(rank)
        finally:
            if rank == 0:  # the process of rank 1 simply exits
                # Before torch 2.8, destroy_process_group() holds the GIL while it waits for gloo's
                # threads, which may need the GIL to free tensors (pytorch#154976).
                time.sleep(0.5)
                distributed.destroy_process_group()


def with_a_process_group():
    from torch.distributed._tensor import Shard, distribute_tensor
    from torch.distributed.device_mesh import init_device_mesh

    mesh, found = init_device_mesh("cpu", (2,)), []
    one, first, none = torch.ones(4), torch.tensor([1.0, 1.0, 0.0, 0.0]), torch.zeros(4)
    for weights, gradients in (
        ((one, one), (one, first)),
        ((one, one), (one, torch.tensor([1.0, 1.0, 1.0, math.nan]))),
        ((one, first), (none, one)),  # a shard that is zero does not make a weight zero
        ((one, none), (none, one)),
    ):
        spread = [distribute_tensor(x, mesh, [Shard(0)]) for x in (*weights, *gradients)]
        model = nn.ParameterDict(dict(zip("ab", map(nn.Parameter, spread[:2]))))
        for parameter, gradient in zip(model.values(), spread[2:]):
            parameter.grad = gradient
        try:
            found.append(loss.check_gradients(model))
        except loss.GradientError as error:
            found.append(str(error))
    return found


def merged_over_ranks(rank):
    from torch import distributed

    own, every = loss.RunningMean(), loss.RunningMean()
    own.update(torch.tensor(2.0 + 4 * rank), 3 - 2 * rank)
    gathered = [None] * 2
    distributed.all_gather_object(gathered, own)
    for mean in gathered:
        every.merge(mean)
    return every.compute()


def test_the_ranks_of_a_dtensor_see_its_whole_gradient_and_their_means_are_merged(device, tmp_path):
    if device == "mps":
        pytest.skip("no fork() where Metal is in use; --device cpu runs it")
    version = tuple(int(part) for part in re.findall(r"\d+", torch.__version__)[:2])
    if version < (2, 4) or "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("needs fork, and the DTensors of torch 2.4 or newer")
    # Otherwise, both ranks would import these modules.
    importlib.import_module("torch.distributed._tensor")
    importlib.import_module("torch._dynamo")
    with multiprocessing.get_context("fork").Pool(1) as pool:
        other = pool.apply_async(on_two_ranks, (1, tmp_path / "meeting"))
        ranks = [on_two_ranks(0, tmp_path / "meeting"), other.get(timeout=60)]
    assert ranks == [([None, "not finite: b", "all zero: a", None], 3.0)] * 2
