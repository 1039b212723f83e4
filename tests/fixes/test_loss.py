import math
from collections import OrderedDict, UserDict, namedtuple
from dataclasses import make_dataclass
from types import MappingProxyType
from unittest import mock

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from torch import nn

from reference_fixes import loss

NAMES = st.lists(
    st.sampled_from(["horizon_1", "horizon_5", "horizon_10", "features", "predictions"]),
    unique=True,
    min_size=1,
)
CONTAINERS = {
    "dict": dict,
    "OrderedDict": OrderedDict,
    "UserDict": UserDict,
    "MappingProxyType": MappingProxyType,
    "namedtuple": lambda items: namedtuple("Output", items)(**items),
    "dataclass": lambda items: make_dataclass("Output", list(items))(**items),
}
containers = st.sampled_from(sorted(CONTAINERS))


def tensors(names, offset=0.0):
    return {name: torch.full((2,), offset + number) for number, name in enumerate(names)}


def test_only_the_first_dimension_has_to_agree():
    for prediction, target in (
        (torch.ones(2, 3), torch.ones(2)),
        (torch.ones(2), torch.ones(2, 3)),
    ):
        assert loss.match({"a": prediction}, {"a": target})["a"] == (prediction, target)


@given(NAMES, NAMES, containers, containers)
def test_every_target_gets_the_prediction_of_its_name_or_all_the_missing_are_named(
    given_names, wanted, outer, inner
):
    predictions = CONTAINERS[outer](tensors(given_names))
    targets = CONTAINERS[inner](tensors(wanted, offset=10.0))
    missing = [name for name in wanted if name not in given_names]
    if missing:
        with pytest.raises(LookupError) as error:
            loss.match(predictions, targets)
        assert str(missing) in str(error.value)
        assert str(given_names) in str(error.value)
    else:
        pairs = loss.match(predictions, targets)
        assert list(pairs) == wanted
        for name, (prediction, target) in pairs.items():
            assert prediction[0] == given_names.index(name)
            assert target[0] == 10 + wanted.index(name)


@given(containers, st.sampled_from(["predictions", "outputs", "horizons"]))
def test_a_nested_output_is_never_a_silent_zero_and_the_error_says_where_it_is(container, key):
    nested = CONTAINERS[container](tensors(["horizon_1", "horizon_5"]))
    with pytest.raises(LookupError, match=f"all of them are in '{key}'"):
        loss.match({key: nested, "features": torch.ones(2)}, tensors(["horizon_1", "horizon_5"]))


def test_names_may_be_integers_and_are_never_taken_for_text():
    assert list(loss.match({1: torch.ones(2), 5: torch.ones(2)}, {5: torch.ones(2)})) == [5]
    with pytest.raises(LookupError, match=r"lack \['1'\]; got \[1\]"):
        loss.match({1: torch.ones(2)}, {"1": torch.ones(2)})


ONES = torch.ones(2)
EXPECTED = "expected a mapping, a dataclass or a named tuple of tensors"


@pytest.mark.parametrize(
    ("predictions", "targets", "error", "text"),
    [
        ({"a": ONES}, {}, LookupError, "no targets: a loss over nothing would be zero or NaN$"),
        ([ONES], {"a": ONES}, TypeError, f"predictions is a list; {EXPECTED}$"),
        (ONES, {"a": ONES}, TypeError, f"predictions is a Tensor; {EXPECTED}$"),
        ({"a": ONES}, [ONES], TypeError, f"targets is a list; {EXPECTED}$"),
        ({"b": ONES}, {"a": ONES}, LookupError, r"predictions lack \['a'\]; got \['b'\]$"),
        (
            {"x": {"a": ONES}, "y": {"a": ONES}, "z": {"b": ONES}},
            {"a": ONES},
            LookupError,
            r"predictions lack \['a'\]; got \['x', 'y', 'z'\]; all of them are in 'x', 'y'$",
        ),
        ({"a": None}, {"a": ONES}, TypeError, "prediction 'a' is None"),
        ({"a": ONES}, {"a": 3.0}, TypeError, "target 'a' is 3.0"),
        (
            {"a": torch.ones(3, 1)},
            {"a": ONES},
            ValueError,
            r"'a': prediction \[3, 1\] and target \[2\]",
        ),
    ],
)
def test_what_cannot_be_matched_raises_with_the_whole_reason(predictions, targets, error, text):
    with pytest.raises(error, match=f"^{text}"):
        loss.match(predictions, targets)


finite = st.floats(-1e6, 1e6, width=32)


@given(st.lists(st.tuples(finite, st.booleans()), min_size=1, max_size=20))
@example([(1.0, False)])
def test_masked_mean_is_the_mean_of_the_selected_values_and_has_its_gradient(device, rows):
    values = torch.tensor([value for value, _ in rows], device=device, requires_grad=True)
    mask = torch.tensor([selected for _, selected in rows], device=device)
    if not mask.any():
        with pytest.raises(ValueError, match=f"selects 0 of {len(rows)} values"):
            loss.masked_mean(values, mask)
        return
    mean = loss.masked_mean(values, mask)
    torch.testing.assert_close(mean, values[mask].mean(), rtol=1e-4, atol=1e-3)
    mean.backward()
    torch.testing.assert_close(values.grad, mask.float() / mask.sum())


@given(st.integers(0, 5), st.sampled_from([math.nan, math.inf, -math.inf]), st.booleans())
def test_masked_mean_refuses_values_that_are_not_finite_wherever_they_are(
    device, place, bad, selected
):
    values, mask = torch.ones(6, device=device), torch.ones(6, dtype=torch.bool, device=device)
    values[place], mask[place] = bad, selected
    where = (
        "1 values inside the mask and 0 outside"
        if selected
        else "0 values inside the mask and 1 outside"
    )
    with pytest.raises(ValueError, match=where):
        loss.masked_mean(values, mask)


def test_masked_mean_broadcasts_its_mask_and_wants_bool(device):
    values = torch.tensor([[1.0, 2.0], [3.0, 4.0]], device=device)
    assert loss.masked_mean(values, torch.tensor([[True], [False]], device=device)) == 1.5
    with pytest.raises(TypeError, match=r"torch\.float32"):
        loss.masked_mean(values, torch.ones(2, 2, device=device))


@given(
    st.lists(st.tuples(st.floats(-1e3, 1e3, width=32), st.integers(0, 100)), max_size=30),
    st.booleans(),
)
def test_running_mean_is_the_weighted_mean_and_refuses_to_be_empty(device, updates, as_tensor):
    mean = loss.RunningMean()
    for value, weight in updates:
        mean.update(
            torch.tensor([value], device=device, requires_grad=True) if as_tensor else value, weight
        )
    total = sum(weight for _, weight in updates)
    if total == 0:
        with pytest.raises(
            ValueError,
            match=r"^mean of nothing: no value of any weight was added \(is the loader empty\?\)$",
        ):
            mean.compute()
    else:
        expected = math.fsum(value * weight for value, weight in updates) / total
        assert mean.compute() == pytest.approx(
            expected, rel=1e-5 if device == "mps" else 1e-9, abs=1e-5 if device == "mps" else 1e-9
        )


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


@pytest.mark.parametrize("value", ["0.5 apples", [1.0], None])
def test_running_mean_refuses_what_is_no_number(value):
    with pytest.raises((TypeError, ValueError), match="0.5 apples|list|NoneType"):
        loss.RunningMean().update(value)


def test_low_precision_is_not_rounded_on_the_way_to_the_mean(device):
    for dtype in (torch.float16, torch.bfloat16):
        means = [
            loss.masked_mean(
                torch.ones(count, dtype=dtype, device=device), torch.tensor(True, device=device)
            )
            for count in range(1, 200)
        ]
        assert all(mean.item() == 1.0 for mean in means)


class OnMPS(torch.Tensor):
    """A tensor that says it is on MPS, which has no float64."""

    device = torch.device("mps")


def test_running_mean_sums_in_float64_where_the_device_has_it():
    for value, dtype in (
        (torch.ones(1), torch.float64),
        (torch.ones(1).as_subclass(OnMPS), torch.float32),
    ):
        mean = loss.RunningMean()
        mean.update(value)
        assert mean._sum.dtype == dtype


def test_a_value_counts_once_unless_it_has_a_weight():
    mean = loss.RunningMean()
    mean.update(1.0)
    mean.update(4.0, 1)
    assert mean.compute() == 2.5


def test_running_mean_keeps_no_graph_and_ignores_what_has_no_weight(device):
    mean, weight = loss.RunningMean(), torch.ones(1, device=device, requires_grad=True)
    mean.update((weight * 2).sum())
    mean.update(float("nan"), weight=0)
    assert not mean._sum.requires_grad
    assert mean.compute() == 2.0


@pytest.mark.parametrize("weight", [-1.0, math.nan, math.inf])
def test_running_mean_refuses_impossible_weights(weight):
    with pytest.raises(ValueError, match="weight="):
        loss.RunningMean().update(1.0, weight)


@pytest.mark.parametrize(
    ("value", "text"),
    [(torch.ones(2), r"\[2\]"), (torch.ones(0), r"\[0\]"), (torch.tensor(1j), "complex64")],
)
def test_running_mean_refuses_what_is_not_one_real_number(value, text):
    with pytest.raises(ValueError, match=text):
        loss.RunningMean().update(value)


GRADIENTS = {
    "fine": lambda p: torch.ones_like(p),
    "one nonzero": lambda p: (
        torch.eye(*p.shape, device=p.device)
        if p.dim() == 2
        else torch.arange(p.numel(), device=p.device).float()
    ),
    "no gradient": lambda p: None,
    "not finite": lambda p: torch.full_like(p, math.inf),
    "nan": lambda p: torch.full_like(p, math.nan),
    "all zero": lambda p: torch.zeros_like(p),
}


@given(
    st.lists(st.sampled_from(sorted(GRADIENTS)), min_size=4, max_size=4), st.sets(st.integers(0, 3))
)
def test_check_gradients_names_exactly_the_parameters_that_lack_something(device, kinds, frozen):
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)).to(device)
    expected = {}
    for number, ((name, parameter), kind) in enumerate(zip(model.named_parameters(), kinds)):
        parameter.grad = GRADIENTS[kind](parameter)
        parameter.requires_grad_(number not in frozen)
        problem = "not finite" if kind == "nan" else kind
        if number not in frozen and problem in ("no gradient", "not finite", "all zero"):
            expected.setdefault(problem, []).append(name)
    if len(frozen) == 4:
        with pytest.raises(ValueError, match="Sequential has no trainable parameter"):
            loss.check_gradients(model)
    elif expected:
        with pytest.raises(loss.GradientError) as error:
            loss.check_gradients(model)
        order = ("no gradient", "not finite", "all zero")
        assert str(error.value) == "; ".join(
            f"{problem}: {', '.join(expected[problem])}" for problem in order if problem in expected
        )
    else:
        loss.check_gradients(model)


def test_check_gradients_lets_named_parameters_go_without(device):
    model = nn.Sequential(nn.Linear(2, 1)).to(device)
    model[0].weight.sum().backward()
    loss.check_gradients(model, ignore=["*.bias"])
    loss.check_gradients(model, ignore="*.bias")
    with pytest.raises(loss.GradientError, match="no gradient: 0.bias"):
        loss.check_gradients(model, ignore=["*.weight"])


def test_check_gradients_reads_sparse_gradients():
    model = nn.Embedding(5, 2, sparse=True)
    model(torch.tensor([1])).sum().backward()
    loss.check_gradients(model)
    (0 * model(torch.tensor([1]))).sum().backward()
    model.weight.grad = model.weight.grad * 0
    with pytest.raises(loss.GradientError, match="all zero: weight"):
        loss.check_gradients(model)


@pytest.mark.parametrize(
    ("count", "end"),
    [(8, "6.weight, 7.weight"), (9, "7.weight and 1 more"), (12, "7.weight and 4 more")],
)
def test_check_gradients_shortens_long_lists(count, end):
    model = nn.ModuleList(nn.Linear(1, 1, bias=False) for _ in range(count))
    with pytest.raises(loss.GradientError, match=f"{end}$"):
        loss.check_gradients(model)


def test_a_pattern_may_be_given_alone_and_is_not_taken_for_its_letters():
    with pytest.raises(loss.GradientError, match="no gradient: weight, bias"):
        loss.check_gradients(nn.Linear(2, 1), ignore="*.other")


class Elsewhere(torch.Tensor):
    """A gradient on a second device: facts about it have to come to the first one."""

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
