import collections
import copy
import importlib
import re
import types
import warnings
from unittest import mock

import numpy
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from reference_fixes import optimizers

# LBFGS has a single state for all parameters and needs a closure. SparseAdam needs sparse
# gradients.
OTHERS = {"Optimizer", "LBFGS", "SparseAdam"}
CLASSES = {
    name: each
    for name, each in vars(torch.optim).items()
    if isinstance(each, type) and issubclass(each, torch.optim.Optimizer) and name not in OTHERS
}
OPTIONS = {
    "ASGD": {"lambd": 0.1},
    "Adadelta": {},
    "Adam": {"amsgrad": True},
    "RMSprop": {"momentum": 0.9, "centered": True},
    "SGD": {"momentum": 0.9},
}
SHAPES = {"Muon": [(2, 3), (3, 3)], "Adafactor": [(3,), (2, 3)]}  # Muon accepts only matrices


def parameters(name="Adam", dtype=torch.float32, device="cpu"):
    shapes = SHAPES.get(name, [(), (3,), (2, 3), (0, 2)])
    return [torch.nn.Parameter(torch.ones(shape, dtype=dtype, device=device)) for shape in shapes]


def in_two_groups(weights):
    return [{"params": weights[:1]}, {"params": weights[1:]}]


def made(name, weights, **options):
    return CLASSES[name](in_two_groups(weights), lr=0.1, **{**OPTIONS.get(name, {}), **options})


def weights_of(optimizer):
    return [weight for group in optimizer.param_groups for weight in group["params"]]


def step(optimizer, gradient=1.0):
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.grad = torch.full_like(parameter, gradient)
    optimizer.step()


def trained(name="Adam", steps=2, **options):
    optimizer = made(name, parameters(name), **options)
    for _ in range(steps):
        step(optimizer)
    return optimizer


def tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    parts = value.values() if isinstance(value, dict) else value
    return (
        [found for part in parts for found in tensors(part)] if hasattr(parts, "__iter__") else []
    )


def state_of(optimizer):
    return [tensor.clone() for tensor in tensors(optimizer.state_dict()["state"])]


def assert_equal(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        assert one.dtype == other.dtype
        assert torch.equal(one, other)


def load(optimizer, state):
    optimizers.load_optimizer_state(optimizer, state)
    return optimizer


def refused(error, optimizer, state):
    """Returns the message of the error, after asserting that the optimizer is unchanged."""
    before, saved = state_of(optimizer), copy.deepcopy(optimizer.state_dict())
    with pytest.raises(error) as raised:
        load(optimizer, state)
    assert_equal(state_of(optimizer), before)
    assert optimizer.state_dict()["param_groups"] == saved["param_groups"]
    assert optimizer.state_dict()["state"].keys() == saved["state"].keys()
    return str(raised.value)


def test_a_step_of_the_copy_leaves_the_momentum_of_the_source_196083(device):
    pair = []
    for gradient in (1.0, 100.0):
        weight = torch.zeros(1, device=device, requires_grad=True)
        pair.append(torch.optim.SGD([weight], lr=0.1, momentum=0.9))
        (weight * gradient).sum().backward()
    source, copied = pair
    source.step()
    load(copied, source.state_dict()).step()
    momenta = [each.state_dict()["state"][0]["momentum_buffer"].item() for each in pair]
    assert momenta == [1.0, pytest.approx(0.9 + 100.0)]


@given(
    name=st.sampled_from(sorted(CLASSES)),
    dtype=st.sampled_from([torch.float32, torch.bfloat16, torch.float64, torch.complex64]),
    steps=st.integers(0, 3),
    gradients=st.lists(st.sampled_from([0.0, -2.0, 1e30, float("inf"), float("nan")]), max_size=2),
)
def test_the_copy_is_what_torch_loads_and_shares_nothing(device, name, dtype, steps, gradients):
    if device == "mps" and dtype == torch.float64:
        dtype = torch.float32  # MPS has no float64
    try:
        source = made(name, parameters(name, dtype, device))
        for gradient in [0.5, *gradients][:steps]:
            step(source, gradient)
    except (RuntimeError, TypeError, ValueError):  # little or no support for complex numbers
        return
    state = source.state_dict()
    before = [tensor.clone() for tensor in tensors(state)]
    low = parameters(name, torch.float32 if dtype == torch.bfloat16 else dtype, device)
    copied, expected = load(made(name, low), state), made(name, low)
    expected.load_state_dict(copy.deepcopy(state))
    for one, other in zip(state_of(copied), state_of(expected)):
        torch.testing.assert_close(one, other, rtol=0, atol=0, equal_nan=True)
    assert copied.state_dict()["param_groups"] == expected.state_dict()["param_groups"]
    for tensor in tensors(copied.state_dict()):
        tensor.fill_(7)
    for tensor, old in zip(tensors(state), before):
        torch.testing.assert_close(tensor, old, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_a_loaded_optimizer_goes_on_as_the_source_does(name):
    source = trained(name)
    copied = made(name, [weight.detach().clone() for weight in weights_of(source)])
    load(copied, source.state_dict())
    for optimizer in (source, copied):
        step(optimizer, 3.0)
    assert_equal(state_of(copied), state_of(source))
    assert_equal(weights_of(copied), weights_of(source))


def per_element(optimizer):
    """Returns (position, key) for each tensor in the state with several elements."""
    return [
        (n, key)
        for n, weight in enumerate(weights_of(optimizer))
        for key, value in optimizer.state[weight].items()
        if isinstance(value, torch.Tensor) and value.numel() > 1
    ]


@pytest.mark.parametrize("name", sorted(CLASSES))
@pytest.mark.parametrize("fused", [False, True])
def test_every_value_of_another_shape_is_refused_for_every_optimizer_of_torch(name, fused):
    source = trained(name)
    options = {}
    if fused:
        try:
            options = {"fused": True}
            target = made(name, parameters(name), **options)
        except (RuntimeError, TypeError):
            pytest.skip("there is no fused one here")
    assert {n for n, _ in per_element(source)} == {
        n for n, weight in enumerate(weights_of(source)) if weight.numel() > 1
    }
    for n, key in per_element(source):
        for change in (lambda value: value[..., :-1], lambda value: value[None]):
            target = made(name, parameters(name), **options)
            state = copy.deepcopy(source.state_dict())
            for group in state["param_groups"]:
                group.update(options)
            load(made(name, parameters(name), **options), state)
            value = state["state"][n][key] = change(state["state"][n][key])
            text = refused(ValueError, target, state)
            shape = list(weights_of(target)[n].shape)
            assert f"parameter {n} has shape {shape}, its {key} in the state" in text
            assert f"in the state {list(value.shape)}" in text


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_a_state_that_lacks_what_the_step_reads_is_refused(name):
    source = trained(name)
    for n, key in [
        (n, key) for n, weight in enumerate(weights_of(source)) for key in source.state[weight]
    ]:
        state = copy.deepcopy(source.state_dict())
        others = [each for each in state["state"][n] if each != key]
        del state["state"][n][key]
        if not others:  # like the state of a parameter that had no gradient yet
            load(made(name, parameters(name)), state)
            continue
        assert refused(ValueError, made(name, parameters(name)), state) == (
            f"parameter {n} has no {key} in the state, which {name} keeps; it has "
            f"{', '.join(others)}{MADE_FOR_ANOTHER}"
        )


def test_all_that_a_state_lacks_is_told():
    state = trained().state_dict()
    state["state"][1] = {"step": torch.tensor(1.0)}
    same = type("Same", (torch.optim.Adam,), {})
    assert refused(ValueError, same(in_two_groups(parameters())), state) == (
        "parameter 1 has no exp_avg, exp_avg_sq, max_exp_avg_sq in the state, which Adam keeps; it "
        f"has step{MADE_FOR_ANOTHER}"
    )


def test_the_keys_of_a_state_may_be_names():
    saved, names = trained().state_dict(), ["d", "c", "b", "a"]
    groups = [
        {**group, "params": [names[n] for n in group["params"]]} for group in saved["param_groups"]
    ]
    state = {names[n]: each for n, each in saved["state"].items()}
    copied = load(made("Adam", parameters()), {"state": state, "param_groups": groups})
    assert_equal(state_of(copied), tensors(saved["state"]))
    state["c"]["exp_avg"] = torch.zeros(9)
    assert refused(ValueError, copied, {"state": state, "param_groups": groups}) == (
        f"parameter 1 has shape [3], its exp_avg in the state [9]{MADE_FOR_ANOTHER}"
    )


def test_a_lazy_parameter_takes_any_state_and_the_others_theirs():
    layers = torch.nn.LazyLinear(3, bias=False), torch.nn.Linear(2, 2, bias=False)
    optimizer = torch.optim.Adam(torch.nn.Sequential(*layers).parameters())
    source = torch.optim.Adam([torch.nn.Parameter(torch.ones(n, 2)) for n in (3, 2)])
    step(source)
    assert_equal(state_of(load(optimizer, source.state_dict())), state_of(source))
    state = source.state_dict()
    state["state"][1]["exp_avg"] = torch.ones(3, 2)
    assert "parameter 1 has shape [2, 2], its exp_avg" in refused(ValueError, optimizer, state)


MADE_FOR_ANOTHER = (
    "; was the state saved for another model or optimizer, or with its parameters in another order?"
)


def refusal(target, source):
    return refused(ValueError, made(target, parameters()), trained(source).state_dict())


@pytest.mark.parametrize(
    ("source", "target", "text"),
    [
        ("SGD", "Adam", "group 0 of the state has no betas, eps, which Adam needs; it has lr, mom"),
        (
            "Adam",
            "SGD",
            "group 0 of the state has no momentum, dampening, which SGD needs; it has l",
        ),
        ("Adam", "Adamax", "parameter 0 has no exp_inf in the state, which Adamax keeps; it has"),
        ("Adamax", "Adam", "parameter 0 has no exp_avg_sq in the state, which Adam keeps; it has"),
        ("RMSprop", "Adagrad", "group 0 of the state has no lr_decay, "),
    ],
)
def test_the_state_of_another_optimizer_is_refused(source, target, text):
    assert refusal(target, source).startswith(text)


@pytest.mark.parametrize("pair", [("Adam", "AdamW"), ("AdamW", "Adam"), ("Adam", "RAdam")])
def test_the_state_of_an_optimizer_that_keeps_the_same_fits(pair):
    source = trained(pair[0], amsgrad=False) if pair[0] == "Adam" else trained(pair[0])
    copied = load(made(pair[1], parameters()), source.state_dict())
    assert_equal(state_of(copied), state_of(source))
    step(copied)


def test_only_the_second_group_may_be_what_does_not_fit():
    state = trained("Adam").state_dict()
    group = state["param_groups"][1]
    del group["betas"]
    assert refused(ValueError, made("Adam", parameters()), state) == (
        "group 1 of the state has no betas, which Adam needs; it has "
        f"{', '.join(key for key in group if key != 'params')}{MADE_FOR_ANOTHER}"
    )


def test_the_options_of_the_state_say_what_is_kept():
    plain = trained("Adam", amsgrad=False).state_dict()
    load(trained("Adam", amsgrad=True), plain)  # continues without amsgrad
    plain["param_groups"][1]["amsgrad"] = True
    text = refused(ValueError, made("Adam", parameters()), plain)
    assert text.startswith("parameter 1 has no max_exp_avg_sq in the state, which Adam keeps")


def test_what_a_factored_state_should_be_is_told():
    if "Adafactor" not in CLASSES:
        pytest.skip("Adafactor came in 2.5")
    state = trained("Adafactor").state_dict()
    state["state"][1]["row_var"] = torch.zeros(3, 1)
    assert refused(ValueError, made("Adafactor", parameters("Adafactor")), state) == (
        "parameter 1 has shape [2, 3], its row_var in the state [3, 1], not [2, 1]"
        + MADE_FOR_ANOTHER
    )


def test_what_sparse_gradients_lead_to_is_compared_too():
    def sparse(*rows):
        weights = [torch.ones(count, 2, dtype=torch.float64) for count in rows]
        optimizer = torch.optim.SparseAdam(in_two_groups(weights))
        for weight in weights:
            weight.grad = torch.eye(*weight.shape, dtype=weight.dtype).to_sparse()
        optimizer.step()
        return optimizer

    source = sparse(3, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        filters = list(warnings.filters)
        copied = load(sparse(3, 4), source.state_dict())
        assert warnings.filters == filters
    assert_equal(state_of(copied), state_of(source))
    assert refused(ValueError, sparse(3, 5), source.state_dict()) == (
        f"parameter 1 has shape [5, 2], its exp_avg in the state [4, 2]{MADE_FOR_ANOTHER}"
    )
    row = torch.optim.SparseAdam([torch.ones(3)])
    row.param_groups[0]["params"][0].grad = torch.ones(3).to_sparse()
    row.step()
    assert refused(ValueError, torch.optim.SparseAdam([torch.ones(4)]), row.state_dict()) == (
        f"parameter 0 has shape [4], its exp_avg in the state [3]{MADE_FOR_ANOTHER}"
    )
    state = copy.deepcopy(source.state_dict())
    state["state"][0]["step"] = torch.tensor(1.0)  # a number in this optimizer
    load(copied, state)
    del state["state"][1]["exp_avg_sq"]
    assert "parameter 1 has no exp_avg_sq in the state" in refused(ValueError, source, state)


class Clipped(torch.optim.Adam):
    """An optimizer whose step() calls torch's step()."""

    def step(self, closure=None):
        return super().step(closure)


class Renamed(torch.optim.Adam):
    def step(self, closure=None):
        for weight in weights_of(self):
            mean = torch.zeros_like(weight)
            self.state[weight] = {"step": torch.tensor(1.0), "exp_avg": mean}


@pytest.mark.parametrize(
    "kind",
    [
        Clipped,
        Renamed,
        type("Same", (torch.optim.Adam,), {}),
        type("Same", (type("Mixin", (), {}), type("Between", (torch.optim.Adam,), {})), {}),
    ],
)
def test_a_subclass_keeps_what_its_base_does_if_its_step_is_not_its_own(kind):
    weights = parameters()
    source = kind([{"params": weights[:1]}, {"params": weights[1:]}])
    step(source)
    state = source.state_dict()
    assert_equal(
        state_of(load(kind(parameters()[:1] + parameters()[1:]), one_group(state))),
        state_of(source),
    )
    state["state"][2]["exp_avg"] = torch.zeros(3, 2)
    assert "parameter 2 has shape [2, 3], its exp_avg in the state [3, 2]" in refused(
        ValueError, source, state
    )
    if kind.__name__ == "Same":
        del state["state"][2]["exp_avg"]
        assert "parameter 2 has no exp_avg in the state" in refused(ValueError, source, state)


def one_group(state):
    first, second = state["param_groups"]
    return {**state, "param_groups": [{**first, "params": first["params"] + second["params"]}]}


def test_a_check_runs_no_hook_and_draws_no_number():
    module = importlib.import_module("torch.optim.optimizer")
    register = getattr(module, "register_optimizer_step_pre_hook", None)
    target, state, seen = made("Adam", parameters()), trained().state_dict(), []
    random_state = torch.get_rng_state()
    handles = [register(lambda *_: seen.append("global"))] if register else []
    if hasattr(target, "register_step_pre_hook"):
        target.register_step_pre_hook(lambda *_: seen.append("own"))
    try:
        load(target, state)
    finally:
        for handle in handles:
            handle.remove()
    assert seen == []
    assert torch.equal(torch.get_rng_state(), random_state)


class Rows(torch.optim.Optimizer):
    """An optimizer from outside torch that keeps two values per element, and a growing value."""

    __module__ = "torch_optimizer.rows"  # this package exists

    def __init__(self, weights, lr=0.1):
        super().__init__(weights, {"lr": lr})

    def step(self):
        for weight in weights_of(self):
            row = torch.zeros(1, weight.numel())
            seen = self.state[weight].get("seen", row[:0])
            self.state[weight] = {
                "seen": torch.cat([seen, row]),
                "mean": torch.zeros_like(weight),
                "most": torch.zeros_like(weight),
            }


def test_an_optimizer_of_another_kind_is_compared_with_what_it_has_itself():
    source, target = (
        Rows([{"params": parameters()[:2]}, {"params": parameters()[2:]}]) for _ in "ab"
    )
    source.step()
    state = copy.deepcopy(source.state_dict())
    load(target, state)
    source.step()
    load(source, state)  # the growing value had a different shape
    del state["state"][1]["mean"]
    load(source, state)
    state["state"][2]["mean"] = torch.zeros(3, 2)
    assert "parameter 2 has shape [2, 3], its mean in the state [3, 2]" in refused(
        ValueError, source, state
    )


def test_an_optimizer_without_a_state_gets_none_by_a_refusal():
    source = Rows(parameters())
    source.step()
    state = source.state_dict()
    state["param_groups"][0]["lr"] = "fast"
    assert "'fast'" in refused(ValueError, Rows(parameters()), state)


def test_a_parameter_may_have_no_momentum():
    state = made("SGD", parameters()).state_dict()
    state["state"][1] = {"momentum_buffer": None}
    target = load(made("SGD", parameters()), state)
    assert target.state[weights_of(target)[1]] == {"momentum_buffer": None}


@pytest.mark.parametrize(
    ("shape", "saved"), [((5,), ()), ((5,), (1,)), ((5,), (2,)), ((1,), (5,)), ((1,), (0,))]
)
def test_a_state_that_would_be_read_beyond_its_end_is_refused(shape, saved):
    target, source = (
        torch.optim.Adam([{"params": [torch.ones(3)]}, {"params": [torch.ones(each)]}])
        for each in (shape, saved)
    )
    step(source)
    assert f"parameter 1 has shape {list(shape)}, its exp_avg in the state {list(saved)}" in (
        refused(ValueError, target, source.state_dict())
    )


def test_a_number_may_have_a_dimension():
    state = trained().state_dict()
    state["state"][1]["step"] = torch.tensor([2.0])
    load(made("Adam", parameters()), state)


def test_the_step_that_shows_what_fits_takes_no_memory():
    weight = torch.zeros(1).expand(2**50)
    state = torch.optim.Adam([weight]).state_dict()
    state["state"][0] = {"step": torch.tensor(1.0), "exp_avg": weight, "exp_avg_sq": weight}
    load(torch.optim.Adam([weight]), state)


def test_the_parameter_is_counted_over_the_groups_and_named_if_it_has_a_name():
    first, second, third = parameters()[:3]
    groups = [
        {"params": [first], "param_names": ["scale"]},
        {"params": [second, third], "param_names": ["bias", "weight"]},
    ]
    source = torch.optim.Adam(groups)
    step(source)
    state = source.state_dict()
    state["state"][2]["exp_avg"] = torch.zeros(3, 2)
    assert "parameter 2 (weight) has shape [2, 3], its exp_avg in the state [3, 2]" in refused(
        ValueError, torch.optim.Adam(groups), state
    )


def named(*names):
    weights = [torch.nn.Parameter(torch.ones(2)) for _ in names]
    return torch.optim.Adam(
        [
            {"params": weights[:1], "param_names": list(names[:1])},
            {"params": weights[1:], "param_names": list(names[1:])},
        ]
    )


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (("key", "query", "value"), "parameter 0 (key) is query in the state"),
        (("query", "value", "key"), "parameter 1 (value) is key in the state"),
    ],
)
def test_the_same_names_in_another_order_are_refused(names, text):
    source = named("query", "key", "value")
    step(source)
    assert refused(ValueError, named(*names), source.state_dict()) == text + MADE_FOR_ANOTHER


@pytest.mark.parametrize("names", [("query", "key"), ("module.query", "module.key")])
def test_the_same_order_and_renamed_parameters_are_loaded(names):
    source = named("query", "key")
    step(source)
    assert_equal(state_of(load(named(*names), source.state_dict())), state_of(source))


def test_names_on_one_side_alone_are_not_compared():
    source = named("query", "key")
    step(source)
    unnamed = load(torch.optim.Adam(in_two_groups(weights_of(source))), source.state_dict())
    state = copy.deepcopy(source.state_dict())
    for group in state["param_groups"]:
        del group["param_names"]
    for target in (unnamed, load(named("key", "query"), state)):
        assert_equal(state_of(target), state_of(source))


@pytest.mark.parametrize("groups", [[4], [2, 2], [3, 1], [1], [1, 3, 1]], ids=str)
def test_groups_of_other_sizes_are_refused(groups):
    optimizer = torch.optim.Adam([{"params": parameters()[:n]} for n in groups])
    assert refused(ValueError, optimizer, made("Adam", parameters()).state_dict()) == (
        f"the optimizer has groups of {groups} parameters, the state of [1, 3]: were the groups "
        "made in another way, or were parameters frozen or added?"
    )


@pytest.mark.parametrize(
    ("state", "got"),
    [
        (None, "NoneType"),
        ([1], "list"),
        ({"model": 1, "optimizer": 2}, "dict of ['model', 'optimizer']"),
        ({"state": {}}, "dict of ['state']"),
        ({"param_groups": []}, "dict of ['param_groups']"),
    ],
)
def test_what_is_no_state_is_refused(state, got):
    text = refused(TypeError, trained(), state)
    assert text == (
        "expected what state_dict() of an optimizer returned, a dictionary of 'state' and "
        f"'param_groups'; got {got}"
    )


@given(
    own=st.sampled_from([torch.float32, torch.float64]),
    rate=st.floats(1e-8, 10.0),
    shape=st.sampled_from([(), (1,)]),
    saved=st.sampled_from([float, torch.float32, torch.float64]),
)
def test_a_tensor_learning_rate_stays_that_tensor_with_the_loaded_value(own, rate, shape, saved):
    state = trained("SGD").state_dict()
    value = rate if saved is float else torch.tensor(rate, dtype=saved)
    state["param_groups"][0]["lr"] = value
    optimizer, tensor = made("SGD", parameters()), torch.full(shape, 0.5, dtype=own)
    optimizer.param_groups[0]["lr"] = tensor
    load(optimizer, state)
    assert optimizer.param_groups[0]["lr"] is tensor
    assert tensor.shape == shape
    assert tensor.item() == torch.as_tensor(value, dtype=own).item()
    assert state["param_groups"][0]["lr"] is value


@pytest.mark.parametrize("loaded", [0.0, torch.tensor([0.0], requires_grad=True)])
def test_a_tensor_learning_rate_of_zero_stays_that_tensor_and_may_have_a_gradient(loaded):
    state = trained("SGD").state_dict()
    state["param_groups"][0]["lr"] = loaded  # torch treats a single element as a number
    optimizer, tensor = made("SGD", parameters()), torch.tensor(1.0, requires_grad=True)
    optimizer.param_groups[0]["lr"], alias = tensor, tensor.detach()
    assert load(optimizer, state).param_groups[0]["lr"] is tensor
    assert [tensor.item(), alias.item()] == [0.0, 0.0]
    assert getattr(loaded, "requires_grad", True)


def test_a_float_learning_rate_stays_a_float():
    state = trained("SGD").state_dict()
    for loaded in (0.25, torch.tensor(0.25), torch.tensor([0.25])):
        state["param_groups"][0]["lr"] = loaded
        rate = load(made("SGD", parameters()), state).param_groups[0]["lr"]
        assert type(rate) is float
        assert rate == 0.25


def test_each_group_gets_its_own_learning_rate():
    groups = [{"params": [each], "lr": 0.1 * n} for n, each in enumerate(parameters()[:3], 1)]
    state = torch.optim.SGD(groups).state_dict()
    optimizer = torch.optim.SGD([dict(group) for group in groups])
    tensors = [torch.tensor(1.0), torch.tensor(1.0)]
    for group, tensor in zip(optimizer.param_groups[1:], tensors):
        group["lr"] = tensor
    rates = [group["lr"] for group in load(optimizer, state).param_groups]
    assert rates[0] == 0.1
    assert [id(rate) for rate in rates[1:]] == list(map(id, tensors))
    assert [tensor.item() for tensor in tensors] == pytest.approx([0.2, 0.3])


@pytest.mark.parametrize("kind", [float, torch.tensor])
@pytest.mark.parametrize("second", [1.0, 0.1])
def test_groups_that_share_a_tensor_get_each_its_own_learning_rate(kind, second):
    tensor, loaded = torch.tensor(0.5, requires_grad=True), (1.0, second, second)
    optimizer = torch.optim.SGD([{"params": [each]} for each in parameters()[:3]], lr=0.1)
    for group in optimizer.param_groups:
        group["lr"] = tensor
    state = copy.deepcopy(optimizer.state_dict())
    for group, rate in zip(state["param_groups"], loaded):
        group["lr"] = kind(rate * 1)  # a new float object, as from a file
    load(optimizer, state)
    rates = [group["lr"] for group in optimizer.param_groups]
    assert [rate.item() for rate in rates] == pytest.approx(loaded)
    assert all(rate.is_leaf for rate in rates)
    same = kind is float and second == 1.0
    assert [rate is tensor for rate in rates] == [True, same, same]


def test_groups_that_shared_a_tensor_when_saved_share_theirs():
    tensor, saved = torch.tensor(0.5), torch.tensor(0.25)
    optimizer = torch.optim.SGD(in_two_groups(parameters()), lr=0.1)
    for group in optimizer.param_groups:
        group["lr"] = tensor
    state = optimizer.state_dict()
    for group in state["param_groups"]:
        group["lr"] = saved
    load(optimizer, state)
    assert all(group["lr"] is tensor for group in optimizer.param_groups)
    assert tensor.item() == 0.25


@pytest.mark.parametrize(
    ("rate", "error", "text"),
    [
        (
            torch.ones(2),
            ValueError,
            "1 of the state has a learning rate of shape [2], not a number",
        ),
        (
            torch.ones(0),
            ValueError,
            "1 of the state has a learning rate of shape [0], not a number",
        ),
        ("fast", ValueError, "'fast'"),
        ([0.1], TypeError, "list"),
    ],
)
@pytest.mark.parametrize("own", [0.5, torch.tensor(0.5)])
def test_a_learning_rate_that_is_none_changes_nothing(rate, error, text, own):
    target = trained()
    target.param_groups[1]["lr"] = own
    state = trained(steps=3).state_dict()
    state["param_groups"][1]["lr"] = rate
    assert text in refused(error, target, state)


def test_a_group_without_a_learning_rate_does_not_hide_the_next_group():
    groups = [{"params": [each]} for each in parameters()[:2]]
    saved = torch.optim.SGD([dict(group) for group in groups], lr=0.25).state_dict()
    optimizer, rate = torch.optim.SGD(groups, lr=0.5), torch.tensor(0.5)
    saved["param_groups"][0]["lr"] = optimizer.param_groups[0]["lr"] = None
    optimizer.param_groups[1]["lr"] = rate
    load(optimizer, saved)
    assert optimizer.param_groups[0]["lr"] is None
    assert optimizer.param_groups[1]["lr"] is rate
    assert rate.item() == 0.25


def test_only_a_float_is_read_from_the_device():
    state = trained("SGD").state_dict()
    state["param_groups"][0]["lr"] = torch.tensor(0.5, device="meta")  # a read would raise
    optimizer = made("SGD", parameters())
    optimizer.param_groups[0]["lr"] = torch.tensor(0.1, device="meta")
    load(optimizer, state)
    with pytest.raises((RuntimeError, NotImplementedError)):
        load(made("SGD", parameters()), state)
    state["state"][0]["momentum_buffer"] = torch.zeros(9)
    text = refused(ValueError, made("SGD", parameters()), state)
    assert "parameter 0 has shape [], its momentum_buffer in the state [9]" in text


def test_decay_rates_that_are_tensors_are_not_read_from_the_device():
    state, optimizer = trained("Adam").state_dict(), made("Adam", parameters())
    for group in [*state["param_groups"], *optimizer.param_groups]:
        group["betas"] = tuple(torch.tensor(beta, device="meta") for beta in (0.9, 0.999))
    load(optimizer, state)
    assert torch.is_tensor(optimizer.state_dict()["state"][0]["exp_avg"])


@pytest.mark.parametrize("second", [0.5, torch.tensor(0.5, device="meta")])
@pytest.mark.parametrize("first", [0.5, torch.tensor(0.5, device="meta")])
def test_learning_rates_of_groups_that_share_a_tensor_are_not_read(first, second):
    optimizer, tensor = made("SGD", parameters()), torch.tensor(0.1, device="meta")
    state = optimizer.state_dict()
    for group, saved, rate in zip(optimizer.param_groups, state["param_groups"], (first, second)):
        group["lr"], saved["lr"] = tensor, rate
    rates = [group["lr"] for group in load(optimizer, state).param_groups]
    assert [rate is tensor for rate in rates] == [True, type(first) is type(second) is float]
    assert [rate.device.type for rate in rates] == ["meta", "meta"]


@pytest.mark.parametrize("loaded", [0.25, numpy.array(0.25)])
def test_a_loaded_number_is_no_reason_to_wait_for_the_device(loaded):
    state = trained("SGD").state_dict()
    optimizer = made("SGD", parameters())
    rate = torch.tensor(0.5, requires_grad=True)
    optimizer.param_groups[0]["lr"] = rate
    state["param_groups"][0]["lr"] = loaded
    with mock.patch.object(torch.Tensor, "copy_", side_effect=AssertionError("CUDA waits")):
        load(optimizer, state)
    assert optimizer.param_groups[0]["lr"] is rate
    assert rate.item() == 0.25


@pytest.mark.parametrize("name", ["SGD", "Adam", "fused Adam"])
@pytest.mark.parametrize("rate", [float, torch.tensor])
def test_the_host_does_not_wait_for_cuda(device, name, rate):
    if device != "cuda":
        pytest.skip("only CUDA can be asked about synchronisations")
    weights, options = parameters(device=device), {"fused": True} if "fused" in name else {}
    optimizer, source = (made(name.split()[-1], weights, **options) for _ in range(2))
    step(source)
    for each in (optimizer, source):
        if rate is not float:
            each.param_groups[0]["lr"] = torch.tensor(0.1, device=device)
    torch.cuda.set_sync_debug_mode("error")
    try:
        load(optimizer, source.state_dict())
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert_equal(state_of(optimizer), state_of(source))


class WithoutRates(torch.optim.Optimizer):
    def __init__(self, weights):
        super().__init__(weights, {})

    def step(self):
        for weight in self.param_groups[0]["params"]:
            self.state[weight] = {"codes": [torch.zeros(7), {"deep": torch.ones(2)}]}


def test_an_optimizer_of_another_kind_is_loaded_as_torch_would():
    source = WithoutRates(parameters())
    source.step()
    copied = load(WithoutRates(parameters()), source.state_dict())
    assert_equal(state_of(copied), state_of(source))
    load(copied, source.state_dict())  # also if it has a state already
    assert_equal(state_of(copied), state_of(source))
    tensors(copied.state_dict())[0].fill_(7)
    assert not tensors(source.state_dict())[0].any()


def test_a_learning_rate_of_one_side_alone_is_what_torch_loads():
    rated, without = Rows(parameters(), lr=[0.5]), WithoutRates(parameters())
    state = rated.state_dict()
    assert load(without, state).param_groups[0]["lr"] == [0.5]
    load(rated, WithoutRates(parameters()).state_dict())
    assert "lr" not in rated.param_groups[0]


def lbfgs(*shapes, dtype=torch.float32):
    """An LBFGS optimizer after one step. LBFGS does not accept groups."""
    weights = [torch.nn.Parameter(torch.ones(shape, dtype=dtype)) for shape in shapes]
    optimizer = torch.optim.LBFGS(weights, max_iter=3)

    def closure():
        optimizer.zero_grad()
        loss = sum((weight - 3).abs().pow(4).sum() for weight in weights)
        loss.backward()
        return loss

    optimizer.step(closure)
    return optimizer


@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64])
def test_lbfgs_whose_state_is_that_of_all_parameters_is_loaded(dtype):
    try:
        source, other = (lbfgs(*shapes, dtype=dtype) for shapes in ([(2,), (3, 2)], [(4, 2), ()]))
    except RuntimeError:
        pytest.skip("no complex numbers before 2.1")
    for shapes in ([(2,), (3, 2)], [(2, 3), (2,)]):
        weights = [torch.nn.Parameter(torch.ones(shape, dtype=dtype)) for shape in shapes]
        copied = load(torch.optim.LBFGS(weights), source.state_dict())
        assert_equal(state_of(copied), state_of(source))
    total, given = (8, 9) if dtype.is_floating_point else (16, 18)
    own = type("Own", (torch.optim.LBFGS,), {})(source.param_groups[0]["params"])
    assert refused(ValueError, own, other.state_dict()) == (
        f"the parameters have {total} elements together, d in the state {given}{MADE_FOR_ANOTHER}"
    )
    state = copy.deepcopy(source.state_dict())
    state["state"][0]["old_dirs"].append(torch.zeros(5))
    state["state"]["first"] = state["state"].pop(0)
    state["param_groups"][0]["params"] = ["first", "second"]
    assert "together, old_dirs in the state 5" in refused(
        ValueError, lbfgs((2,), (3, 2), dtype=dtype), state
    )
    sgd_state = torch.optim.SGD(source.param_groups[0]["params"], lr=0.1).state_dict()
    assert (
        "group 0 of the state has no max_iter, max_eval, tolerance_grad, tolerance_change, "
        "history_size, line_search_fn, which LBFGS needs; it has lr, momentum, "
    ) in refused(ValueError, source, sgd_state)


def test_complex_parameters_of_lbfgs_count_twice():
    optimizer = torch.optim.LBFGS([torch.ones(2), torch.ones(2, dtype=torch.complex64)])
    state = optimizer.state_dict()
    state["state"][0] = {"d": torch.zeros(6)}
    load(optimizer, state)
    state["state"][0] = {"d": torch.zeros(4)}
    text = refused(ValueError, optimizer, state)
    assert text.startswith("the parameters have 6 elements together, d in the state 4")


def test_wrappers_of_optimizers_are_loaded_and_checked_too():
    class Wrapped:
        def __init__(self, optimizer):
            self.optimizer = optimizer

        def __getattr__(self, name):
            return getattr(self.optimizer, name)

    source, inner = trained(), made("Adam", parameters())
    load(Wrapped(inner), source.state_dict())
    assert_equal(state_of(inner), state_of(source))
    optimizers.check_parameters(torch.nn.ParameterList(weights_of(inner)), Wrapped(inner))
    seen = []  # the states loaded into an optimizer without a state_dict()
    narrow = types.SimpleNamespace(param_groups=inner.param_groups, load_state_dict=seen.append)
    load(narrow, source.state_dict())
    assert_equal(tensors(seen), state_of(source))


class Counts(torch.optim.SGD):
    """An optimizer that saves and loads an entry of its own."""

    counts = ()

    def state_dict(self):
        return {**super().state_dict(), "counts": self.counts}

    def load_state_dict(self, state):
        self.counts = state["counts"]
        super().load_state_dict(state)


def test_what_a_subclass_saves_too_is_loaded_as_a_copy():
    source, copied = (Counts(parameters(), lr=0.1) for _ in range(2))
    source.counts = [torch.ones(2)]
    load(copied, source.state_dict())
    copied.counts[0].fill_(7)
    assert source.counts[0].tolist() == [1.0, 1.0]


def test_a_state_may_be_a_mapping_of_another_kind():
    source = trained()
    copied = load(made("Adam", parameters()), types.MappingProxyType(source.state_dict()))
    assert_equal(state_of(copied), state_of(source))


def test_the_error_is_about_the_first_parameter_that_does_not_fit():
    state = trained().state_dict()
    state["state"][0] = {}
    for key in (1, 2):
        state["state"][key]["exp_avg_sq"] = torch.zeros(9)
        state["state"][key] = collections.UserDict(state["state"][key])
    assert re.match(r"parameter 1 has .* its exp_avg_sq", refused(ValueError, trained(), state))


def model_of(*sizes):
    return torch.nn.Sequential(*(torch.nn.Linear(2, size) for size in sizes))


def sgd(*groups):
    groups = [list(group) for group in groups]
    if len(groups) == 1:
        groups = [groups[0][:1], groups[0][1:]]
    return torch.optim.SGD([{"params": group} for group in groups], lr=0.1)


def told(error, *arguments):
    with pytest.raises(error) as raised:
        optimizers.check_parameters(*arguments)
    return str(raised.value)


END = "; was the optimizer built before the model changed, or a group left out?"


def test_a_layer_replaced_after_the_optimizer_is_told_with_names_and_shapes(device):
    model = model_of(2, 2).to(device)
    optimizer = sgd(model.parameters())
    model[1] = torch.nn.Linear(2, 3).to(device)
    assert told(ValueError, model, optimizer) == (
        "in no optimizer: 1.weight [3, 2], 1.bias [3]; "
        "held, and not in the model: parameter 2 [2, 2], parameter 3 [2]" + END
    )
    optimizers.check_parameters(model, sgd(model.parameters()))


def test_a_model_that_was_built_again_is_told():
    optimizer, model = sgd(model_of(2).parameters()), model_of(2)
    text = told(ValueError, model, optimizer)
    assert text.startswith("in no optimizer: 0.weight [2, 2], 0.bias [2]; held, and not in")


def test_a_layer_that_no_group_lists_is_told():
    model = model_of(2, 3)
    optimizer = sgd([model[0].weight], [model[0].bias, model[1].weight])
    assert told(ValueError, model, optimizer) == f"in no optimizer: 1.bias [3]{END}"


def test_a_parameter_that_is_listed_twice_is_told():
    embedding, head = torch.nn.Embedding(3, 2), torch.nn.Linear(2, 3)
    head.weight = embedding.weight
    model = torch.nn.ModuleDict({"embedding": embedding, "head": head})
    with pytest.warns(UserWarning, match="duplicate parameters"):
        optimizer = sgd([*embedding.parameters(), head.weight], [head.bias])
    assert told(ValueError, model, optimizer) == (
        f"listed twice: embedding.weight [3, 2] as parameter 0 and as parameter 1{END}"
    )
    both = (sgd(embedding.parameters()), sgd(head.parameters()))
    assert told(ValueError, model, *both) == (
        "listed twice: embedding.weight [3, 2] as parameter 0 of optimizer 0 and as parameter 0 of "
        f"optimizer 1{END}"
    )
    assert "as parameter 0 of optimizer 0 and as parameter 0 of optimizer 2" in told(
        ValueError, model, *both, sgd(embedding.parameters())
    )
    optimizers.check_parameters(model, sgd(model.parameters()))  # a shared parameter counts once
    loss = model_of(2)
    assert "as parameter 0 of optimizer 0 and as parameter 1 of optimizer 0" in told(
        ValueError, torch.nn.ModuleList([model, loss]), optimizer, sgd(loss.parameters())
    )
    missing = told(ValueError, model, sgd([head.bias]))
    assert missing == f"in no optimizer: embedding.weight [3, 2]{END}"


def test_one_parameter_of_two_optimizers_is_missing_or_stale_in_the_right_one():
    model = model_of(2, 2)
    first, second = sgd(model[0].parameters()), sgd([model[1].weight], [torch.ones(4)])
    assert told(ValueError, model, first, second) == (
        "in no optimizer: 1.bias [2]; "
        f"held, and not in the model: parameter 1 of optimizer 1 [4]{END}"
    )


def test_a_loss_with_weights_goes_into_a_list_with_the_model():
    model, loss = model_of(2), model_of(3)
    optimizer = sgd(model.parameters(), loss.parameters())
    assert "held, and not in the model: parameter 2 [3, 2]" in told(ValueError, model, optimizer)
    both = torch.nn.ModuleList([model, loss])
    optimizers.check_parameters(both, optimizer)
    text = told(ValueError, both, sgd(model.parameters()))
    assert text == f"in no optimizer: 1.0.weight [3, 2], 1.0.bias [3]{END}"


def test_problems_of_all_kinds_are_told_at_once():
    model = model_of(2)
    held = [torch.nn.Parameter(torch.ones(4)), model[0].weight]
    assert told(ValueError, model, sgd(held), sgd([model[0].weight])) == (
        "in no optimizer: 0.bias [2]; "
        "held, and not in the model: parameter 0 of optimizer 0 [4]; "
        "listed twice: 0.weight [2, 2] as parameter 1 of optimizer 0 and as parameter 0 of "
        f"optimizer 1{END}"
    )


def test_frozen_parameters_may_be_held_or_not():
    model = model_of(2, 2)
    model[0].requires_grad_(False)
    for held in (model.parameters(), model[1].parameters()):
        optimizers.check_parameters(model, sgd(held))
    assert "held, and not in the model" in told(ValueError, model[1], sgd(model.parameters()))


def test_the_names_that_an_optimizer_was_given_are_told():
    old = model_of(2)[0]
    group = {"params": list(old.parameters()), "param_names": ["head.weight", "head.bias"]}
    text = told(ValueError, torch.nn.Module(), torch.optim.SGD([group], lr=0.1))
    assert text == (
        "held, and not in the model: parameter 0 (head.weight) [2, 2], parameter 1 (head.bias) [2]"
        + END
    )


@pytest.mark.parametrize(
    ("start", "held"),
    [(0, "parameter 0 [2, 2], parameter 1 [2], parameter 2 [4]"), (2, "parameter 0 [4]")],
)
def test_names_that_do_not_fit_the_parameters_of_their_group_are_not_told(start, held):
    group = {"params": list(model_of(2).parameters()), "param_names": ["weight", "bias"]}
    optimizer = torch.optim.SGD([group], lr=0.1)
    weights = [*group["params"], torch.nn.Parameter(torch.ones(4))]
    optimizer.param_groups[0]["params"] = weights[start:]
    assert told(ValueError, torch.nn.Module(), optimizer) == (
        f"held, and not in the model: {held}{END}"
    )


def test_an_optimizer_of_copies_holds_none_of_the_parameters():
    model = model_of(2)
    master = [each.detach().clone().requires_grad_() for each in model.parameters()]
    assert told(ValueError, model, sgd(master)) == (
        "in no optimizer: 0.weight [2, 2], 0.bias [2]; "
        "held, and not in the model: parameter 0 [2, 2], parameter 1 [2]" + END
    )


@pytest.fixture
def one_process(tmp_path, monkeypatch):
    distributed = torch.distributed
    # With CUDA, a CPU mesh would also create a group for NCCL.
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    if not distributed.is_available() or not distributed.is_gloo_available():
        pytest.skip("no torch.distributed")
    store = f"file://{tmp_path / 'store'}"
    distributed.init_process_group("gloo", init_method=store, rank=0, world_size=1)
    yield
    distributed.destroy_process_group()


@pytest.mark.skipif(not hasattr(torch, "compile"), reason="torch.compile came in 2.0")
def test_a_compiled_model_has_the_same_parameters():
    model = model_of(2)
    try:
        compiled = torch.compile(model)
    except RuntimeError as error:  # not every Python and system is supported
        pytest.skip(str(error))
    optimizers.check_parameters(compiled, sgd(model.parameters()))


def test_a_wrapped_model_has_the_same_parameters(one_process):
    model = model_of(2)
    optimizer, wrapped = sgd(model.parameters()), torch.nn.parallel.DistributedDataParallel(model)
    optimizers.check_parameters(wrapped, optimizer)
    optimizers.check_parameters(model, sgd(wrapped.parameters()))


def test_a_sharded_model_has_others_and_its_own_between_steps(one_process):
    if tuple(map(int, torch.__version__.split(".")[:2])) < (2, 7):
        pytest.skip("fully_shard() came in 2.6, and to the CPU in 2.7")
    from torch.distributed import fsdp

    model = model_of(2)
    before = sgd(model.parameters())
    mesh = torch.distributed.init_device_mesh("cpu", (1,))
    fsdp.fully_shard(model, mesh=mesh)
    assert "held, and not in the model" in told(ValueError, model, before)
    optimizer = sgd(model.parameters())
    for _ in range(2):
        optimizers.check_parameters(model, optimizer)
        loss = model(torch.ones(1, 2)).sum()
        assert "held, and not in the model" in told(ValueError, model, optimizer)
        loss.backward()
        optimizer.step()
    optimizers.check_parameters(model, optimizer)


@pytest.mark.parametrize(
    ("layers", "end"), [(5, "4.weight [2, 2]"), (7, "4.weight [2, 2] and 2 more")]
)
def test_five_parameters_of_a_kind_are_shown_and_the_others_counted(layers, end):
    model = torch.nn.Sequential(*(torch.nn.Linear(2, 2, bias=False) for _ in range(layers)))
    text = told(ValueError, model, sgd([torch.ones(1)]))
    assert text.startswith("in no optimizer: 0.weight [2, 2], ")
    assert f", {end}; held" in text


def test_a_lazy_layer_has_no_shape_and_is_the_same_parameter_afterwards():
    model = torch.nn.Sequential(torch.nn.LazyLinear(3, bias=False))
    assert "0.weight [not initialized]" in told(ValueError, model, sgd([torch.ones(1)]))
    optimizer = sgd(model.parameters())
    model(torch.ones(1, 2))
    optimizers.check_parameters(model, optimizer)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            (mock.Mock(),),
            "expected a torch.nn.Module, got Mock; several modules go into a torch.nn.ModuleList",
        ),
        (
            ([torch.nn.Module()],),
            "expected a torch.nn.Module, got list; several modules go into a torch.nn.ModuleList",
        ),
        ((torch.nn.Module(),), "expected one optimizer or more, got none"),
        ((torch.nn.Module(), None), "expected an optimizer, got NoneType"),
        (
            (torch.nn.Module(), torch.optim.SGD([torch.ones(1)], lr=0.1), mock.Mock()),
            "expected an optimizer, got Mock",
        ),
    ],
)
def test_what_is_no_model_or_no_optimizer_is_refused(arguments, text):
    assert told(TypeError, *arguments) == text


@given(
    sizes=st.lists(st.integers(1, 3), min_size=1, max_size=4),
    data=st.data(),
    name=st.sampled_from(sorted(set(CLASSES) - {"Muon"})),
)
def test_every_way_to_share_out_the_parameters_passes_and_every_gap_raises(sizes, data, name):
    model = model_of(*sizes)
    named = dict(model.named_parameters())
    count = data.draw(st.integers(1, 3))
    shares = [[] for _ in range(count)]
    for parameter in data.draw(st.permutations(list(named))):
        shares[data.draw(st.integers(0, count - 1))].append(named[parameter])
    made_of = [CLASSES[name](share, lr=0.1) for share in shares if share]
    optimizers.check_parameters(model, *made_of)
    gone = data.draw(st.sampled_from(list(named)))
    for optimizer in made_of:
        for group in optimizer.param_groups:
            group["params"] = [each for each in group["params"] if each is not named[gone]]
    text = told(ValueError, model, *made_of)
    assert text == f"in no optimizer: {gone} {list(named[gone].shape)}{END}"
