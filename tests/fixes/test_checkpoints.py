import collections
import concurrent.futures
import io
import os
import pathlib
import random
import re
import stat
import sys
import types

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from reference_fixes import checkpoints

pytestmark = pytest.mark.filterwarnings("ignore")  # deprecations, and layers without elements

# Older releases read fewer types with weights_only=True.
TORCH = tuple(map(int, torch.__version__.split(".")[:2]))
NEW = TORCH >= (2, 6)
CONTAINERS = ["state_dict", "model_state_dict", "model", "net", "weights", "objects", "module"]
DTYPES = [torch.float32, torch.bfloat16, torch.complex64]


def linear(outputs=3, value=None, device="cpu"):
    model = torch.nn.Linear(2, outputs).to(device)
    if value is not None:
        for parameter in model.parameters():
            torch.nn.init.constant_(parameter, value)
    return model


def versioned(base):
    """A layer that records the version of the loaded state, and changes the received metadata."""

    class Versioned(base):
        _version = 7

        def _load_from_state_dict(self, state, prefix, metadata, *others):
            self.seen = metadata.pop("version", None)
            super()._load_from_state_dict(state, prefix, metadata, *others)

    return Versioned


def equal(one, other):
    one, other = one.state_dict(), other.state_dict()
    return list(one) == list(other) and all(torch.equal(one[key], other[key]) for key in one)


def refused(error, model, state):
    """Returns the message of the error, after asserting that the model is unchanged."""
    before = {key: value.clone() for key, value in model.state_dict().items()}
    with pytest.raises(error) as raised:
        checkpoints.load_matching(model, state)
    for key, value in model.state_dict().items():
        assert value.is_meta or torch.equal(value, before[key])
    return str(raised.value)


# --- load_matching ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda state: state,
        lambda state: {f"module.{key}": value for key, value in state.items()},
        lambda state: {f"_orig_mod.{key}": value for key, value in state.items()},
        lambda state: {f"module._orig_mod.{key}": value for key, value in state.items()},
        lambda state: {f"_orig_mod.module.{key}": value for key, value in state.items()},
        lambda state: {f"model.{key}": value for key, value in state.items()},
        lambda state: {f"net.{key}": value for key, value in state.items()},
        lambda state: {f"base_model.model.{key}": value for key, value in state.items()},
        lambda state: {f"_fsdp_wrapped_module.{key}": value for key, value in state.items()},
        lambda state: {f"model._checkpoint_wrapped_module.{k}": v for k, v in state.items()},
        lambda state: {"epoch": 9, "state_dict": state},
        lambda state: {"model": state, "optimizer": {"state": {}, "param_groups": []}},
        lambda state: {"model_state_dict": {f"module.{k}": v for k, v in state.items()}},
        lambda state: {"objects": {"model": state}, "random": {}},
        lambda state: collections.UserDict(net=types.MappingProxyType(state)),
        *[lambda state, name=name: {name: state, "lr": 0.1} for name in CONTAINERS],
    ],
)
def test_wrapped_and_nested_weights_are_found(device, wrapped):
    trained, model = linear(device=device), linear(device=device)
    report = checkpoints.load_matching(model, wrapped(trained.state_dict()))
    assert equal(model, trained)
    assert list(report.loaded) == ["weight", "bias"]
    assert (report.missing, report.unexpected, report.mismatched) == ([], [], {})


def test_the_report_says_how_many_keys_were_renamed_and_where_the_weights_were():
    model, trained = (torch.nn.Sequential(linear(), linear()) for _ in range(2))
    state = {key.replace("0.", "module.0."): v for key, v in trained.state_dict().items()}
    report = checkpoints.load_matching(model, {"model": {"net": {"state_dict": state}}})
    assert equal(model, trained)
    assert list(report.loaded) == list(model.state_dict())
    assert str(report) == (
        "loaded 4 of 4 from 'model.net.state_dict' (2 renamed, such as module.0.weight -> 0.weight)"
    )


@pytest.mark.parametrize(("outside", "container"), [(["weight"], "net"), (["weight", "bias"], "")])
def test_the_weights_are_where_most_keys_match(outside, container):
    trained, model = linear(), linear()
    state = trained.state_dict()
    checkpoint = {**{key: state[key] for key in outside}, "net": state}
    assert checkpoints.load_matching(model, checkpoint).container == container
    assert equal(model, trained)


def test_a_wrapped_model_takes_the_weights_of_a_plain_one():
    trained = linear()
    for model in (torch.nn.DataParallel(linear()), torch.nn.Sequential(linear())):
        name = next(iter(model.state_dict())).split(".")[0]
        if name == "0":  # no wrapper uses this name
            assert "no key of the state" in refused(ValueError, model, trained.state_dict())
        else:
            report = checkpoints.load_matching(model, trained.state_dict())
            assert report.loaded == {"module.weight": "weight", "module.bias": "bias"}
            # DataParallel moves the model to a GPU, if there is one.
            assert equal(model.module.cpu(), trained)


def test_a_compiled_part_of_the_model_is_found():
    model = torch.nn.Sequential(linear(), linear(3))
    state = {key.replace("0.", "0._orig_mod."): v for key, v in model.state_dict().items()}
    report = checkpoints.load_matching(model, state)
    assert report.loaded["0.weight"] == "0._orig_mod.weight"
    assert report.loaded["1.weight"] == "1.weight"


def test_only_the_start_of_a_name_is_a_wrapper():
    model = linear()
    refused(ValueError, model, {"other.module.weight": torch.ones(3, 2)})
    assert "missing" not in str(checkpoints.load_matching(model, model.state_dict()))


@pytest.mark.parametrize("renamed", ["module.weight", "_orig_mod.weight"])
def test_a_key_of_the_same_name_goes_before_a_renamed_one(renamed):
    model = linear()
    state = {renamed: torch.ones(3, 2), "weight": torch.zeros(3, 2)}
    report = checkpoints.load_matching(model, state)
    assert not model.weight.any()
    assert report.unexpected == [renamed]
    assert report.missing == ["bias"]
    report = checkpoints.load_matching(Both(), {"weight": torch.ones(3, 2)})
    assert report.loaded == {"weight": "weight"}


def test_a_name_of_the_model_itself_is_kept():
    class Outer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = linear()
            self.module = linear()

    trained, outer = Outer(), Outer()
    report = checkpoints.load_matching(outer, trained.state_dict())
    assert equal(outer, trained)
    assert all(key == old for key, old in report.loaded.items())


def test_two_keys_for_one_are_refused():
    state = {"module.weight": torch.ones(3, 2), "model.weight": torch.zeros(3, 2)}
    text = refused(ValueError, linear(), state)
    assert text == "weight of the model may be each of module.weight, model.weight of the state"


def test_one_key_for_two_is_refused():
    class Outer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = linear()
            self.module = linear()

    state = {"net.weight": torch.ones(3, 2)}
    text = refused(ValueError, Outer(), state)
    assert text == "net.weight of the state may be each of model.weight, module.weight of the model"


def test_another_number_of_classes_is_left_out_and_told():
    trained = torch.nn.Sequential(linear(3, 7.0), torch.nn.Linear(3, 1000))
    model = torch.nn.Sequential(linear(3, 0.0), torch.nn.Linear(3, 10))
    head = model[1].weight.detach().clone()
    report = checkpoints.load_matching(model, trained.state_dict())
    assert (model[0].weight == 7).all()
    assert torch.equal(model[1].weight, head)
    assert report.mismatched == {
        "1.weight": "has shape [1000, 3] in the state, [10, 3] in the model",
        "1.bias": "has shape [1000] in the state, [10] in the model",
    }
    assert str(report) == (
        "loaded 2 of 4\n"
        "not loaded: 1.weight: has shape [1000, 3] in the state, [10, 3] in the model\n"
        "not loaded: 1.bias: has shape [1000] in the state, [10] in the model"
    )


def test_a_key_is_used_once():
    class Outer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = linear()
            self.module = linear()

    report = checkpoints.load_matching(Outer(), {"module.weight": torch.ones(3, 2)})
    assert report.loaded == {"module.weight": "module.weight"}
    assert report.missing == ["model.weight", "model.bias", "module.bias"]


class Named(torch.nn.Module):
    """A module with one layer per name."""

    def __init__(self, *names):
        super().__init__()
        for name in names:
            self.add_module(name, linear())


class Both(torch.nn.Module):
    """A weight, and a weight of the same shape in a part that is named like a wrapper."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(3, 2))
        self.model = torch.nn.Linear(2, 3, bias=False)


def prefixed(prefix, state):
    return {prefix + key: value for key, value in state.items()}


@pytest.mark.parametrize("prefix", ["module.", "model.", "net.", "_orig_mod.", "module._orig_mod."])
@pytest.mark.parametrize(
    "make",
    [
        Both,
        lambda: Named("model", "net"),
        lambda: Named("module"),
        lambda: Named("base_model", "head"),
    ],
)
def test_parts_that_have_the_name_of_a_wrapper_are_not_mistaken(make, prefix):
    trained, model = make(), make()
    report = checkpoints.load_matching(model, prefixed(prefix, trained.state_dict()))
    assert equal(model, trained)
    assert (report.missing, report.unexpected) == ([], [])
    wrapped = torch.nn.Module()
    wrapped.add_module("module", make())
    checkpoints.load_matching(wrapped, prefixed("net.", trained.state_dict()))
    assert equal(wrapped.module, trained)


def test_a_part_of_the_keys_is_matched_as_it_is():
    trained, model = Both(), Both()
    kept = model.weight.detach().clone()
    state = {"model.weight": trained.model.weight.detach()}
    assert checkpoints.load_matching(model, state).missing == ["weight"]
    assert torch.equal(model.model.weight, trained.model.weight)
    assert torch.equal(model.weight, kept)


def test_keys_that_may_be_each_of_two_do_not_matter_elsewhere():
    trained, model = linear(), linear()
    unclear = {"module.weight": torch.ones(3, 2), "model.weight": torch.zeros(3, 2)}
    state = {"net": unclear, "state_dict": trained.state_dict()}
    assert checkpoints.load_matching(model, state).container == "state_dict"
    assert equal(model, trained)


@pytest.mark.parametrize("prefix", ["", "module.", "_orig_mod."])
def test_the_versions_of_layers_follow_their_names(prefix):
    inner = versioned(torch.nn.Linear)(2, 3)
    outer = versioned(torch.nn.Sequential)(inner)
    model = torch.nn.Sequential(outer)
    saved = model.state_dict()
    state = collections.OrderedDict(prefixed(prefix, saved))
    state._metadata = {(prefix + key).rstrip("."): each for key, each in saved._metadata.items()}
    for _ in range(2):
        checkpoints.load_matching(model, state)
        assert (outer.seen, inner.seen) == (7, 7)


def test_the_versions_of_layers_come_with_weights_in_a_checkpoint():
    model = versioned(torch.nn.Linear)(2, 3)
    checkpoints.load_matching(model, {"epoch": 1, "state_dict": model.state_dict()})
    assert model.seen == 7


def test_the_version_of_a_model_is_not_that_of_its_compiled_part():
    model = versioned(torch.nn.Sequential)(linear(), linear())
    saved = model.state_dict()
    state = collections.OrderedDict((k.replace("0.", "0._orig_mod."), v) for k, v in saved.items())
    state._metadata = saved._metadata
    checkpoints.load_matching(model, state)
    assert model.seen == 7


def test_names_that_a_hook_translates_are_missing_and_unexpected():
    class Renames(torch.nn.Linear):
        def _load_from_state_dict(self, state, prefix, *others):
            if f"{prefix}gamma" in state:
                state[f"{prefix}weight"] = state.pop(f"{prefix}gamma")
            super()._load_from_state_dict(state, prefix, *others)

    state = {"gamma": torch.ones(3, 2), "bias": torch.ones(3)}
    report = checkpoints.load_matching(Renames(2, 3), state)
    assert (report.missing, report.unexpected) == (["weight"], ["gamma"])


def test_two_values_for_a_tensor_that_is_shared_are_told():
    model = torch.nn.Sequential(torch.nn.Embedding(3, 2), linear())
    model[1].weight = model[0].weight
    state = {"0.weight": torch.ones(3, 2), "1.weight": torch.eye(3, 2)}
    report = checkpoints.load_matching(model, state)
    assert (model[0].weight == 1).all()
    assert report.mismatched == {
        "1.weight": "is another value than 0.weight, with which it shares its tensor"
    }
    state["1.weight"] = state["0.weight"].clone()
    assert checkpoints.load_matching(model, state).mismatched == {}
    tenths = torch.full((3, 2), 0.1)  # the first value is the same, but rounded
    rounded = {"0.weight": tenths.half(), "1.weight": tenths}
    assert checkpoints.load_matching(model, rounded).mismatched == {}
    state["0.weight"] = torch.ones(5, 2)  # this value does not fit, so the other value is loaded
    assert list(checkpoints.load_matching(model, state).mismatched) == ["0.weight"]
    del state["1.weight"]
    state["1.bias"] = torch.ones(3)
    assert checkpoints.load_matching(model, state).missing == ["1.weight"]


class Counts(torch.nn.Module):
    """A module whose extra state is not a tensor."""

    def __init__(self, count):
        super().__init__()
        self.count = count

    def get_extra_state(self):
        return self.count

    def set_extra_state(self, count):
        self.count = count


def test_states_of_modules_that_are_no_tensors_are_loaded_each_its_own():
    model = torch.nn.Sequential(Counts(1), Counts(1))
    trained = torch.nn.Sequential(Counts(2), Counts("three"))
    report = checkpoints.load_matching(model, trained.state_dict())
    assert [each.count for each in model] == [2, "three"]
    assert (len(report.loaded), report.mismatched) == (2, {})


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int64, torch.bool])
def test_the_integers_of_a_quantized_layer_are_no_weights(dtype):
    text = refused(ValueError, linear(), {"weight": torch.ones(3, 2, dtype=dtype)})
    assert text.endswith(f"weight is {dtype} in the state, torch.float32 in the model")


def test_integers_are_no_complex_weights():
    text = refused(ValueError, linear().to(torch.complex64), {"weight": torch.ones(3, 2).long()})
    assert text.endswith("weight is torch.int64 in the state, torch.complex64 in the model")


def test_numbers_that_are_not_whole_are_not_cut_off():
    model = torch.nn.Module()
    model.register_buffer("steps", torch.tensor([3, 4]))
    text = refused(ValueError, model, {"steps": torch.tensor([0.5, 1.0])})
    assert text.endswith(
        "steps is torch.float32 in the state, torch.int64 in the model, which cannot hold 0.5"
    )
    checkpoints.load_matching(model, {"steps": torch.tensor([7.0, 8.0])})  # from an averaged model
    assert model.steps.tolist() == [7, 8]


@pytest.mark.parametrize(
    ("value", "dtype", "lost"),
    [
        (torch.tensor([1.0, float("inf")]), torch.int64, "inf"),
        (torch.tensor([float("nan"), 1.0]), torch.int32, "nan"),
        (torch.tensor([1, 2**40]), torch.int32, "1099511627776"),
        (torch.tensor([-1, -2]), torch.uint8, "-1"),
        (torch.tensor([1, 2]), torch.bool, "2"),
        (torch.tensor([2.0, 1e6]), torch.float16, "1000000.0"),
        (torch.tensor([2.0, 65536.0]).bfloat16(), torch.float16, "65536.0"),
        (torch.tensor([1e300, -2.0], dtype=torch.float64), torch.float32, "1e+300"),
        (torch.tensor([1.0, 1e300j], dtype=torch.complex128), torch.complex64, "1e+300j"),
        (torch.tensor(1e6), torch.float16, "1000000.0"),
        (torch.tensor(0.5), torch.int64, "0.5"),
    ],
)
@pytest.mark.parametrize("sparse", [False, True])
def test_what_the_dtype_of_the_model_cannot_hold_is_not_loaded(value, dtype, lost, sparse):
    model = torch.nn.Module()
    model.register_buffer("kept", torch.zeros(2))
    start = torch.zeros(value.shape, dtype=dtype)
    model.register_buffer("steps", start.to_sparse() if sparse else start)
    given = value.to_sparse() if sparse else value
    report = checkpoints.load_matching(model, {"kept": torch.ones(2), "steps": given})
    assert list(report.loaded) == ["kept"]
    why = f"is {value.dtype} in the state, {dtype} in the model, which cannot hold "
    assert report.mismatched["steps"].startswith(why)
    assert report.mismatched["steps"].endswith(lost)
    left = model.steps.to_dense() if sparse else model.steps
    assert torch.equal(left, start)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (torch.tensor([0.1, float("inf"), float("nan"), -1e-30]), torch.float16),
        (torch.tensor([0.1, 1e38]), torch.bfloat16),
        (torch.tensor([0.1, 60000.0], dtype=torch.float16), torch.float64),
        (torch.tensor([65510.0, -65504.0]), torch.float16),  # the largest number is 65504
        (torch.tensor([0.1, float("inf")], dtype=torch.float16), torch.float32),
        (torch.tensor(4.6, dtype=torch.float16), torch.float32),  # such as CLIP's logit_scale
        (torch.tensor(4.6), torch.float16),
        (torch.tensor(7.0), torch.int64),
        (torch.tensor([1.0, -3.0]), torch.int8),
        (torch.tensor([1.0, 0.0]), torch.bool),
        (torch.tensor([2**31 - 1, -(2**31)]), torch.int32),
        (torch.tensor([0.1, 1j]), torch.complex128),
        (torch.tensor([0.1, 0.1j], dtype=torch.complex128), torch.complex64),
        (torch.tensor([2.0**24 + 1], dtype=torch.float64), torch.int64),
    ],
)
def test_what_is_only_rounded_is_loaded(value, dtype):
    model = torch.nn.Module()
    model.register_buffer("x", torch.zeros(value.shape, dtype=dtype))
    assert checkpoints.load_matching(model, {"x": value}).mismatched == {}
    torch.testing.assert_close(model.x, value.to(dtype), rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize(
    ("make", "value", "lost"),
    [
        ("to_sparse", lambda: torch.sparse_coo_tensor([[1, 1]], [6e4, 6e4], (2,)), "120000.0"),
        ("to_sparse_csr", lambda: torch.tensor([[0.0, 1e6]]).to_sparse_csr(), "1000000.0"),
    ],
)
def test_of_a_sparse_value_what_it_sums_up_to_is_looked_at(make, value, lost):
    model, value = torch.nn.Module(), value()
    model.register_buffer("x", getattr(torch.zeros(value.shape, dtype=torch.float16), make)())
    with pytest.raises(ValueError, match=f"cannot hold {lost}$"):
        checkpoints.load_matching(model, {"x": value})


@pytest.mark.skipif(not hasattr(torch, "float8_e4m3fn"), reason="float8 came in 2.1")
def test_numbers_of_8_bits_are_looked_at_too():
    model = torch.nn.Module()
    model.register_buffer("x", torch.zeros(2).to(torch.float8_e4m3fn))
    for lost in ("inf", "1000000.0", "-500.0", "470.0"):  # the largest number is 448
        with pytest.raises(
            ValueError, match=f"float8_e4m3fn in the model, which cannot hold {lost}"
        ):
            checkpoints.load_matching(model, {"x": torch.tensor([1.0, float(lost)])})
    assert model.x.float().tolist() == [0.0, 0.0]
    assert checkpoints.load_matching(model, {"x": torch.tensor([1.0, 463.0])}).mismatched == {}
    assert checkpoints.load_matching(model, {"x": torch.tensor([1.0, 0.3])}).mismatched == {}
    wide = torch.nn.Module()
    wide.register_buffer("x", torch.zeros(2))
    assert checkpoints.load_matching(wide, model.state_dict()).mismatched == {}
    assert wide.x.tolist() == [1.0, 0.3125]
    wide.x = torch.zeros(2, dtype=torch.int8)
    for kind in (torch.float8_e4m3fn, torch.float8_e5m2):
        with pytest.raises(ValueError, match="int8 in the model, which cannot hold 0.5"):
            checkpoints.load_matching(wide, {"x": torch.tensor([1.0, 0.5]).to(kind)})


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_one_value_with_nan_for_a_tensor_that_is_shared_is_no_other(dtype):
    model = torch.nn.Sequential(torch.nn.Embedding(3, 2), linear())
    model[1].weight = model[0].weight
    value = torch.tensor([[0.1, float("nan")]] * 3, dtype=dtype)
    state = {"0.weight": value.float(), "1.weight": value.clone()}
    assert checkpoints.load_matching(model, state).mismatched == {}
    state["1.weight"] = torch.full((3, 2), 0.1, dtype=dtype)  # a number is not the same as NaN
    assert list(checkpoints.load_matching(model, state).mismatched) == ["1.weight"]


@pytest.mark.parametrize("prefix", ["encoder", "encoder.", "outer.encoder", "encoder._orig_mod"])
@pytest.mark.parametrize("wrapper", ["", "module.", "module._orig_mod.", "base_model.model."])
@pytest.mark.parametrize("inner", ["", "_orig_mod.", "module."])
def test_a_part_of_what_was_saved_is_loaded_by_its_name(prefix, wrapper, inner):
    trained, model = linear(), linear()
    names = prefix.rstrip(".")
    state = {
        **prefixed(f"{wrapper}{names}.{inner}", trained.state_dict()),
        **prefixed(f"{wrapper}decoder.", linear().state_dict()),
        f"{wrapper}{names}.old": torch.ones(1),
        "epoch": 9,
        "weight": torch.ones(3, 2),  # not below the prefix
    }
    for checkpoint, container in ((state, ""), ({"state_dict": state}, "state_dict")):
        report = checkpoints.load_matching(model, checkpoint, prefix=prefix)
        assert equal(model, trained)
        assert report.loaded["weight"] == f"{wrapper}{names}.{inner}weight"
        assert report.unexpected == [f"{wrapper}{names}.old"]
        assert (report.missing, report.container) == ([], container)


def test_a_prefix_ends_where_a_name_does():
    state = {"encoder2.weight": torch.ones(3, 2), "encoder.bias": torch.ones(3), 3: 4}
    model = linear()
    assert list(checkpoints.load_matching(model, state, "encoder").loaded) == ["bias"]
    with pytest.raises(ValueError, match="no key of the state below 'enc' is one of the model"):
        checkpoints.load_matching(model, state, "enc")
    for prefix in (None, 3, b"encoder", ["encoder"]):
        text = re.escape(f"expected the name of a part as prefix, got {prefix!r}")
        with pytest.raises(TypeError, match=f"^{text}$"):
            checkpoints.load_matching(model, state, prefix)


def test_the_versions_of_layers_follow_their_names_below_a_prefix():
    trained, model = torch.nn.Sequential(torch.nn.BatchNorm1d(3)), torch.nn.BatchNorm1d(3)
    seen = []
    load = model._load_from_state_dict
    model._load_from_state_dict = lambda state, prefix, metadata, *others: (
        seen.append(metadata.get("version")),
        load(state, prefix, metadata, *others),
    )
    checkpoints.load_matching(model, trained.state_dict(), "0")
    assert seen == [2]


@pytest.fixture
def mesh(tmp_path, monkeypatch):
    if TORCH < (2, 7):
        pytest.skip("fully_shard() came in 2.6, and to the CPU in 2.7")
    distributed = torch.distributed
    # With CUDA, a CPU mesh would also create a group for NCCL.
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    if not distributed.is_available() or not distributed.is_gloo_available():
        pytest.skip("no torch.distributed")
    store = f"file://{tmp_path / 'store'}"
    distributed.init_process_group("gloo", init_method=store, rank=0, world_size=1)
    yield distributed.init_device_mesh("cpu", (1,))
    distributed.destroy_process_group()


def test_a_sharded_model_takes_only_a_sharded_state(mesh):
    from torch.distributed import fsdp
    from torch.distributed.checkpoint.state_dict import (
        StateDictOptions,
        get_model_state_dict,
        set_model_state_dict,
    )

    sharded, plain = linear(), linear(value=2.0)
    fsdp.fully_shard(sharded, mesh=mesh)
    with pytest.raises(ValueError) as raised:
        checkpoints.load_matching(sharded, plain.state_dict())
    assert str(raised.value) == (
        "weight of the model is a DTensor, as after fully_shard(), and weight of the state is not: "
        "load it with torch.distributed.checkpoint.state_dict.set_model_state_dict(model, state, "
        "options=StateDictOptions(full_state_dict=True))"
    )
    before = {key: value.full_tensor() for key, value in sharded.state_dict().items()}
    with pytest.raises(ValueError) as raised:
        checkpoints.load_matching(plain, sharded.state_dict())
    assert str(raised.value) == (
        "weight of the state is a DTensor, and weight of the model is not: save the state with "
        "torch.distributed.checkpoint.state_dict.get_model_state_dict(model, "
        "options=StateDictOptions(full_state_dict=True))"
    )
    assert (plain.weight == 2).all()
    report = checkpoints.load_matching(sharded, sharded.state_dict())
    assert list(report.loaded) == ["weight", "bias"]
    # the calls that the messages recommend
    options = StateDictOptions(full_state_dict=True)
    full = get_model_state_dict(sharded, options=options)
    assert all(torch.equal(full[key], before[key]) for key in before)
    checkpoints.load_matching(plain, full)
    assert torch.equal(plain.weight, before["weight"])
    set_model_state_dict(sharded, linear(value=5.0).state_dict(), options=options)
    assert (sharded.weight.full_tensor() == 5).all()


def test_sharded_weights_are_captured_each_its_own(mesh):
    from torch.distributed import fsdp

    model = torch.nn.Sequential(linear(value=1.0), linear(value=2.0))
    fsdp.fully_shard(model, mesh=mesh)
    state = checkpoints.capture(model=model)["objects"]["model"]
    assert [state[f"{n}.bias"].full_tensor().tolist() for n in (0, 1)] == [[1.0] * 3, [2.0] * 3]


def test_a_part_that_is_sharded_is_noticed_before_anything_is_loaded(mesh):
    from torch.distributed import fsdp

    parts, plain = [torch.nn.Sequential(linear(), linear()) for _ in range(2)]
    fsdp.fully_shard(parts[1], mesh=mesh)
    kept = parts[0].weight.detach().clone()
    with pytest.raises(ValueError, match="^1.weight of the model .* module.1.weight of the state"):
        checkpoints.load_matching(parts, prefixed("module.", plain.state_dict()))
    assert torch.equal(parts[0].weight, kept)
    with pytest.raises(ValueError, match="^module.1.weight of the state .* 1.weight of the model"):
        checkpoints.load_matching(plain, prefixed("module.", parts.state_dict()))


@pytest.mark.parametrize("shape", [[2, 3], [1, 1], [1]])
def test_a_transposed_value_or_one_that_could_be_expanded_is_left_out(shape):
    assert f"has shape {shape}" in refused(ValueError, linear(), {"weight": torch.ones(shape)})


def test_a_vector_is_not_loaded_into_a_scalar():
    model = torch.nn.Module()
    model.scale = torch.nn.Parameter(torch.tensor(1.0))
    assert "has shape [3] in the state, [] in the model" in refused(
        ValueError, model, {"scale": torch.ones(3)}
    )


def test_the_report_names_what_is_missing_and_unexpected():
    model = torch.nn.Sequential(*[linear() for _ in range(3)])
    state = {"0.weight": torch.ones(3, 2), **{f"old.{n}": torch.ones(1) for n in range(5)}}
    report = checkpoints.load_matching(model, {"net": state})
    assert report.container == "net"
    assert str(report) == (
        "loaded 1 of 6 from 'net'\n"
        "missing: 0.bias, 1.weight, 1.bias, 2.weight and 1 more\n"
        "unexpected: old.0, old.1, old.2, old.3 and 1 more"
    )
    report = checkpoints.load_matching(model, model[0].state_dict(prefix="0."))
    assert str(report) == "loaded 2 of 6\nmissing: 1.weight, 1.bias, 2.weight, 2.bias"


def test_a_tied_weight_is_not_missing():
    model = torch.nn.Sequential(torch.nn.Embedding(3, 2), linear())
    model[1].weight = model[0].weight
    state = {"0.weight": torch.full((3, 2), 5.0), "1.bias": torch.ones(3)}
    assert checkpoints.load_matching(model, state).missing == []
    assert (model[1].weight == 5).all()


@pytest.mark.parametrize(
    ("state", "text"),
    [
        ("model.pt", "got str: pass what torch.load() returns"),
        (pathlib.PurePosixPath("model.pt"), "got PurePosixPath: pass what torch.load() returns"),
        (torch.nn.Sequential(), "got Sequential: pass its state_dict()"),
        (None, "got NoneType"),
        ([("weight", 1)], "got list"),
    ],
)
def test_what_is_no_mapping_is_refused(state, text):
    assert refused(TypeError, linear(), state).endswith(text)


@pytest.mark.parametrize("state", [{}, {"epoch": 1}, {"state_dict": {"encoder.weight": 1}}, {3: 4}])
def test_a_state_of_which_no_key_matches_is_refused(state):
    text = refused(ValueError, linear(), state)
    assert text.startswith("no key of the state is one of the model, also not without module., ")
    held = "".join(map(str, state))
    assert text.endswith(f"model. or net.; the state has {held}; the model weight, bias")


def test_a_state_of_which_no_value_fits_is_refused_with_the_first_reasons():
    model = torch.nn.Sequential(linear(), linear())
    text = refused(ValueError, model, {key: torch.ones(9) for key in model.state_dict()})
    reasons = [
        f"{key} has shape [9] in the state, {shape} in the model"
        for key, shape in (("0.weight", [3, 2]), ("0.bias", [3]), ("1.weight", [3, 2]))
    ]
    assert text == f"no value of the state fits the model: {'; '.join(reasons)}"


def test_a_value_that_is_no_tensor_is_refused():
    text = refused(ValueError, linear(), {"weight": [1.0, 2.0]})
    assert text == "no value of the state fits the model: weight is a list in the state"


def test_a_value_without_data_is_refused():
    state = torch.nn.Linear(2, 3, device="meta").state_dict()
    why = "weight is on the meta device in the state, and has no data"
    assert why in refused(ValueError, linear(), state)


def test_a_value_of_another_kind_is_left_out():
    weight = torch.ones(3, 2)
    text = refused(ValueError, linear(), {"weight": weight.to(torch.complex64)})
    assert text.endswith("weight is torch.complex64 in the state, torch.float32 in the model")
    text = refused(ValueError, linear(), {"weight": weight.to_sparse()})
    assert text.endswith("weight is torch.sparse_coo in the state, torch.strided in the model")
    text = refused(
        ValueError, linear(), {"weight": torch.quantize_per_tensor(weight, 1, 0, torch.qint8)}
    )
    assert text.endswith("weight is quantized in the state, torch.strided in the model")
    quantized = torch.nn.Module()
    quantized.register_buffer("x", torch.quantize_per_tensor(weight, 1, 0, torch.quint8))
    value = torch.quantize_per_tensor(weight, 1, 0, torch.qint8)
    text = refused(ValueError, quantized, {"x": value})
    assert text.endswith("x is torch.qint8 in the state, torch.quint8 in the model")
    model = linear().to(torch.complex64)
    assert checkpoints.load_matching(model, {"weight": weight}).mismatched == {}


def test_a_model_without_memory_is_refused():
    model = linear()
    model.bias = torch.nn.Parameter(torch.ones(3, device="meta"))
    assert refused(ValueError, model, linear().state_dict()) == (
        "bias of the model is on the meta device, and has no memory to load into: call "
        "model.to_empty(device=...) before"
    )


def test_a_lazy_layer_takes_the_shape_of_the_state():
    trained, model = linear(), torch.nn.LazyLinear(3)
    checkpoints.load_matching(model, trained.state_dict())
    assert equal(model, trained)


def test_the_state_is_left_as_it_is_and_shares_nothing():
    state, model = linear(value=2.0).state_dict(), linear()
    checkpoints.load_matching(model, state)
    torch.nn.init.zeros_(model.weight)
    assert (state["weight"] == 2).all()


@given(
    widths=st.lists(st.integers(0, 3), min_size=1, max_size=3),
    prefix=st.lists(st.sampled_from(["module", "_orig_mod", "model", "net"]), max_size=3),
    dtype=st.sampled_from(DTYPES),
    dropped=st.sets(st.integers(0, 5)),
)
def test_every_key_of_both_sides_is_accounted_for_once(widths, prefix, dtype, dropped):
    layers = [torch.nn.Linear(2, width).to(dtype) for width in widths]
    others = [torch.nn.Linear(2, max(1, width)).to(dtype) for width in widths]
    trained, model = torch.nn.Sequential(*layers), torch.nn.Sequential(*others)
    state = {
        ".".join([*prefix, key]): value
        for n, (key, value) in enumerate(trained.state_dict().items())
        if n not in dropped
    }
    try:
        report = checkpoints.load_matching(model, state)
    except ValueError:
        assert all(
            value.numel() == 0 or n in dropped
            for n, value in enumerate(trained.state_dict().values())
        )
        return
    keys = [*report.loaded, *report.missing, *report.mismatched]
    assert sorted(keys) == sorted(model.state_dict())
    assert sorted([*report.loaded.values(), *report.unexpected]) == sorted(
        key for key in state if key.split(".", len(prefix))[-1] not in report.mismatched
    )
    for key, old in report.loaded.items():
        assert torch.equal(model.state_dict()[key], state[old])


# --- save ---------------------------------------------------------------------------------------


class Interrupt:
    def __reduce__(self):
        raise KeyboardInterrupt


def read(path):
    return torch.load(path)


def test_an_interrupted_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "last.pt"
    checkpoints.save({"step": 1}, path)
    with pytest.raises(KeyboardInterrupt):
        checkpoints.save({"step": 2, "interrupt": Interrupt()}, path)
    assert read(path) == {"step": 1}
    assert os.listdir(tmp_path) == ["last.pt"]


def test_what_cannot_be_saved_leaves_nothing(tmp_path):
    with pytest.raises(Exception):
        checkpoints.save(lambda: None, str(tmp_path / "new.pt"))
    assert os.listdir(tmp_path) == []


def test_the_file_is_on_the_disk_before_it_gets_its_name(tmp_path, monkeypatch):
    path, seen = str(tmp_path / "last.pt"), []
    synced, replaced = os.fsync, os.replace

    def fsync(number):
        seen.append(("fsync", os.fstat(number).st_size > 100, os.path.exists(path)))
        synced(number)

    def replace(old, new):
        assert os.path.dirname(old) == os.path.dirname(new)
        seen.append(("replace", os.path.splitext(old)[1], read(old)))
        replaced(old, new)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    checkpoints.save({"step": 1}, path)
    assert seen == [("fsync", True, False), ("replace", ".tmp", {"step": 1})]


def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "last.pt"
    checkpoints.save({"step": 1}, path)

    def full(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        checkpoints.save({"step": 2}, path)
    assert read(path) == {"step": 1}
    assert os.listdir(tmp_path) == ["last.pt"]


def test_a_file_that_cannot_be_made_is_the_error(tmp_path, monkeypatch):
    def denied(*_):
        raise PermissionError("no")

    monkeypatch.setattr(checkpoints, "open", denied, raising=False)
    with pytest.raises(PermissionError, match="^no$"):
        checkpoints.save({}, tmp_path / "last.pt")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions and links")
def test_permissions_and_links_are_kept(tmp_path):
    path, link = tmp_path / "step1.pt", tmp_path / "last.pt"
    checkpoints.save({"step": 1}, path)
    path.chmod(0o640)
    link.symlink_to(path)
    checkpoints.save({"step": 2}, link)
    assert link.is_symlink()
    assert read(path) == {"step": 2}
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_path_that_is_none_is_refused(tmp_path):
    for path in (io.BytesIO(), b"last.pt", 1):
        with pytest.raises(TypeError, match=f"got {type(path).__name__}$"):
            checkpoints.save({}, path)
    checkpoints.save({}, tmp_path / "file")
    for folder in (tmp_path / "none", tmp_path / "file"):
        path = folder / "last.pt"
        text = f"cannot save {str(path)!r}: there is no folder {str(folder)!r}"
        with pytest.raises(FileNotFoundError, match=f"^{re.escape(text)}$"):
            checkpoints.save({}, path)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipes")
def test_a_path_that_is_no_file_is_left_alone(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        text = f"cannot save {str(path)!r}: it is there, and it is no file"
        with pytest.raises(OSError, match=f"^{re.escape(text)}$"):
            checkpoints.save({"step": 1}, path)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other links")
def test_a_link_to_a_file_that_is_not_there_yet(tmp_path):
    (tmp_path / "last.pt").symlink_to(tmp_path / "step1.pt")
    checkpoints.save({"step": 1}, tmp_path / "last.pt")
    assert (tmp_path / "last.pt").is_symlink()
    assert read(tmp_path / "step1.pt") == {"step": 1}


def test_savers_at_once_leave_one_whole_file(tmp_path):
    path = tmp_path / "last.pt"
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: checkpoints.save({"x": torch.full((999,), n)}, path), range(20)))
    assert len(read(path)["x"].unique()) == 1
    assert os.listdir(tmp_path) == ["last.pt"]


# --- capture and restore ------------------------------------------------------------------------


class Run:
    """A training run with every kind of stateful part."""

    def __init__(self, device="cpu", optimizer="Adam", scheduler="StepLR", seed=0):
        torch.manual_seed(seed)
        random.seed(seed)
        self.device = device
        layers = torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3), torch.nn.Dropout(0.5)
        self.model = torch.nn.Sequential(*layers).to(device)
        options = {"SGD": {"momentum": 0.9}}.get(optimizer, {})
        weights = list(self.model.parameters())
        groups = [{"params": weights[:1], "lr": 0.2}, {"params": weights[1:]}]
        self.optimizer = getattr(torch.optim, optimizer)(groups, 0.1, **options)
        make = getattr(torch.optim.lr_scheduler, scheduler)
        arguments = {
            "StepLR": {"step_size": 2},
            "LambdaLR": {"lr_lambda": lambda epoch: 0.9**epoch},
            "OneCycleLR": {"max_lr": 0.5, "total_steps": 50, "cycle_momentum": False},
            "MultiStepLR": {"milestones": [2, 4]},
            "CosineAnnealingLR": {"T_max": 9},
        }[scheduler]
        self.scheduler = make(self.optimizer, **arguments)
        self.scaler = torch.cuda.amp.GradScaler(enabled=False)
        self.generator = torch.Generator()
        self.generator.manual_seed(seed)
        self.step = 0

    def parts(self):
        return {
            "model": self.model,
            "optimizer": self.optimizer,
            "scheduler": self.scheduler,
            "scaler": self.scaler,
            "generator": self.generator,
        }

    def train(self, steps):
        losses = []
        for _ in range(steps):
            x = torch.rand(4, 2, generator=self.generator).to(self.device) * random.random()
            loss = self.model(x + torch.rand(1).item()).square().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.scheduler.step()
            self.step += 1
            rates = [group["lr"] for group in self.optimizer.param_groups]
            losses.append((loss.item(), rates))
        return losses


def through_a_file(checkpoint):
    file = io.BytesIO()
    torch.save(checkpoint, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


@given(
    optimizer=st.sampled_from(["SGD", "Adam", "AdamW", "RMSprop", "Adagrad"]),
    scheduler=st.sampled_from(
        ["StepLR", "LambdaLR", "OneCycleLR", "MultiStepLR", "CosineAnnealingLR"]
    ),
    before=st.integers(0, 4),
    after=st.integers(1, 4),
    file=st.booleans(),
)
def test_an_interrupted_run_is_the_uninterrupted_one(
    device, optimizer, scheduler, before, after, file
):
    if device == "mps" and TORCH < (2, 5):
        before = 0  # the random state contains only the seed (pytorch#130613), but dropout draws
    state, python = torch.get_rng_state(), random.getstate()
    try:
        run = Run(device, optimizer, scheduler)
        run.train(before)
        checkpoint = checkpoints.capture(**run.parts(), step=run.step)
        expected = run.train(after)
        if file and NEW:
            checkpoint = through_a_file(checkpoint)
        resumed = Run(device, optimizer, scheduler, seed=1)
        problems = checkpoints.restore(checkpoint, **resumed.parts())
        resumed.step = checkpoint["values"]["step"]
        assert all("is a function and was not saved" in line for line in problems)
        assert resumed.train(after) == expected
        assert resumed.step == run.step
        assert equal(resumed.model, run.model)
    finally:
        torch.set_rng_state(state)
        random.setstate(python)


@pytest.fixture
def run():
    state, python = torch.get_rng_state(), random.getstate()
    run = Run()
    run.train(2)
    yield run
    torch.set_rng_state(state)
    random.setstate(python)


def test_later_steps_do_not_change_what_was_captured(run):
    checkpoint = checkpoints.capture(**run.parts(), tensor=run.model[0].weight)
    weight = run.model[0].weight.detach().clone()
    run.train(1)
    assert torch.equal(checkpoint["objects"]["model"]["0.weight"], weight.cpu())
    assert torch.equal(checkpoint["values"]["tensor"], weight.cpu())
    assert not checkpoint["values"]["tensor"].requires_grad


def test_steps_after_a_restore_do_not_change_the_checkpoint(run):
    checkpoint = checkpoints.capture(**run.parts())
    kept = checkpoints._copied(checkpoint["objects"], "", None)
    checkpoints.restore(checkpoint, **run.parts())
    run.train(2)
    for one, other in zip(
        checkpoint["objects"]["optimizer"]["state"][0].values(),
        kept["optimizer"]["state"][0].values(),
    ):
        assert torch.equal(torch.as_tensor(one), torch.as_tensor(other))


def test_random_states_are_restored():
    numpy = pytest.importorskip("numpy")
    checkpoint = checkpoints.capture()
    drawn = torch.rand(3), random.random(), numpy.random.rand()
    assert checkpoints.restore(checkpoint) == []
    assert torch.equal(torch.rand(3), drawn[0])
    assert (random.random(), numpy.random.rand()) == drawn[1:]


def draws(numpy):
    """Numbers from all three generators, including numbers that an earlier draw left over."""
    return [
        torch.rand(3).tolist(),
        random.gauss(0, 1),
        random.random(),
        numpy.random.standard_normal(),
        numpy.random.rand(),
    ]


@pytest.mark.parametrize("before", range(4))
def test_random_states_are_restored_with_what_they_keep_for_the_next_draw(before):
    numpy = pytest.importorskip("numpy")
    states = torch.get_rng_state(), random.getstate(), numpy.random.get_state()
    random.seed(0)
    numpy.random.seed(0)
    try:
        for _ in range(before):  # each call draws two numbers and keeps one of them
            random.gauss(0, 1)
            numpy.random.standard_normal()
        checkpoint = checkpoints.capture()
        drawn = draws(numpy)
        draws(numpy)
        checkpoint = through_a_file(checkpoint) if NEW else checkpoint
        assert checkpoints.restore(checkpoint) == []
        assert draws(numpy) == drawn
    finally:
        torch.set_rng_state(states[0])
        random.setstate(states[1])
        numpy.random.set_state(states[2])


def test_random_states_come_last():
    class Draws:
        def state_dict(self):
            return {}

        def load_state_dict(self, state):
            torch.rand(1), random.random()

    checkpoint = checkpoints.capture(draws=Draws())
    drawn = torch.rand(1), random.random()
    checkpoints.restore(checkpoint, draws=Draws())
    assert (torch.rand(1), random.random()) == drawn


@pytest.mark.parametrize("there", [1, 2, 3])
def test_each_device_gets_its_random_state_and_others_are_told(monkeypatch, there):
    numbers, given = [torch.full((16,), n, dtype=torch.uint8) for n in (1, 2)], {}
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_rng_state_all", lambda: numbers)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: there)
    monkeypatch.setattr(torch.cuda, "set_rng_state", lambda state, n: given.update({n: state}))
    checkpoint = checkpoints.capture()
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)  # CUDA is not in use yet
    problems = checkpoints.restore(checkpoint)
    assert {n: int(state[0]) for n, state in given.items()} == dict([(0, 1), (1, 2)][:there])
    text = f"2 random states of cuda were saved, and there are {there} devices"
    assert problems == ([] if there == 2 else [f"{text}: {min(2, there)} restored"])


def test_cuda_that_is_not_in_use_is_left_alone(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    checkpoint = checkpoints.capture()
    assert "cuda" not in checkpoint["random"]
    assert checkpoints.restore(checkpoint) == []
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    assert checkpoints.restore(checkpoint) == [
        "cuda is in use here, and its random state was not saved"
    ]


def test_mps_gets_its_random_state(monkeypatch):
    given, state = [], torch.full((16,), 3, dtype=torch.uint8)
    mps = types.SimpleNamespace(get_rng_state=lambda: state, set_rng_state=given.append)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.delattr(torch, "mps", raising=False)  # as in 1.13
    assert "mps" not in checkpoints.capture()["random"]
    monkeypatch.setattr(torch, "mps", mps, raising=False)
    checkpoint = checkpoints.capture()
    assert checkpoints.restore(checkpoint) == []
    assert [each.tolist() for each in given] == [[3] * 16]
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert checkpoints.restore(checkpoint) == [
        "the random state of mps was saved, and mps is not in use here"
    ]
    assert len(given) == 1


def test_numpy_is_left_alone_where_it_is_not_imported(monkeypatch):
    pytest.importorskip("numpy")
    checkpoint = checkpoints.capture()
    monkeypatch.delitem(sys.modules, "numpy")
    assert "numpy" not in checkpoints.capture()["random"]
    (line,) = checkpoints.restore(checkpoint)
    assert line == "the random state of numpy was saved, and numpy is not in use here"


def test_a_random_state_that_was_not_saved_is_told():
    pytest.importorskip("numpy")
    checkpoint = checkpoints.capture()
    del checkpoint["random"]["numpy"]
    (line,) = checkpoints.restore(checkpoint)
    assert line == "numpy is in use here, and its random state was not saved"


def test_numpy_that_is_blocked_is_not_used(monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy", None)
    checkpoint = checkpoints.capture()
    assert "numpy" not in checkpoint["random"]
    assert checkpoints.restore(checkpoint) == []


@pytest.mark.skipif(not NEW, reason="the fake tensors of older releases need CUDA")
def test_a_checkpoint_may_be_loaded_to_any_device(monkeypatch):
    from torch._subclasses import FakeTensorMode

    class Keeps:
        def state_dict(self):
            return {"x": torch.ones(2)}

        def load_state_dict(self, state):
            seen.append(state["x"].device.type)

    seen = []
    monkeypatch.setattr(torch, "set_rng_state", lambda state: seen.append(state.device.type))
    for kind in ("_cuda", "_mps"):  # otherwise, their states would also be fake tensors
        monkeypatch.setattr(checkpoints, kind, lambda: False)
    checkpoint = checkpoints.capture(keeps=Keeps())
    with FakeTensorMode(allow_non_fake_inputs=True):
        elsewhere = torch.ones(2, device="cuda")  # as with map_location="cuda"
        checkpoint["objects"]["keeps"]["x"] = checkpoint["random"]["torch"] = elsewhere
        checkpoints.restore(checkpoint, keeps=Keeps())
    assert seen == ["cpu", "cpu"]


def test_a_checkpoint_on_the_device_is_restored(run, device):
    file = io.BytesIO()
    torch.save(checkpoints.capture(**run.parts()), file)
    drawn = torch.rand(1)
    file.seek(0)
    options = {"weights_only": True} if NEW else {}
    checkpoint = torch.load(file, map_location=device, **options)
    assert checkpoints.restore(checkpoint, **run.parts()) == []
    assert torch.equal(torch.rand(1), drawn)


def test_an_object_of_any_name_is_restored():
    model, other = linear(value=1.0), linear()
    checkpoint = types.MappingProxyType(checkpoints.capture(checkpoint=model))
    assert checkpoints.restore(checkpoint, checkpoint=other) == []
    assert equal(model, other)


def test_what_is_not_restored_is_told(run, monkeypatch):
    checkpoint = checkpoints.capture(**run.parts())
    assert checkpoints.restore(checkpoint, model=run.model, generator=run.generator) == [
        f"{name} was saved and not given" for name in ("optimizer", "scheduler", "scaler")
    ]
    checkpoint["random"]["cuda"] = [torch.zeros(16, dtype=torch.uint8)]
    if not torch.cuda.is_available():
        assert checkpoints.restore(checkpoint, **run.parts()) == [
            "the random state of cuda was saved, and cuda is not in use here"
        ]


def test_a_function_in_a_state_is_left_out_and_told(run):
    class Schedule:
        def state_dict(self):
            return {"step": 3, "inner": [{"anneal": len, "rate": 0.5}], "warm": print}

        def load_state_dict(self, state):
            self.state = state

    schedule = Schedule()
    checkpoint = checkpoints.capture(schedule=schedule)
    left_out = ["schedule['inner'][0]['anneal']", "schedule['warm']"]
    assert checkpoint["left_out"] == left_out
    assert checkpoint["objects"] == {"schedule": {"step": 3, "inner": [{"rate": 0.5}]}}
    assert checkpoints.restore(checkpoint, schedule=schedule) == [
        f"{where} is a function and was not saved" for where in left_out
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": [1, object()]}, "part['a'][1] is a object, which torch.load() would refuse"),
        (len, "part is a builtin_function_or_method"),
        (collections.namedtuple("Pair", "a b")(1, 2), "part is a Pair"),
        (type("Settings", (dict,), {})(), "part is a Settings"),
        (types.SimpleNamespace(state_dict=3), "part is a SimpleNamespace"),
        ({"f": print}, "part['f'] is a builtin_function_or_method"),
        ({"a": {len: 1}}, "the key <built-in function len> of part['a'] is a builtin_function"),
    ],
)
def test_what_is_not_plain_is_refused(value, text):
    with pytest.raises(TypeError) as raised:
        checkpoints.capture(part=value)
    assert text in str(raised.value)


def test_an_object_whose_state_cannot_be_kept_is_named_before_anything_is_restored():
    checkpoint = checkpoints.capture(model=linear(), counter=linear())
    counter = types.SimpleNamespace(
        state_dict=lambda: {"x": object()}, load_state_dict=lambda state: None
    )
    model = linear()
    before = model.weight.clone()
    with pytest.raises(TypeError, match=r"^counter\['x'\] is a object"):
        checkpoints.restore(checkpoint, model=model, counter=counter)
    assert torch.equal(model.weight, before)


def test_plain_values_come_back_as_they_were():
    numpy = pytest.importorskip("numpy")
    values = {
        "a": [1, (2.5, None), {"x": True}],
        "b": {1, 2},
        "c": b"x",
        "d": 1j,
        "e": torch.float16,
        "f": collections.Counter("aab"),
        "g": collections.OrderedDict(x=1),
        "h": torch.Size([2]),
        "i": collections.defaultdict(list, x=[1]),
        "j": torch.device("cpu"),
    }
    numbers = {"score": numpy.float64(0.5), "counts": {numpy.int64(3): numpy.int64(4)}}
    checkpoint = checkpoints.capture(**values, **numbers)
    checkpoint = through_a_file(checkpoint) if NEW else checkpoint
    assert checkpoint["values"] == {**values, "score": 0.5, "counts": {3: 4}}
    assert type(checkpoint["values"]["score"]) is float
    assert type(checkpoint["values"]["f"]) is collections.Counter
    assert type(checkpoint["values"]["g"]) is collections.OrderedDict
    assert {type(key) for key in checkpoint["values"]["counts"]} == {int}
    with pytest.raises(TypeError, match="^score is a ndarray"):
        checkpoints.capture(score=numpy.ones(1))


@pytest.mark.parametrize(
    ("checkpoint", "got"),
    [
        (None, "NoneType"),
        ({}, "dict of "),
        ({"model": 1, "optimizer": 2}, "dict of model, optimizer"),
        ("last.pt", "str"),
        ({"objects": {}, "random": {}}, "dict of objects, random"),
        ({"objects": {}, "left_out": []}, "dict of objects, left_out"),
        ({"random": {}, "left_out": []}, "dict of random, left_out"),
    ],
)
def test_what_is_not_from_capture_is_refused(checkpoint, got):
    text = re.escape(f"expected what capture() returned, got {got}")
    with pytest.raises(TypeError, match=f"^{text}$"):
        checkpoints.restore(checkpoint)


def test_objects_without_a_state_are_refused(run):
    checkpoint = checkpoints.capture(model=run.model)
    run.train(1)
    before = checkpoints.capture(**run.parts())
    with pytest.raises(TypeError, match="step is a int, which has no state to load"):
        checkpoints.restore(checkpoint, model=run.model, step=3)
    with pytest.raises(ValueError, match="no state of optimizer; it has model"):
        checkpoints.restore(checkpoint, model=run.model, optimizer=run.optimizer)
    with pytest.raises(TypeError, match="model is a int, which has no state to load"):
        checkpoints.restore(checkpoint, model=3)
    with pytest.raises(TypeError, match="Linear is a type"):
        checkpoints.restore(checkpoint, Linear=torch.nn.Linear)
    assert_as_captured(run, before)


def assert_as_captured(run, before):
    after = checkpoints.capture(**run.parts())
    for key, value in before["objects"]["model"].items():
        assert torch.equal(after["objects"]["model"][key], value)
    assert torch.equal(after["random"]["torch"], before["random"]["torch"])
    assert after["objects"]["scheduler"] == before["objects"]["scheduler"]


def test_a_restore_that_fails_leaves_everything_as_it_was(run):
    checkpoint = checkpoints.capture(**run.parts())
    run.train(1)
    before = checkpoints.capture(**run.parts())
    del checkpoint["objects"]["optimizer"]["param_groups"]
    with pytest.raises(KeyError):
        checkpoints.restore(checkpoint, **run.parts())
    assert_as_captured(run, before)


class Part:
    """Contains a number, and can fail to load a state."""

    def __init__(self, number, error=None):
        self.number, self.error = number, error

    def state_dict(self):
        return {"number": self.number}

    def load_state_dict(self, state):
        self.number = state["number"]
        torch.rand(1), random.random(), sys.modules["numpy"].random.rand()
        if self.error and state["number"] == 1:
            raise self.error


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt(), SystemExit()])
@pytest.mark.parametrize("last", [False, True])
def test_whatever_ends_a_restore_everything_is_as_it_was(error, last):
    numpy = pytest.importorskip("numpy")
    model, generator, first = linear(value=1.0), torch.Generator().manual_seed(1), Part(1)
    failing = Part(1)
    parts = {"model": model, "generator": generator, "first": first, "failing": failing}
    checkpoint = checkpoints.capture(**parts)
    torch.nn.init.zeros_(model.weight)
    generator.manual_seed(2)
    first.number = failing.number = 2
    failing.error = error
    kept = torch.get_rng_state(), random.getstate(), numpy.random.get_state()
    drawn = generator.get_state(), draws(numpy)
    torch.set_rng_state(kept[0])
    random.setstate(kept[1])
    numpy.random.set_state(kept[2])
    parts = dict(sorted(parts.items(), key=lambda item: (item[0] == "failing") == last))
    with pytest.raises(type(error)):
        checkpoints.restore(checkpoint, **parts)
    assert not model.weight.any()
    assert (first.number, failing.number) == (2, 2)
    assert torch.equal(generator.get_state(), drawn[0])
    assert draws(numpy) == drawn[1]


def test_random_states_that_cannot_be_set_leave_everything_as_it_was():
    model = linear(value=1.0)
    checkpoint = checkpoints.capture(model=model)
    checkpoint["random"]["python"] = (3, [1, 2, 3], None)
    torch.nn.init.zeros_(model.weight)
    torch.rand(1)
    drawn = torch.get_rng_state()
    with pytest.raises(ValueError, match="state vector"):
        checkpoints.restore(checkpoint, model=model)
    assert not model.weight.any()
    assert torch.equal(torch.get_rng_state(), drawn)


def test_one_that_cannot_be_put_back_is_named_and_the_others_are():
    class Stuck(Part):
        def load_state_dict(self, state):
            if state["number"] in self.refused:
                raise self.error

    first, half, stuck = Part(1), Stuck(1, KeyError("half")), Stuck(1, ValueError("never"))
    half.refused, stuck.refused = [2], [1, 2]
    parts = {"first": first, "half": half, "stuck": stuck}
    checkpoint = checkpoints.capture(**parts)
    first.number = half.number = stuck.number = 2
    random_state = torch.get_rng_state()
    with pytest.raises(RuntimeError) as raised:
        checkpoints.restore(checkpoint, **parts)
    assert str(raised.value) == (
        "cannot be put back as before: stuck (ValueError: never), half (KeyError: 'half')"
    )
    assert raised.value.__cause__ is stuck.error
    assert first.number == 2
    assert torch.equal(torch.get_rng_state(), random_state)


class Scaler:
    """Like GradScaler, whose state is empty while it is disabled."""

    def __init__(self, on, scale=8.0):
        self.on, self.scale = on, scale

    def is_enabled(self):
        return self.on

    def state_dict(self):
        return {"scale": self.scale} if self.on else {}

    def load_state_dict(self, state):
        if self.on and not state:
            raise RuntimeError("The source state dict is empty")
        if self.on:
            self.scale = state["scale"]


def scaler_of_torch(on, scale=8.0):
    """A GradScaler of torch. Since torch 2.3, the scaler for the CPU can be enabled anywhere."""
    if TORCH < (2, 3):
        pytest.skip("a scaler is off without CUDA")
    return torch.amp.GradScaler("cpu", init_scale=scale, enabled=on)


@pytest.mark.parametrize("make", [Scaler, scaler_of_torch])
@pytest.mark.parametrize(
    ("saved", "here", "told"),
    [
        (False, True, ["scaler was saved off, and is on here"]),
        (True, False, ["scaler was saved on, and is off here"]),
        (False, False, []),
        (True, True, []),
    ],
)
def test_a_scaler_that_was_switched_is_left_as_it_is_and_told(make, saved, here, told):
    model = linear(value=1.0)
    checkpoint = checkpoints.capture(model=model, scaler=make(saved, 4.0))
    torch.nn.init.zeros_(model.weight)
    scaler = make(here)
    assert checkpoints.restore(checkpoint, model=model, scaler=scaler) == told
    assert (model.weight == 1).all()
    assert scaler.state_dict().get("scale") == ({True: 4.0, False: 8.0}[saved] if here else None)


def size_of(checkpoint):
    file = io.BytesIO()
    torch.save(checkpoint, file)
    return file.tell()


class Tied(torch.nn.Module):
    def __init__(self, device="cpu", tie=True):
        super().__init__()
        self.embedding = torch.nn.Embedding(300, 40, device=device)
        self.head = torch.nn.Linear(40, 300, bias=False, device=device)
        if tie:
            self.head.weight = self.embedding.weight
        self.register_buffer("mask", torch.ones(1, 1, device=device).expand(500, 500))
        self.register_buffer("rows", torch.arange(3.0, device=device)[:, None].expand(3, 400))


def test_tied_weights_stay_tied_and_expanded_buffers_small(device):
    model = Tied(device)
    checkpoint = checkpoints.capture(model=model)
    for _ in range(2):
        state = checkpoint["objects"]["model"]
        weights = state["embedding.weight"], state["head.weight"]
        assert weights[0].data_ptr() == weights[1].data_ptr() != model.head.weight.data_ptr()
        assert all(torch.equal(state[key], each.cpu()) for key, each in model.state_dict().items())
        checkpoint = through_a_file(checkpoint) if NEW else checkpoint
    assert size_of(checkpoint) < 300 * 40 * 4 + 20_000
    assert size_of(checkpoints.capture(row=torch.ones(1).expand(10_000))["values"]) < 20_000
    other = Tied(device, tie=False)
    other.mask = other.mask.clone()
    del other.rows
    other.register_buffer("rows", torch.zeros(3, 400, device=device))
    assert checkpoints.restore(checkpoint, model=other) == []
    assert torch.equal(other.head.weight, model.head.weight)
    assert torch.equal(other.rows, model.rows)


def test_tensors_of_one_memory_and_other_shapes_are_kept_apart():
    base = torch.arange(6.0)
    parts = {
        "a": base,
        "b": base.view(2, 3),
        "c": base[:3],
        "d": base.view(2, 3).t(),
        "e": base.view(torch.int32),
        "f": base[3:],
        "g": base[:0],
        "h": torch.tensor(2.0),
        "i": base[:4].view(2, 2),
        "j": base[:4].view(2, 2).t(),
        "k": base.bfloat16(),
        "l": base.double(),
    }
    copied = checkpoints.capture(values=parts)["values"]["values"]
    for key, value in parts.items():
        assert torch.equal(copied[key], value)
        assert (copied[key].dtype, copied[key].stride()) == (value.dtype, value.stride())
    numbers = torch.tensor([1 + 2j, 3j])
    views = [numbers, numbers.conj(), numbers.imag, numbers.conj().imag]
    for copied, view in zip(checkpoints.capture(views=views)["values"]["views"], views):
        assert torch.equal(copied, view)


def test_tensors_that_are_not_plain_memory_are_copied_too():
    base = torch.arange(6.0).view(2, 3)
    sparse = base.to_sparse()
    scales = torch.tensor([0.5, 1.0])
    quantized = torch.quantize_per_channel(base, scales, torch.zeros(2), 0, torch.qint8)
    copied = checkpoints.capture(sparse=sparse, quantized=quantized)["values"]
    sparse.values().mul_(2)
    quantized.copy_(torch.quantize_per_channel(base * 0, scales, torch.zeros(2), 0, torch.qint8))
    assert torch.equal(copied["sparse"].to_dense(), base)
    assert torch.equal(copied["quantized"].dequantize(), base)


@pytest.mark.parametrize("kind", [list, tuple])
def test_a_tensor_that_is_twice_in_a_list_stays_one(kind):
    first, second = checkpoints.capture(pair=kind([torch.ones(3)] * 2))["values"]["pair"]
    assert first is second


def test_the_versions_of_layers_are_captured_and_restored():
    make = versioned(torch.nn.Linear)
    model, other = (torch.nn.Sequential(make(2, 3)) for _ in range(2))
    checkpoint = checkpoints.capture(model=model)
    checkpoint = through_a_file(checkpoint) if NEW else checkpoint
    for _ in range(2):
        assert checkpoints.restore(checkpoint, model=other) == []
        assert other[0].seen == 7


def test_a_model_that_fails_half_way_is_put_back(run):
    checkpoint = checkpoints.capture(model=run.model)
    run.train(1)
    before = {key: value.clone() for key, value in run.model.state_dict().items()}
    checkpoint["objects"]["model"]["1.weight"] = torch.zeros(9)
    with pytest.raises(RuntimeError, match="size mismatch"):
        checkpoints.restore(checkpoint, model=run.model)
    for key, value in run.model.state_dict().items():
        assert torch.equal(value, before[key])


@pytest.mark.parametrize("last", ["optimizer", "model"])
def test_an_optimizer_of_other_groups_changes_nothing(run, last):
    checkpoint = checkpoints.capture(model=run.model, optimizer=run.optimizer)
    run.train(1)
    weights = list(run.model.parameters())
    groups = [{"params": weights[:2]}, {"params": weights[2:]}]
    parts = {"model": run.model, "optimizer": torch.optim.Adam(groups)}
    parts = dict(sorted(parts.items(), key=lambda item: item[0] == last))
    before = {key: value.clone() for key, value in run.model.state_dict().items()}
    random_state = torch.get_rng_state()
    with pytest.raises(ValueError, match="size of optimizer's group"):
        checkpoints.restore(checkpoint, **parts)
    assert all(torch.equal(value, before[key]) for key, value in run.model.state_dict().items())
    assert parts["optimizer"].state_dict()["state"] == {}
    assert torch.equal(torch.get_rng_state(), random_state)
