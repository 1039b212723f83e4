import collections
import contextlib
import copy
import dataclasses
import datetime
import importlib
import math
import multiprocessing
import random
import sys
import threading
import time
import warnings
from types import SimpleNamespace
from unittest import mock

import numpy
import pytest
import torch
from hypothesis import assume, example, given
from hypothesis import strategies as st
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from reference_fixes import numerics


def groups(parameters):
    """Groups parameters as most trainers do: the first half (empty for one parameter), the rest."""
    parameters = list(parameters)
    half = len(parameters) // 2
    return [{"params": parameters[:half]}, {"params": parameters[half:]}]


OPTIMIZERS = {
    "SGD": lambda parameters: torch.optim.SGD(groups(parameters), lr=1.0),
    "SGD momentum": lambda parameters: torch.optim.SGD(groups(parameters), lr=1.0, momentum=0.9),
    "AdamW": lambda parameters: torch.optim.AdamW(groups(parameters), lr=0.1),
    "AdamW fused": lambda parameters: torch.optim.AdamW(groups(parameters), lr=0.1, fused=True),
    "SGD fused": lambda parameters: torch.optim.SGD(groups(parameters), lr=1.0, fused=True),
    "SGD momentum fused": lambda parameters: torch.optim.SGD(
        groups(parameters), lr=1.0, momentum=0.9, fused=True
    ),
    "Adagrad fused": lambda parameters: torch.optim.Adagrad(groups(parameters), lr=0.1, fused=True),
    "SGD damped fused": lambda parameters: torch.optim.SGD(
        groups(parameters), lr=1.0, momentum=0.9, dampening=0.5, fused=True
    ),
}


def optimizer_for(name, parameters):
    """The optimizer, or None if this torch has no fused version for the device."""
    if "fused" in name:
        trial = nn.Parameter(torch.ones(1, device=parameters[0].device))
        trial.grad = torch.ones_like(trial)
        try:
            OPTIMIZERS[name](
                [trial]
            ).step()  # torch 2.3 creates a fused SGD for the CPU, but has no kernel for it
        except (TypeError, RuntimeError):
            return None
    return OPTIMIZERS[name](parameters)


@pytest.fixture(scope="module", params=sorted(OPTIMIZERS))
def optimizer_name(request, device):
    if optimizer_for(request.param, [nn.Parameter(torch.ones(2, device=device))]) is None:
        pytest.skip(f"torch {torch.__version__} has no {request.param} on {device}")
    return request.param


DECIDING = numerics._DECIDING


@pytest.fixture(scope="module", autouse=True)
def fused_optimizers_of_the_cpu_decide_too():
    """Makes fused CPU optimizers decide as on CUDA, so that every machine tests this code."""
    with mock.patch.object(numerics, "_DECIDING", ("cpu", "cuda")):
        yield


def test_as_it_comes_the_host_decides_everywhere_but_on_cuda(device):
    parameters = with_gradients([[3.0]], device)
    optimizer = optimizer_for("AdamW fused", parameters)
    if optimizer is None:
        pytest.skip(f"torch {torch.__version__} has no fused AdamW on {device}")
    with mock.patch.object(numerics, "_DECIDING", DECIDING), Reads() as reads:
        numerics.clip_or_skip(optimizer, 1.0)
    assert (reads.count == 0) is (device == "cuda" and numerics._TORCH >= (2, 4))


numbers = st.one_of(
    st.floats(-100, 100, width=32), st.sampled_from([0.0, 1e-20, 1e19, 1e20, -3e38, 1e30])
)
gradients = st.lists(st.lists(numbers, min_size=1, max_size=5), min_size=1, max_size=4)
bad_values = st.sampled_from([math.nan, math.inf, -math.inf])


def with_gradients(rows, device, dtype=torch.float32):
    parameters = []
    for row in rows:
        parameter = nn.Parameter(torch.zeros(len(row), device=device, dtype=dtype))
        parameter.grad = torch.tensor(row, device=device, dtype=dtype)
        parameters.append(parameter)
    return parameters


def flat(tensors):
    return torch.cat([tensor.detach().cpu().double().flatten() for tensor in tensors])


@given(
    gradients, st.sampled_from([0.5, 1.0, 50.0, math.inf]), st.sampled_from(["SGD", "SGD fused"])
)
@example([[1e20] * 5], 1.0, "SGD")
@example([[1e20] * 5], 1.0, "SGD fused")
@example([[3.0, 4.0]], 1.0, "SGD")
@example([[1e20]], 0.5, "SGD")  # the norm of one element needs no square, so it does not overflow
@example([[3e38], [-3e38]], 1.0, "SGD")
@example([[3e38], [-3e38]], 1.0, "SGD fused")
@example([[3e38]], 0.5, "SGD fused")
@example([[3e38]] * 4, math.inf, "SGD")
@example([[3e38]] * 4, math.inf, "SGD fused")
def test_finite_gradients_keep_their_direction_and_get_the_norm(device, rows, max_norm, name):
    parameters = with_gradients(rows, device)
    optimizer = optimizer_for(name, parameters) or optimizer_for("SGD", parameters)
    true = flat(parameter.grad for parameter in parameters)
    # otherwise, the factor is a subnormal number, which MPS flushes to zero (pytorch#125051)
    assume(device != "mps" or true.abs().max() * math.sqrt(len(true)) < 8e37 * max_norm)
    norm = true.norm().item()
    result = numerics.clip_or_skip(optimizer, max_norm)
    assert {(value.shape, value.device) for value in result} == {((), parameters[0].device)}
    if decides_on_device(name, device) and norm / max_norm > 3.4e38:
        assert result.skipped
        assert not result.norm.isfinite()
        return
    step = -flat(parameters)
    assert (result.skipped.dtype, result.skipped.item()) == (torch.bool, False)
    overflowed = result.norm.item() == math.inf
    assert norm > 1e18 or not overflowed
    if not overflowed:
        assert result.norm.item() == pytest.approx(
            norm, rel=1e-4, abs=1e-15
        )  # tiny squares underflow
    if not overflowed:
        expected = true * min(1.0, max_norm / norm if norm else 1.0)
        torch.testing.assert_close(step, expected, rtol=1e-3, atol=1e-30)
    else:  # a bound replaces the norm: at most max_norm, never zero, and in the same direction
        assert 0.2 * min(max_norm, norm) <= step.norm() <= 1.001 * min(max_norm, norm)
        torch.testing.assert_close(step / step.norm(), true / norm, rtol=1e-3, atol=1e-6)


def test_a_parameter_that_is_frozen_after_backward_is_clipped_as_it_is_stepped(device):
    frozen, other = with_gradients([[3.0], [4.0]], device)
    frozen.requires_grad_(False)
    numerics.clip_or_skip(torch.optim.SGD([frozen, other], lr=1.0), 1.0)
    assert [frozen.item(), other.item()] == pytest.approx([-0.6, -0.8], rel=1e-4)


@given(gradients, st.data())
def test_one_bad_value_anywhere_skips_the_step_and_changes_nothing(
    device, optimizer_name, rows, data
):
    parameters = with_gradients([[1.0] * len(row) for row in rows], device)
    optimizer = optimizer_for(optimizer_name, parameters)
    numerics.clip_or_skip(optimizer, 1.0)  # creates the moments
    weights, moments = flat(parameters), copy.deepcopy(optimizer.state_dict()["state"])
    for parameter, row in zip(parameters, rows):
        parameter.grad = torch.tensor(row, device=device)
    place = data.draw(st.integers(0, len(rows) - 1))
    parameters[place].grad[data.draw(st.integers(0, len(rows[place]) - 1))] = data.draw(bad_values)
    result = numerics.clip_or_skip(optimizer, 1.0)
    assert (result.skipped.dtype, result.skipped.item()) == (torch.bool, True)
    assert not result.norm.isfinite()
    assert torch.equal(flat(parameters), weights)
    assert_state_equal(optimizer.state_dict()["state"], moments)
    for parameter in parameters:
        parameter.grad = torch.ones_like(parameter)
    assert not numerics.clip_or_skip(optimizer, 1.0).skipped  # training continues
    assert not torch.equal(flat(parameters), weights)
    assert flat(parameters).isfinite().all()
    assert not hasattr(optimizer, "found_inf")  # otherwise, every later step() would be skipped too


@pytest.mark.parametrize("last", [12.0, math.nan, math.inf])
def test_all_parameter_groups_count_and_all_are_scaled_or_skipped(device, optimizer_name, last):
    parameters = with_gradients([[3.0], [4.0], [last]], device)
    optimizer = optimizer_for(optimizer_name, parameters)
    assert [len(group["params"]) for group in optimizer.param_groups] == [1, 2]
    result = numerics.clip_or_skip(optimizer, 1.0)
    if last == 12.0:
        assert result.norm.item() == pytest.approx(13.0)
        scaled = [parameter.grad.item() for parameter in parameters]
        assert scaled == pytest.approx([3 / 13, 4 / 13, 12 / 13])
        assert all(parameter.item() for parameter in parameters)
    else:
        assert result.skipped
        assert not any(parameter.item() for parameter in parameters)


class Reads(TorchDispatchMode):
    """Counts how often the host asks for a value with .item(), bool() or float()."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.count += "_local_scalar_dense" in str(function)
        return function(*args, **(kwargs or {}))


def decides_on_device(name, device):
    if device == "mps" or numerics._TORCH < (2, 4):
        return False
    return name.endswith(" fused") and "damped" not in name


@pytest.mark.parametrize(("value", "count"), [(4.0, 1), (math.nan, 2), (1e30, 2)])
def test_only_a_fused_optimizer_of_torch_spares_the_reads_from_the_device(
    device, optimizer_name, value, count
):
    optimizer = optimizer_for(optimizer_name, with_gradients([[3.0, value]], device))
    if "AdamW" in optimizer_name and "fused" not in optimizer_name:
        optimizer.step = lambda: None  # the step reads its step counts, which are on the CPU
    with Reads() as reads:
        numerics.clip_or_skip(optimizer, 1.0)
    assert reads.count == (0 if decides_on_device(optimizer_name, device) else count)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_skipped_step_is_called_only_where_the_device_decides(device, optimizer_name, bad):
    optimizer = optimizer_for(optimizer_name, with_gradients([[3.0, bad]], device))
    with mock.patch.object(optimizer, "step") as step:
        numerics.clip_or_skip(optimizer, 1.0)
    assert step.called is decides_on_device(optimizer_name, device)


@pytest.mark.parametrize("kind", ["mps", "xpu"])
def test_the_fused_optimizers_of_other_devices_do_not_decide(monkeypatch, kind):
    class Elsewhere(nn.Parameter):
        device = torch.device(kind)

    monkeypatch.setattr(numerics, "_TORCH", (2, 15))
    monkeypatch.setattr(numerics, "_DECIDING", ("cpu", *DECIDING))
    here, there = nn.Parameter(torch.ones(1)), Elsewhere(torch.ones(1))
    optimizer = torch.optim.AdamW(groups([here, there]), lr=1.0)
    for group in optimizer.param_groups:
        group["fused"] = True  # in case this torch checks the device
    here.grad = torch.ones(1)
    assert numerics._decides_on_device(optimizer)
    there.grad = torch.ones(1)
    assert not numerics._decides_on_device(optimizer)


@pytest.mark.parametrize(("version", "decides"), [((2, 3), False), ((2, 4), True)])
def test_the_device_decides_since_torch_2_4(monkeypatch, version, decides):
    optimizer = torch.optim.AdamW(groups(with_gradients([[1.0]], "cpu")))
    for group in optimizer.param_groups:
        group["fused"] = True  # even if this torch supports it only on CUDA
    monkeypatch.setattr(numerics, "_TORCH", version)
    assert numerics._decides_on_device(optimizer) is decides


@pytest.mark.parametrize("number", [0, 1])
def test_no_sgd_decides_that_is_dampened_in_any_group(monkeypatch, number):
    monkeypatch.setattr(numerics, "_TORCH", (2, 15))
    optimizer = torch.optim.SGD(groups(with_gradients([[1.0]] * 2, "cpu")), lr=1.0, momentum=0.9)
    for group in optimizer.param_groups:
        group["fused"] = True
    assert numerics._decides_on_device(optimizer)
    optimizer.param_groups[number]["dampening"] = 0.5
    assert not numerics._decides_on_device(optimizer)


def test_an_optimizer_that_has_no_fused_kernel_is_told_by_the_host():
    (parameter,) = parameters = with_gradients([[1.0]], "cpu")
    assert not numerics.clip_or_skip(torch.optim.Rprop(parameters), 1.0).skipped
    assert parameter.item() < 0


class Forwards:
    """A wrapper as in Lightning and Accelerate, whose attributes do not reach its optimizer."""

    def __init__(self, optimizer):
        self.optimizer = optimizer

    def __getattr__(self, name):
        return getattr(self.optimizer, name)

    def step(self):
        self.optimizer.step()


class OwnAdamW(torch.optim.AdamW):
    pass


class OtherProtocol(torch.optim.Optimizer):
    """Takes an argument instead of attributes, like the optimizers of apex and torch 1.13."""

    _step_supports_amp_scaling = True

    def __init__(self, parameters):
        super().__init__(groups(parameters), {"fused": True})

    def step(self, closure=None, grad_scaler=None):
        for group in self.param_groups:
            for parameter in group["params"]:
                parameter.data -= parameter.grad


class Zero(OtherProtocol):
    __module__ = "torch.distributed.optim.zero_redundancy_optimizer"


class Yogi(OtherProtocol):
    __module__ = "torch_optimizer.yogi"


def loaded(name, parameters):
    """A fused optimizer that continues from the state of an optimizer that is not fused."""
    optimizer = optimizer_for(f"{name} fused", parameters)
    optimizer.load_state_dict(optimizer_for(name, parameters).state_dict())
    return optimizer


def half_fused(parameters):
    other = nn.Parameter(torch.zeros_like(parameters[0]))
    other.grad = torch.ones_like(other)
    both = [{"params": parameters}, {"params": [other], "fused": False}]
    return torch.optim.AdamW(both, fused=True)


@pytest.mark.parametrize(
    "make",
    [
        lambda parameters: Forwards(optimizer_for("AdamW fused", parameters)),
        lambda parameters: OwnAdamW(groups(parameters), fused=True),
        OtherProtocol,
        Zero,
        Yogi,
        lambda parameters: loaded("AdamW", parameters),
        lambda parameters: loaded("SGD", parameters),
        half_fused,
    ],
    ids=[
        "wrapper",
        "subclass",
        "other protocol",
        "torch.distributed",
        "torch_optimizer",
        "AdamW loaded",
        "SGD loaded",
        "half fused",
    ],
)
def test_no_optimizer_that_looks_fused_steps_on_nan(device, make):
    (parameter,) = parameters = with_gradients([[math.nan, 1.0]], device)
    for name in ("AdamW fused", "SGD fused"):
        if optimizer_for(name, parameters) is None:
            pytest.skip(f"torch {torch.__version__} has no {name} on {device}")
    assert numerics.clip_or_skip(make(parameters), 1.0).skipped
    assert parameter.tolist() == [0.0, 0.0]


def test_a_torch_without_norms_in_float64_is_told_by_the_host(monkeypatch):
    monkeypatch.setattr(numerics, "_TORCH", (2, 3))
    optimizer = torch.optim.SGD(groups(with_gradients([[math.nan]], "cpu")), lr=1.0)
    for group in optimizer.param_groups:
        group["fused"] = True
    with mock.patch.object(optimizer, "step") as step:
        assert numerics.clip_or_skip(optimizer, 1.0).skipped
    assert not step.called


def test_a_step_that_raises_leaves_nothing_on_the_optimizer(device, optimizer_name):
    optimizer = optimizer_for(optimizer_name, with_gradients([[1.0]], device))
    with (
        mock.patch.object(optimizer, "step", side_effect=RuntimeError("out of memory")),
        pytest.raises(RuntimeError, match="out of memory"),
    ):
        numerics.clip_or_skip(optimizer, 1.0)
    assert not hasattr(optimizer, "found_inf")
    assert not hasattr(optimizer, "grad_scale")


def test_gradients_are_scaled_in_place_and_not_cleared(device, optimizer_name):
    (parameter,) = parameters = with_gradients([[3.0, 4.0]], device)
    optimizer, gradient = optimizer_for(optimizer_name, parameters), parameter.grad
    for spoilt, expected in ((False, [0.6, 0.8]), (True, [math.inf, 4.0])):
        gradient.copy_(torch.tensor([math.inf if spoilt else 3.0, 4.0]))
        numerics.clip_or_skip(optimizer, 1.0)
        assert parameter.grad is gradient
        assert gradient.tolist() == pytest.approx(expected)


def test_a_gradient_with_a_graph_gives_a_norm_without_one(device, optimizer_name):
    parameter = nn.Parameter(torch.tensor([3.0, 4.0], device=device))
    (parameter.grad,) = torch.autograd.grad((parameter**2).sum(), parameter, create_graph=True)
    graph = parameter.grad.grad_fn.name()
    result = numerics.clip_or_skip(optimizer_for(optimizer_name, [parameter]), 1.0)
    assert result.norm.item() == pytest.approx(10.0)
    assert not result.norm.requires_grad
    assert parameter.grad.grad_fn.name() == graph


def test_float64_gradients_longer_than_any_number_keep_their_direction():
    (parameter,) = parameters = with_gradients([[1.5e308, 1.5e308]], "cpu", torch.float64)
    numerics.clip_or_skip(torch.optim.SGD(groups(parameters), lr=1.0), 1.0)
    assert parameter.tolist() == pytest.approx([-(0.5**0.5)] * 2)


def test_gradients_shorter_than_any_other_are_scaled_to_max_norm_too():
    (parameter,) = parameters = with_gradients([[3e-8, 4e-8]], "cpu")
    numerics.clip_or_skip(torch.optim.SGD(groups(parameters), lr=1.0), 1e-8)
    assert parameter.tolist() == pytest.approx([-0.6e-8, -0.8e-8], rel=1e-4)


class Newton(torch.optim.LBFGS):
    pass


def test_an_lbfgs_is_refused_before_anything_is_scaled():
    (parameter,) = parameters = with_gradients([[9.0]], "cpu")
    with pytest.raises(TypeError, match=r"^Newton computes gradients within its step"):
        numerics.clip_or_skip(Newton(parameters), 1.0)
    assert parameter.grad.tolist() == [9.0]
    parameter.grad = None
    with pytest.raises(TypeError, match=r"^LBFGS computes gradients within its step"):
        numerics.clip_or_skip(torch.optim.LBFGS(parameters), 1.0)


def test_parameters_of_fsdp1_are_refused():
    _, parameter = parameters = with_gradients([[1.0], [9.0]], "cpu")
    parameter._fsdp_flattened = True  # FSDP1 sets this for both values of use_orig_params
    with pytest.raises(TypeError, match=r"^parameters of FSDP1: call its clip_grad_norm_\(\)"):
        numerics.clip_or_skip(torch.optim.SGD(groups(parameters), lr=1.0), 1.0)


def on_two_ranks(rank, meeting_point):
    """The results of steps on DTensors with a spoiled shard on rank 1, as seen by each rank."""
    from torch import distributed

    # Optimizers and meshes would query the GPU of this machine, which a forked process must not do.
    with mock.patch("torch.cuda.is_available", return_value=False):
        distributed.init_process_group(
            "gloo",
            init_method=f"file://{meeting_point}",
            rank=rank,
            world_size=2,
            timeout=datetime.timedelta(seconds=30),
        )
        try:
            return with_a_process_group(rank)
        finally:
            if rank == 0:  # the process of rank 1 simply exits
                # Before torch 2.8, destroy_process_group() holds the GIL while it waits for gloo's
                # threads, which may need the GIL to free tensors (pytorch#154976).
                time.sleep(0.5)
                distributed.destroy_process_group()


def with_a_process_group(rank):
    from torch.distributed._tensor import Replicate, Shard, distribute_tensor
    from torch.distributed.device_mesh import init_device_mesh

    mesh, found = init_device_mesh("cpu", (2,)), []
    newest, mixed = numerics._TORCH, ((4, Shard(0)), (1, Shard(0)), (1, Replicate()))
    for name, version, layouts in (  # rank 1 has no part of a single sharded row
        ("SGD", newest, mixed),
        ("SGD", (2, 0), mixed),  # torch 2.0 scales the gradients one by one
        ("AdamW fused", newest, ((4, Shard(0)), (2, Shard(0)))),
    ):
        for spoilt in (1.0, math.nan, math.inf, 1e30):
            parameters = [
                nn.Parameter(distribute_tensor(torch.zeros(rows, 2), mesh, [placement]))
                for rows, placement in layouts
            ]
            if name == "SGD":  # fused optimizers of torch accept no mixture
                parameters.append(nn.Parameter(torch.zeros(1, 2)))
            for parameter in parameters:
                parameter.grad = torch.ones_like(parameter)
            if rank == 1:
                parameters[0].grad.to_local()[0, 0] = spoilt
            with mock.patch.object(numerics, "_TORCH", version):
                result = numerics.clip_or_skip(OPTIMIZERS[name](parameters[::-1]), 1.0)
            gradient, weight = parameters[0].grad.to_local()[1, 1], parameters[0].to_local()[1, 1]
            moved = any(bool((parameter != 0).any()) for parameter in parameters[3:])
            values = [value.item() for value in (*result, gradient, weight)]
            found.append((name, spoilt, *values, moved))
    with torch.no_grad():
        parameters[0].grad = None
        parameters[0].to_local()[0, 0] = math.nan if rank else 0.0
    return found, numerics.find_nonfinite(nn.ParameterList(parameters))


def test_the_ranks_of_a_dtensor_step_together_or_not_at_all(device, tmp_path):
    if device == "mps":
        pytest.skip("no fork() where Metal is in use; --device cpu runs it")
    if numerics._TORCH < (2, 4) or "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("needs fork, and the DTensors of torch 2.4 or newer")
    # Otherwise, both ranks would import these modules.
    importlib.import_module("torch.distributed._tensor")
    importlib.import_module("torch._dynamo")
    with multiprocessing.get_context("fork").Pool(1) as pool:
        other = pool.apply_async(on_two_ranks, (1, tmp_path / "meeting"))
        first, seen_by_first = on_two_ranks(0, tmp_path / "meeting")
        second, seen_by_second = other.get(timeout=60)
    for name, spoilt, norm, skipped, gradient, weight, moved in first + second:
        if spoilt == 1.0:
            length = math.sqrt(14 if name == "SGD" else 12)  # the number of elements, all of them 1
            assert (norm, skipped) == (pytest.approx(length), False)
            assert gradient == pytest.approx(1 / length)
            assert weight == pytest.approx(-1 / length if name == "SGD" else -0.1)
            assert moved is (name == "SGD")
        else:
            assert (skipped, weight, moved) == (True, 0.0, False)
    assert seen_by_first is None
    assert seen_by_second == "parameter '0': 1 of 4 values are nan"


def test_a_complex_gradient_whose_length_overflows_keeps_its_direction():
    parameter = nn.Parameter(torch.zeros(1, dtype=torch.cfloat))
    parameter.grad = torch.tensor([3e38 + 3e38j])
    assert not numerics.clip_or_skip(torch.optim.SGD(groups([parameter]), lr=1.0), 1.0).skipped
    torch.testing.assert_close(parameter.detach(), torch.tensor([-(0.5**0.5) * (1 + 1j)]))


def test_a_norm_that_overflows_in_two_dtypes_together_skips_nothing():
    dtypes = (torch.float32, torch.bfloat16)
    first, second = (with_gradients([[3e38]], "cpu", dtype) for dtype in dtypes)
    optimizer = torch.optim.SGD(groups([*first, *second]), lr=1.0)
    assert not numerics.clip_or_skip(optimizer, 1.0).skipped


class Elsewhere(torch.Tensor):
    """A tensor that claims to be on a second device, and records where it is moved."""

    device = torch.device("meta")
    moved = []

    def to(self, target, dtype=None):
        if isinstance(target, torch.dtype):
            return self.as_subclass(torch.Tensor).to(target).as_subclass(Elsewhere)
        self.moved.append(target)
        return self.as_subclass(torch.Tensor).to(dtype or self.dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_norms_of_several_devices_meet_on_the_first_one(dtype):
    gradients = [
        torch.tensor([3.0], dtype=dtype),
        torch.tensor([4.0], dtype=dtype).as_subclass(Elsewhere),
    ]
    with (
        mock.patch.object(Elsewhere, "moved", []) as moved,
        mock.patch.object(Elsewhere, "device", torch.device("cpu", 1)),
    ):
        norm = numerics._norm(numerics._groups(gradients), 2.0)
    assert (norm.item(), norm.dtype, moved) == (5.0, dtype, [torch.device("cpu")])


def test_a_gradient_without_dimensions_counts():
    scale, weight = nn.Parameter(torch.tensor(0.0)), nn.Parameter(torch.zeros(1))
    scale.grad, weight.grad = torch.tensor(4.0), torch.tensor([3.0])
    assert numerics.clip_or_skip(torch.optim.SGD([scale, weight], lr=1.0), 1.0).norm == 5.0
    assert [scale.item(), weight.item()] == pytest.approx([-0.8, -0.6])


def test_gradients_of_two_dtypes_are_not_mixed():
    """If one call handled both dtypes, CUDA would copy each gradient to float64."""
    gradients = [torch.ones(1), torch.ones(1, dtype=torch.bfloat16), torch.ones(2)]
    first, second = numerics._groups(gradients)
    assert [id(one) for one in (*first, *second)] == [id(gradients[n]) for n in (0, 2, 1)]


@pytest.mark.parametrize("torch_version", [(2, 0), (2, 1), (2, 15)])
def test_the_factor_goes_to_each_device_whatever_this_torch_can_multiply_by(
    monkeypatch, torch_version
):
    monkeypatch.setattr(numerics, "_TORCH", torch_version)
    at_once = []
    monkeypatch.setattr(
        torch,
        "_foreach_mul_",
        lambda group, factor: [at_once.append(factor), [one.mul_(factor) for one in group]],
    )
    gradients, factor = (
        [torch.tensor([3.0]), torch.tensor([4.0]).as_subclass(Elsewhere)],
        torch.tensor(2.0).as_subclass(Elsewhere),
    )
    with mock.patch.object(Elsewhere, "moved", []) as moved:
        numerics._scale(numerics._groups(gradients), factor)
    assert moved == [torch.device("cpu"), torch.device("meta")]
    assert [gradient.tolist() for gradient in gradients] == [[6.0], [8.0]]
    assert bool(at_once) is (torch_version >= (2, 1))


@pytest.mark.parametrize("emptied", [False, True])
def test_a_skipped_first_step_leaves_no_garbage_in_the_moments(device, optimizer_name, emptied):
    ours, fresh = with_gradients([[1.0] * 40], device), with_gradients([[1.0] * 40], device)
    optimizer, other = optimizer_for(optimizer_name, ours), optimizer_for(optimizer_name, fresh)
    if emptied and "SGD" in optimizer_name:  # as in states of SGD without momentum before torch 2.4
        optimizer.state[ours[0]]["momentum_buffer"] = None
    ours[0].grad[3] = math.inf
    junk = [torch.full((40,), 777.0, device=device) for _ in range(20)]
    del junk  # the allocator reuses this memory
    assert numerics.clip_or_skip(optimizer, 1.0).skipped
    for _ in range(2):
        for parameters, one in ((ours, optimizer), (fresh, other)):
            parameters[0].grad = torch.ones(40, device=device)
            numerics.clip_or_skip(one, 1.0)
    torch.testing.assert_close(flat(ours), flat(fresh))


@pytest.mark.parametrize("transposed", ["parameter", "gradient"])
@pytest.mark.parametrize("max_norm", [0.5, math.inf])
def test_a_gradient_laid_out_unlike_its_parameter_is_stepped_by_its_values_106951(
    device, optimizer_name, max_norm, transposed
):
    values = {
        "parameter": torch.zeros(2, 3, device=device),
        "gradient": torch.tensor([[1.0, 2.0, 3.0], [-4.0, 5.0, 6.0]], device=device),
    }
    theirs = nn.Parameter(values["parameter"].clone())
    theirs.grad = values["gradient"].clone()
    values[transposed] = values[transposed].t().contiguous().t()
    ours = nn.Parameter(values["parameter"])
    ours.grad = values["gradient"]
    assert ours.grad.stride() != ours.stride()
    for parameter in (ours, theirs):
        numerics.clip_or_skip(optimizer_for(optimizer_name, [parameter]), max_norm)
    torch.testing.assert_close(ours, theirs)


def assert_state_equal(left, right):
    assert left.keys() == right.keys()
    for key, state in left.items():
        for name, value in state.items():
            assert (
                torch.equal(torch.as_tensor(value), torch.as_tensor(right[key][name]))
                if value is not None
                else right[key][name] is None
            ), name


@given(gradients)
def test_ordinary_gradients_step_as_after_clip_grad_norm(device, optimizer_name, rows):
    rows = [[value if abs(value) <= 100 else 1.0 for value in row] for row in rows]
    ours, theirs = with_gradients(rows, device), with_gradients(rows, device)
    for parameters, step in (
        (ours, lambda o, p: numerics.clip_or_skip(o, 2.0)),
        (theirs, plain_step),
    ):
        optimizer = optimizer_for(optimizer_name, parameters)
        for _ in range(3):
            for parameter, row in zip(parameters, rows):
                parameter.grad = torch.tensor(row, device=device)
            step(optimizer, parameters)
    torch.testing.assert_close(flat(ours), flat(theirs), rtol=1e-3, atol=1e-4)


def plain_step(optimizer, parameters):
    torch.nn.utils.clip_grad_norm_(parameters, 2.0)
    optimizer.step()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_other_dtypes_are_clipped_too(device, dtype):
    if device == "mps" and dtype == torch.float64:
        pytest.skip("MPS has no float64")
    parameters = with_gradients([[100.0] * 4, [0.0]], device, dtype)
    numerics.clip_or_skip(torch.optim.SGD(groups(parameters), lr=1.0), 1.0)
    torch.testing.assert_close(
        flat(parameters), torch.tensor([-0.5] * 4 + [0.0], dtype=torch.float64), rtol=4e-3, atol=0.0
    )


def test_a_factor_too_small_for_float16_is_not_rounded_to_it(device):
    (parameter,) = parameters = with_gradients([[60000.0] * 300], device, torch.float16)
    numerics.clip_or_skip(torch.optim.SGD(groups(parameters), lr=1.0), 1.0)
    torch.testing.assert_close(
        flat(parameters),
        torch.full((300,), -1 / math.sqrt(300), dtype=torch.float64),
        rtol=2e-3,
        atol=0.0,
    )


@pytest.mark.parametrize(
    ("dtypes", "expected"),
    [
        ([torch.float32, torch.float32], torch.float32),
        ([torch.bfloat16, torch.bfloat16], torch.float32),
        ([torch.bfloat16, torch.float32], torch.float32),
        ([torch.float32, torch.float64], torch.float64),
    ],
)
def test_the_norm_is_in_float32_or_better(device, dtypes, expected):
    if not decides_on_device("AdamW fused", device):
        pytest.skip(f"the host decides in torch {torch.__version__} on {device}")
    for name in ("AdamW", "AdamW fused"):
        first, second = (with_gradients([[x]], device, d) for x, d in zip((3.0, 4.0), dtypes))
        norm = numerics.clip_or_skip(OPTIMIZERS[name]([*first, *second]), 1.0).norm
        assert (norm.item(), norm.dtype) == (5.0, expected)


def test_hooks_before_a_step_see_the_gradients_that_it_scales_itself(device):
    if not decides_on_device("SGD fused", device):
        pytest.skip(f"the host decides in torch {torch.__version__} on {device}")
    (parameter,) = parameters = with_gradients([[3.0, 4.0]], device)
    optimizer, seen = OPTIMIZERS["SGD fused"](parameters), []
    optimizer.register_step_pre_hook(lambda *given: seen.append(parameter.grad.tolist()))
    numerics.clip_or_skip(optimizer, 1.0)
    assert seen == [[3.0, 4.0]]
    assert parameter.grad.tolist() == pytest.approx([0.6, 0.8])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_16_bit_gradients_of_another_device_than_the_cpu_are_not_scaled_all_at_once(dtype):
    gradient = torch.tensor([3.0], dtype=dtype).as_subclass(Elsewhere)
    with (
        mock.patch.object(torch, "_foreach_mul_", side_effect=AssertionError("rounds on CUDA")),
        mock.patch.object(Elsewhere, "moved", []),
    ):
        numerics._scale([[gradient]], torch.tensor(2.0).as_subclass(Elsewhere))
    assert gradient.tolist() == [6.0]


def test_sparse_complex_and_empty_gradients_are_clipped_too():
    embedding, phase, empty = (
        nn.Embedding(5, 2, sparse=True),
        nn.Parameter(torch.zeros(1, dtype=torch.cfloat)),
        nn.Parameter(torch.zeros(0)),
    )
    nn.init.zeros_(embedding.weight)
    (
        embedding(torch.tensor([1, 1])).sum() * 1.5
    ).backward()  # two entries for row 1, whose sum is 3
    phase.grad, empty.grad = torch.tensor([4j]) * math.sqrt(2), torch.zeros(0)
    optimizer = torch.optim.SGD(groups([embedding.weight, phase, empty]), lr=1.0)
    norm = math.sqrt(2 * 9 + 32)
    assert numerics.clip_or_skip(optimizer, 1.0).norm.item() == pytest.approx(norm, rel=1e-5)
    assert embedding.weight[1, 0].item() == pytest.approx(-3 / norm, rel=1e-5)
    assert phase.imag.item() == pytest.approx(-4 * math.sqrt(2) / norm, rel=1e-5)


def test_a_fused_optimizer_never_makes_the_host_wait(device):
    if device != "cuda":
        pytest.skip("only CUDA can be asked about synchronisations")
    parameters = with_gradients([[1.0] * 100] * 3, device)
    optimizer = OPTIMIZERS["AdamW fused"](parameters)
    numerics.clip_or_skip(optimizer, 1.0)
    torch.cuda.set_sync_debug_mode("error")
    try:
        numerics.clip_or_skip(optimizer, 1.0)
    finally:
        torch.cuda.set_sync_debug_mode("default")


@pytest.mark.parametrize(("value", "count"), [(4.0, 1), (math.nan, 2), (1e30, 2)])
def test_the_host_waits_only_where_it_reads(device, optimizer_name, value, count):
    if device != "cuda":
        pytest.skip("only CUDA can be asked about synchronisations")
    optimizer = optimizer_for(optimizer_name, with_gradients([[3.0, value]], device))
    torch.cuda.set_sync_debug_mode("warn")
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            numerics.clip_or_skip(optimizer, 1.0)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    waits = [one for one in caught if "synchronizing CUDA operation" in str(one.message)]
    assert len(waits) == (0 if decides_on_device(optimizer_name, device) else count)


@pytest.mark.parametrize("max_norm", [0.0, -1.0, math.nan])
def test_impossible_norms_are_refused(max_norm):
    with pytest.raises(ValueError, match=f"max_norm={max_norm!r}"):
        numerics.clip_or_skip(optimizer_for("SGD", with_gradients([[1.0]], "cpu")), max_norm)


@pytest.mark.parametrize("gradient", [None, torch.zeros(0)])
def test_a_step_without_gradients_is_refused(gradient):
    parameter = nn.Parameter(torch.ones(2 if gradient is None else 0))
    parameter.grad = gradient
    with pytest.raises(
        ValueError,
        match=r"^the parameters of the optimizer have no gradient with a value in it: "
        r"was backward\(\) called\?$",
    ):
        numerics.clip_or_skip(optimizer_for("SGD", [parameter]), 1.0)


def test_a_norm_that_overflows_is_clipped_beside_an_empty_gradient():
    weight, empty = nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(0))
    weight.grad, empty.grad = torch.full((2,), 3e38), torch.zeros(0)
    result = numerics.clip_or_skip(torch.optim.SGD([empty, weight], lr=1.0), 1.0)
    assert not result.skipped
    assert weight.tolist() == pytest.approx([-math.sqrt(0.5)] * 2, rel=1e-5)


class Explodes(nn.Module):
    def forward(self, x):
        return x / 0


class TakesRows(nn.Module):
    def forward(self, batch):
        return batch["rows"][1][1].square()


def network(device):
    torch.manual_seed(0)
    layers = [
        nn.Linear(3, 3),
        nn.BatchNorm1d(3),
        nn.Sequential(nn.Dropout(0.5), Explodes()),
        nn.Linear(3, 1),
    ]
    return nn.Sequential(*layers).to(device)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    "kind",
    [
        "input",
        "keyword",
        "nested",
        "0.weight",
        "1.weight",
        "3.bias",
        "buffer",
        "gradient",
        "module",
    ],
)
def test_the_first_thing_that_is_not_finite_is_named(device, bad, kind):
    model = network(device)
    x = torch.ones(4, 3, device=device)
    spoiled = x.clone()
    spoiled[1, 2] = bad
    word = str(bad)
    healthy = nn.Sequential(*list(model)[:2])
    if kind == "input":
        found, expected = (
            numerics.find_nonfinite(healthy, spoiled),
            f"input 0: 1 of 12 values are {word}",
        )
    elif kind == "keyword":
        found, expected = (
            numerics.find_nonfinite(healthy, input=spoiled),
            f"input input: 1 of 12 values are {word}",
        )
    elif kind == "nested":
        batch = {"rows": [x, (x, spoiled)]}
        found, expected = (
            numerics.find_nonfinite(TakesRows(), batch),
            f"input 0['rows'][1][1]: 1 of 12 values are {word}",
        )
    elif kind in dict(model.named_parameters()):
        dict(model.named_parameters())[kind].data.view(-1)[0] = bad
        found, expected = numerics.find_nonfinite(model, x), f"parameter {kind!r}: 1 of "
    elif kind == "buffer":
        model[1].running_mean[0] = math.nan
        found, expected = (
            numerics.find_nonfinite(model, x),
            "buffer '1.running_mean': 1 of 3 values are nan",
        )
    elif kind == "gradient":
        model[1].weight.grad = torch.full_like(model[1].weight, bad)
        found, expected = (
            numerics.find_nonfinite(healthy, x),
            f"gradient of '1.weight': 3 of 3 values are {word}",
        )
    else:
        found, expected = (
            numerics.find_nonfinite(model.eval(), x),
            "output of module '2.1' (Explodes): ",
        )
    assert found.startswith(expected)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (math.nan, "input 0: 1 of 1 values are nan"),
        (complex(math.inf, 0), "input 0: 1 of 1 values are inf"),
        ([1.0, {"a": math.inf}], "input 0[1]['a']: 1 of 1 values are inf"),
        (collections.UserDict(a=math.inf), "input 0['a']: 1 of 1 values are inf"),
        (numpy.array([1.0, math.nan]), "input 0: 1 of 2 values are nan"),
        (numpy.array([1, complex(0, math.nan)]), "input 0: 1 of 2 values are nan"),
        (numpy.array([1, math.nan], numpy.longdouble), "input 0: 1 of 2 values are nan"),
        (numpy.array([1, math.inf], ">f4"), "input 0: 1 of 2 values are inf"),
        (numpy.array([math.nan, 1])[::-1], "input 0: 1 of 2 values are nan"),
        (numpy.array([1, 2]), None),
        (numpy.array([1e300]), None),
        (numpy.array(["a"]), None),
        ("nan", None),
        (3, None),
    ],
)
def test_numbers_and_arrays_among_the_inputs_are_looked_at_too(value, expected):
    class Ignores(nn.Module):
        def forward(self, value):
            return torch.ones(1)

    assert numerics.find_nonfinite(Ignores(), value) == expected


def test_nothing_is_found_in_a_model_whose_values_are_finite(device):
    model = nn.Sequential(nn.Linear(3, 3), nn.LSTM(3, 2)).to(device)
    # like attention masks, and the lowest loss so far
    model.register_buffer("mask", torch.tensor([-math.inf, math.inf], device=device))
    model.register_buffer("ids", torch.arange(2, device=device))
    assert numerics.find_nonfinite(model) is None
    assert numerics.find_nonfinite(model, torch.ones(4, 3, device=device)) is None


@given(st.booleans())
def test_the_search_leaves_no_trace(device, explodes):
    model = network(device).train()
    if not explodes:
        model[2] = nn.Dropout(0.5)
    model[0].weight.grad = torch.ones_like(model[0].weight)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    random_state = torch.random.get_rng_state()
    numerics.find_nonfinite(
        model, torch.ones(4, 3, device=device) * torch.arange(4, device=device)[:, None]
    )
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert torch.equal(torch.random.get_rng_state(), random_state)
    assert not any(module._forward_hooks for module in model.modules())
    assert bool((model[0].weight.grad == 1).all())
    assert model.training


class Careless(nn.Module):
    """A module whose forward pass does everything that could leave traces."""

    def __init__(self, device, fails=False):
        super().__init__()
        self.fails = fails
        self.register_buffer("written", torch.ones(2, device=device))
        self.register_buffer("replaced", torch.ones(2, device=device))
        self.register_buffer("none", None, persistent=False)

    def forward(self, x, rows):
        self.written.add_(1)
        self.replaced = 0.9 * self.replaced + x.mean()
        self.none = x.clone()
        self.register_buffer("late", x.clone())
        for row in (x, rows["a"][0]):
            row.mul_(2)
        random.random()
        torch.rand(1)
        if self.fails:
            raise ArithmeticError("no answer")
        return x


@pytest.mark.parametrize("fails", [False, True])
def test_a_pass_leaves_buffers_inputs_and_random_states_alone_even_if_it_fails(device, fails):
    model = Careless(device, fails)
    written, replaced = model.written, model.replaced
    x, rows = torch.ones(2, device=device), {"a": (torch.ones(2, device=device),)}
    states = random.getstate(), torch.random.get_rng_state()
    if fails:
        with pytest.raises(ArithmeticError, match="no answer"):
            numerics.find_nonfinite(model, x, rows=rows)
    else:
        assert numerics.find_nonfinite(model, x, rows=rows) is None
    assert list(model._buffers) == ["written", "replaced", "none"]
    assert (model.written, model.replaced, model.none) == (written, replaced, None)
    for value in (written, replaced, x, rows["a"][0]):
        assert value.tolist() == [1.0, 1.0]
        assert value._version == 0  # otherwise, backward() of an earlier pass would raise
    assert random.getstate() == states[0]
    assert torch.equal(torch.random.get_rng_state(), states[1])
    assert not model._forward_hooks


def test_a_loss_that_waits_for_its_backward_survives_the_search(device):
    model, x = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).to(device), torch.rand(4, 2)
    loss = model(x.to(device)).sum()
    assert numerics.find_nonfinite(model, x.to(device)) is None
    loss.backward()


class Asks(nn.Linear):
    def forward(self, x):
        self.fast = torch.backends.mha.get_fastpath_enabled()
        if self.fails:
            raise KeyError("no")
        return super().forward(x)


@pytest.mark.skipif(numerics._TORCH < (2, 3), reason="the fast path has no switch before torch 2.3")
@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("fails", [True, False])
def test_the_pass_has_the_fast_path_only_where_the_forward_has_no_graph(enabled, fails):
    mha = torch.backends.mha
    model = Asks(1, 1)
    model.bias.requires_grad_(False)
    model.fails = fails
    kept = mha.get_fastpath_enabled()
    mha.set_fastpath_enabled(enabled)
    try:
        for trains, graph in [(True, True), (True, False), (False, True)]:
            model.weight.requires_grad_(trains)
            with torch.set_grad_enabled(graph), contextlib.suppress(KeyError):
                numerics.find_nonfinite(model, torch.ones(1, 1))
            assert model.fast is (enabled and not (trains and graph))
            assert mha.get_fastpath_enabled() is enabled
    finally:
        mha.set_fastpath_enabled(kept)


def test_the_pass_builds_no_graph(device):
    model, seen = nn.Linear(2, 2).to(device), []
    model.register_forward_hook(lambda *args: seen.append(args[2].requires_grad))
    x = torch.ones(1, 2, device=device, requires_grad=True)
    numerics.find_nonfinite(model, x * 2)  # an input with a graph
    assert seen == [False]


def test_a_model_that_differentiates_its_inputs_can_do_so_in_the_pass(device):
    class Forces(nn.Module):
        def forward(self, x):
            with torch.enable_grad():
                return torch.autograd.grad((x**3).sum(), x)[0]

    x = torch.tensor([2.0, math.inf], device=device, requires_grad=True)
    assert numerics.find_nonfinite(Forces(), x[:1].detach().requires_grad_()) is None


@pytest.mark.parametrize("which", [0, slice(None)])
def test_training_in_the_same_autocast_block_keeps_its_graph(which):
    model, x = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)), torch.ones(1, 2)
    with torch.autocast("cpu", torch.bfloat16):
        numerics.find_nonfinite(model[which], x)
        model(x).sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


def test_a_model_that_catches_exceptions_hides_nothing():
    class Falls(nn.Module):
        def __init__(self):
            super().__init__()
            self.fast = Explodes()

        def forward(self, x):
            try:
                return self.fast(x)
            except BaseException:
                return x

    found = numerics.find_nonfinite(Falls(), torch.ones(2))
    assert found == "output of module 'fast' (Explodes): 2 of 2 values are inf"


@pytest.mark.parametrize("fails", [False, True])
def test_the_pass_is_run_in_any_case_because_other_ranks_may_wait_in_it(device, fails):
    passes = []

    class Shared(nn.Module):
        def forward(self, x):
            passes.append(x)
            if fails:
                raise ValueError("expected finite values")
            return x

    found = numerics.find_nonfinite(Shared(), torch.tensor([math.nan], device=device))
    assert found == "input 0: 1 of 1 values are nan"
    assert len(passes) == 1


def test_inputs_that_cannot_be_copied_reach_the_model_as_they_are(device):
    class Takes(nn.Module):
        def forward(self, x, box, *, lock):
            x.mul_(2)
            return box.features / 0 if lock is held else x

    held, box, x = threading.Lock(), SimpleNamespace(), torch.ones(1, device=device)
    box.features = torch.ones(1, device=device, requires_grad=True) * 2  # has a graph
    found = numerics.find_nonfinite(Takes(), x, box, lock=held)
    assert found == "output of module '' (Takes): 1 of 1 values are inf"
    assert x.tolist() == [1.0]  # x was copied


def test_an_error_that_follows_from_the_first_bad_value_does_not_hide_it():
    class Refuses(nn.Module):
        def forward(self, x):
            raise ValueError("expected finite values")

    found = numerics.find_nonfinite(nn.Sequential(Explodes(), Refuses()), torch.ones(2))
    assert found == "output of module '0' (Explodes): 2 of 2 values are inf"
    model = nn.Sequential(Refuses(), nn.Linear(1, 1))
    model[1].bias.grad = torch.tensor([math.nan])
    found = numerics.find_nonfinite(model, torch.ones(1, 1))
    assert found == "gradient of '1.bias': 1 of 1 values are nan"
    model[1].bias.data, model[1].bias.grad = model[1].bias.grad, None
    found = numerics.find_nonfinite(model, torch.ones(1, 1))
    assert found == "parameter '1.bias': 1 of 1 values are nan"


def test_what_a_compiled_model_computes_inside_is_named():
    if numerics._TORCH < (2, 6):
        pytest.skip("needs torch.compiler.set_stance")
    layers = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Tanh())
    compiled = torch.compile(layers, backend="eager")
    with torch.no_grad():
        compiled(torch.ones(2, 1))  # compiles a graph without hooks
    x = torch.full((2, 1), torch.finfo(torch.float32).max)
    nn.init.constant_(layers[0].weight, 2.0)
    for model, name in ((compiled, "_orig_mod.0"), (nn.Sequential(compiled), "0._orig_mod.0")):
        found = numerics.find_nonfinite(model, x)
        assert found == f"output of module {name!r} (Linear): 2 of 2 values are inf"


@pytest.mark.skipif(not hasattr(torch, "compiler"), reason="torch has no compiler module")
@pytest.mark.parametrize(
    ("version", "loaded", "stances"),
    [((2, 5), True, []), ((2, 6), True, ["force_eager"]), ((2, 6), False, [])],
)
def test_torch_compile_is_asked_where_it_is_loaded_and_listens(
    monkeypatch, version, loaded, stances
):
    asked = []

    @contextlib.contextmanager
    def set_stance(stance):
        asked.append(stance)
        yield

    monkeypatch.setattr(torch.compiler, "set_stance", set_stance, raising=False)
    monkeypatch.setattr(numerics, "_TORCH", version)
    dynamo = sys.modules.get("torch._dynamo", torch)
    monkeypatch.setitem(sys.modules, "torch._dynamo", dynamo)
    if not loaded:
        monkeypatch.delitem(sys.modules, "torch._dynamo")
    assert numerics.find_nonfinite(nn.Identity(), torch.ones(1)) is None
    assert asked == stances


def test_of_several_bad_outputs_the_first_is_named():
    model = nn.Sequential(nn.Identity(), Explodes(), Explodes())
    found = numerics.find_nonfinite(model, torch.ones(2))
    assert found == "output of module '1' (Explodes): 2 of 2 values are inf"


def test_the_place_in_a_modules_output_is_named_and_keywords_reach_the_model():
    class Two(nn.Module):
        def forward(self, x, *, shift):
            return {"a": [x, x / shift]}

    found = numerics.find_nonfinite(Two(), torch.ones(1), shift=torch.zeros(1))
    assert found == "output of module '' (Two) a[1]: 1 of 1 values are inf"


class Encoder(nn.Module):
    """An encoder with its own causal mask, and a head."""

    def __init__(self, device):
        super().__init__()
        layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2)
        self.mask, self.head = Causal(), nn.Linear(4, 1)
        self.to(device)

    def forward(self, x, mask):
        return self.head(self.layers(x, mask + self.mask(mask)))


class Causal(nn.Module):
    def forward(self, mask):
        return torch.full_like(mask, -math.inf).triu(1)


def encoder_and_inputs(device):
    mask = torch.zeros(3, 3, device=device)
    mask[:, 2] = -math.inf
    return Encoder(device), torch.rand(2, 3, 4, device=device), mask


@pytest.mark.parametrize("training", [True, False])
def test_a_healthy_model_that_is_given_a_mask_and_makes_one_is_healthy(device, training):
    model, x, mask = encoder_and_inputs(device)
    assert numerics.find_nonfinite(model.train(training), x, mask) is None
    assert numerics.find_nonfinite(model, x, mask=mask) is None
    assert numerics.find_nonfinite(Causal(), mask) is None  # a returned mask is healthy too


@pytest.mark.parametrize("training", [True, False])
def test_a_mask_hides_no_broken_weight_and_no_broken_module(device, training):
    model, x, mask = encoder_and_inputs(device)
    model.train(training)
    model.head = Explodes()
    masks = (
        "input 1: 3 of 9 values are -inf; output of module 'mask' (Causal): 3 of 9 values are -inf"
    )
    found = numerics.find_nonfinite(model, x, mask)
    assert found.startswith(f"{masks}; output of module 'head' (Explodes): ")
    assert found.count("; ") == 2
    weight = model.layers.layers[1].linear2.weight
    weight.grad = torch.full_like(weight, math.nan)
    model.head = nn.Identity()
    found = numerics.find_nonfinite(model, x, mask)
    name = "layers.layers.1.linear2.weight"
    assert found == f"{masks}; gradient of {name!r}: 32 of 32 values are nan"
    weight.data[0, 0] = math.nan
    assert numerics.find_nonfinite(model, x, mask) == f"parameter {name!r}: 1 of 32 values are nan"


def test_what_makes_the_output_nan_is_named_with_the_minus_inf_before_it(device):
    class Weights(nn.Module):
        def forward(self, scores, mask):
            return (scores + mask).softmax(-1)

    mask = torch.zeros(2, 2, device=device)
    mask[1] = -math.inf  # the second query sees no keys
    assert numerics.find_nonfinite(Weights(), torch.ones_like(mask), mask) == (
        "input 1: 2 of 4 values are -inf; output of module '' (Weights): 2 of 4 values are nan"
    )

    class Log(nn.Module):
        def forward(self, x):
            return x.log()

    layers = nn.Sequential(Log(), nn.Linear(1, 2, bias=False)).to(device)
    nn.init.constant_(layers[1].weight, -1.0)
    assert numerics.find_nonfinite(layers, torch.tensor([[0.0], [1.0]], device=device)) == (
        "output of module '0' (Log): 1 of 2 values are -inf; "
        "output of module '1' (Linear): 2 of 4 values are inf"
    )


def test_an_error_is_not_explained_by_a_mask(device):
    class Refuses(nn.Module):
        def forward(self, x, mask):
            raise ValueError("expected finite values")

    with pytest.raises(ValueError, match="expected finite values"):
        numerics.find_nonfinite(Refuses(), torch.ones(1), torch.tensor([-math.inf]))
    model = nn.Sequential(Causal(), nn.Linear(2, 1))
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        numerics.find_nonfinite(model, torch.ones(3, 3))


def test_keywords_are_inputs_too_and_come_after_the_others():
    found = numerics.find_nonfinite(Explodes(), x=torch.ones(1))
    assert found == "output of module '' (Explodes): 1 of 1 values are inf"
    bad = torch.tensor([math.nan])
    found = numerics.find_nonfinite(nn.Identity(), bad, mask=bad)
    assert found == "input 0: 1 of 1 values are nan"


def test_an_output_is_what_the_hooks_of_a_module_make_of_it():
    model = nn.Identity()
    model.register_forward_hook(lambda module, inputs, output: output / 0)
    found = numerics.find_nonfinite(model, torch.ones(1))
    assert found == "output of module '' (Identity): 1 of 1 values are inf"


class Adds(nn.Module):
    def __init__(self, total):
        super().__init__()
        self.register_buffer("total", total)

    def forward(self, x):
        return self.total.add_(x).clone()


def test_modules_that_share_a_buffer_share_it_in_the_pass():
    total = torch.zeros(1)
    model, seen = nn.Sequential(Adds(total), Adds(total)), []
    model.register_forward_hook(lambda module, inputs, output: seen.append(output.item()))
    assert numerics.find_nonfinite(model, torch.ones(1)) is None
    assert (seen, total.item()) == ([2.0], 0.0)


@dataclasses.dataclass
class Answer:
    scores: torch.Tensor
    more: object = None
    absent: object = dataclasses.field(init=False)  # never set


def test_dataclasses_are_looked_into_and_one_may_hold_itself(device):
    class Answers(nn.Module):
        def forward(self, given):
            given.scores.mul_(0)
            answer = Answer(given.scores, [Answer(given.more / 0)])
            answer.more.append(answer)
            return answer

    one = torch.ones(2, device=device, requires_grad=True) * 1  # has a graph
    given = Answer(one, one)
    assert numerics.find_nonfinite(Answers(), given) == (
        "output of module '' (Answers) more[0].scores: 2 of 2 values are nan"
    )
    assert one.tolist() == [1.0, 1.0]
    given.more = torch.tensor([math.nan], device=device)
    assert numerics.find_nonfinite(Answers(), given) == "input 0.more: 1 of 1 values are nan"
    given.more = [given]
    assert numerics.find_nonfinite(nn.Identity(), given) is None

    @dataclasses.dataclass
    class Defaults:
        X: float = math.nan

    assert numerics.find_nonfinite(nn.Identity(), Defaults) is None  # a class is not a value
    assert "input 0.X: 1 of 1" in numerics.find_nonfinite(nn.Identity(), Defaults())

    class Makes(nn.Module):
        def forward(self, given):
            return Defaults()

    assert "(Makes) X: 1 of 1" in numerics.find_nonfinite(Makes(), 1.0)


def test_the_random_state_of_every_gpu_of_the_model_is_kept():
    class Spread(nn.Module):
        def parameters(self):
            return [
                SimpleNamespace(device=torch.device(name), requires_grad=False)
                for name in ("cuda:1", "cpu", "cuda:0")
            ]

        def forward(self):
            return None

    with mock.patch("torch.random.fork_rng") as fork:
        numerics._find_bad_outputs([], False, Spread(), (), {})
    fork.assert_called_once_with([0, 1])


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (
            [math.nan, math.inf, -math.inf, 1.0],
            "1 of 4 values are nan and 1 of 4 values are inf and 1 of 4 values are -inf",
        ),
        ([3e38, 3e38], None),
        ([math.inf, -math.inf], "1 of 2 values are inf and 1 of 2 values are -inf"),
        ([-math.inf, -math.inf], "2 of 2 values are -inf"),
        ([], None),
    ],
)
def test_what_is_wrong_with_a_tensor_is_counted(device, values, text):
    tensor = torch.tensor(values, device=device)
    assert numerics._problem(tensor) == numerics._problem(tensor, ("inf",)) == text
    if device == "cpu":
        assert numerics._problem(tensor.to_sparse()) == (
            text and text.replace(" 4 ", f" {len(values)} ")
        )


def test_what_torch_cannot_sum_or_has_no_values_yet_is_no_obstacle():
    for model in (nn.Linear(2, 2, device="meta"), nn.LazyLinear(2), nn.LazyBatchNorm1d()):
        assert numerics.find_nonfinite(model) is None
    rows = [torch.ones(2), torch.tensor([math.nan])]
    for tensor in (
        torch.diag(torch.tensor([1.0, math.nan])).to_sparse_csr(),
        torch.sparse_coo_tensor([[0, 0]], [3e38, 3e38], (2,)),  # their sum is inf
        torch.nested.nested_tensor(rows) if numerics._TORCH >= (2, 0) else rows[1],
    ):
        assert numerics._problem(tensor).startswith("1 of ")


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_float8_buffers_are_looked_at_and_restored(name):
    if not (dtype := getattr(torch, name, None)):
        pytest.skip(f"torch {torch.__version__} has no {name}")
    model = nn.Linear(2, 2)
    model.register_buffer("scale", torch.tensor([1.0, 2.0]).to(dtype))
    saved = numerics.Snapshot(model)
    model.scale.copy_(torch.tensor([math.nan, 1.0]))
    assert numerics.find_nonfinite(model) == "buffer 'scale': 1 of 2 values are nan"
    saved.restore()
    assert model.scale.float().tolist() == [1.0, 2.0]


def test_what_comes_first_in_a_step_is_named_first():
    model = nn.Sequential(nn.Linear(1, 1), Explodes(), nn.Linear(1, 1))
    model.register_buffer("mean", torch.tensor([math.nan]), persistent=False)
    for number in (0, 2):  # backward() reaches the last layer first
        model[number].weight.grad = torch.tensor([[math.nan]])
    model[0].weight.requires_grad = False
    model[0].bias.data.fill_(math.nan)
    x = torch.tensor([math.nan])
    for place, mend in (
        ("input 0", lambda: x.fill_(1.0)),
        ("parameter '0.bias'", lambda: model[0].bias.data.fill_(1.0)),
        ("buffer 'mean'", lambda: model.mean.fill_(1.0)),
        ("output of module '1' (Explodes)", lambda: setattr(model, "1", nn.Identity())),
        ("gradient of '2.weight'", lambda: model[2].weight.grad.fill_(1.0)),
        ("gradient of '0.weight'", lambda: None),
    ):
        assert numerics.find_nonfinite(model, x).startswith(f"{place}: 1 of 1 values are ")
        mend()


def test_errors_of_the_model_pass_through_the_search():
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        numerics.find_nonfinite(nn.Linear(2, 1), torch.ones(1, 3))


def test_an_interrupt_passes_through_the_search_whatever_has_been_found():
    class Interrupted(nn.Module):
        def forward(self, x):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        numerics.find_nonfinite(Interrupted(), torch.tensor([math.nan]))


def training(device, optimizer_class=torch.optim.Adam):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).to(device)
    model.register_buffer("cache", torch.ones(2, device=device), persistent=False)
    first, second = groups(model.parameters())
    return model, optimizer_class([first, {**second, "lr": 0.2}], lr=0.1)


def rates(optimizer):
    return [group["lr"] for group in optimizer.param_groups]


def step(model, optimizer, scale=1.0):
    optimizer.zero_grad()
    x = torch.arange(8.0).reshape(4, 2).to(next(model.parameters()).device)
    (model(x * scale) ** 2).sum().backward()
    optimizer.step()
    model.cache.mul_(2)


def contents(model, optimizer):
    moments = [
        value.clone()
        for state in optimizer.state.values()
        for value in state.values()
        if isinstance(value, torch.Tensor)
    ]
    return [value.detach().clone() for value in [*model.parameters(), *model.buffers()]] + moments


@given(st.integers(1, 3), st.sampled_from([1.0, math.nan, math.inf]), st.integers(1, 2))
def test_restoring_a_snapshot_brings_everything_back_any_number_of_times(
    device, steps, scale, times
):
    model, optimizer = training(device)
    for _ in range(steps):
        step(model, optimizer)
    saved = numerics.Snapshot(model, optimizer)
    before = contents(model, optimizer)
    step(model, optimizer)
    next_one = contents(model, optimizer)
    for _ in range(times):
        step(model, optimizer, scale)
        saved.restore()
        assert all(torch.equal(a, b) for a, b in zip(contents(model, optimizer), before))
    step(model, optimizer)  # training continues as before
    assert all(torch.equal(a, b) for a, b in zip(contents(model, optimizer), next_one))


@pytest.mark.parametrize(
    ("spoil", "text"),
    [
        (
            lambda m, o: m[0].weight.data.fill_(math.nan),
            "parameter '0.weight': 4 of 4 values are nan",
        ),
        (lambda m, o: m[0].bias.data.fill_(math.inf), "parameter '0.bias': 2 of 2 values are inf"),
        (
            lambda m, o: m[1].running_var.fill_(math.nan),
            "buffer '1.running_var': 2 of 2 values are nan",
        ),
        (
            lambda m, o: o.state[m[0].weight]["exp_avg"].fill_(math.nan),
            r"^no snapshot of a broken Adam: state\[0\]\['exp_avg'\]: 4 of 4 values are nan",
        ),
        (
            lambda m, o: o.state[m[0].weight]["exp_avg"].fill_(math.inf),
            r"^no snapshot of a broken Adam: state\[0\]\['exp_avg'\]: 4 of 4 values are inf",
        ),
    ],
)
def test_a_broken_state_is_no_snapshot(spoil, text):
    model, optimizer = training("cpu")
    step(model, optimizer)
    spoil(model, optimizer)
    with pytest.raises(ValueError, match=text):
        numerics.Snapshot(model, optimizer)


def test_a_buffer_may_hold_inf_in_a_snapshot():
    model = nn.Linear(1, 1)
    model.register_buffer("mask", torch.tensor([-math.inf, math.inf]))
    saved = numerics.Snapshot(model)
    model.mask.zero_()
    saved.restore()
    assert model.mask.tolist() == [-math.inf, math.inf]


@pytest.mark.parametrize(("options", "safe"), [({}, 1.0), ({"safe": 4.0}, 4.0)])
def test_where_the_mask_is_false_the_function_sees_the_safe_value(options, safe):
    seen, mask, x = [], torch.tensor([True, False]), torch.tensor([3.0, 5.0])
    numerics.apply_where(mask, lambda x: seen.append(x.tolist()) or x, x, **options)
    assert seen == [[3.0, safe]]


class Masters(torch.optim.Optimizer):
    """Keeps float32 copies of bfloat16 weights, which torch's load_state_dict() would cast."""

    def __init__(self, parameters):
        super().__init__(parameters, {})

    def step(self):
        for group in self.param_groups:
            for parameter in group["params"]:
                state = self.state[parameter]
                state.setdefault("master", [parameter.detach().float().clone()])[0].sub_(1e-3)
                parameter.data.copy_(state["master"][0])


@pytest.mark.parametrize(
    "make",
    [Masters, torch.optim.NAdam, torch.optim.ASGD, torch.optim.Adam],
    ids=lambda make: make.__name__,
)
def test_moments_keep_their_own_precision(device, make):
    model = nn.Linear(1, 1).to(device, torch.bfloat16)
    optimizer = make(groups(model.parameters()))

    def state():
        values = [value for _, value in numerics._leaves(list(optimizer.state.values()))]
        return [(str(getattr(v, "dtype", "")), torch.as_tensor(v).tolist()) for v in values]

    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    saved, before = numerics.Snapshot(model, optimizer), state()
    optimizer.step()
    assert state() != before
    saved.restore()
    assert state() == before


def test_the_options_of_every_group_come_back():
    model, optimizer = training("cpu", torch.optim.AdamW)
    saved, before = numerics.Snapshot(optimizer), copy.deepcopy(optimizer.state_dict())
    for group in optimizer.param_groups:
        group["weight_decay"], group["betas"], group["eps"] = 7.0, (0.5, 0.5), 1.0
    assert len(optimizer.param_groups) == 2
    saved.restore()
    assert optimizer.state_dict()["param_groups"] == before["param_groups"]


def test_the_learning_rate_comes_back_with_its_scheduler():
    model, optimizer = training("cpu", torch.optim.SGD)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 8)

    def following(count=3):
        found = []
        for _ in range(count):
            optimizer.step()
            scheduler.step()
            found.append(rates(optimizer))
        return found

    following(1)
    saved = numerics.Snapshot(model, optimizer, scheduler)
    first = following()
    saved.restore()
    assert following() == first


def test_an_average_and_a_scaler_come_back_too(device):
    if not hasattr(torch.amp, "GradScaler"):
        pytest.skip(f"torch {torch.__version__} has no GradScaler for {device}")
    model, optimizer = training(device)
    average = torch.optim.swa_utils.AveragedModel(model)
    scaler = torch.amp.GradScaler(device, init_scale=8.0)
    average.update_parameters(model)
    scaler.scale(torch.ones(1, device=device))
    saved = numerics.Snapshot(model, optimizer, average, scaler)
    before = [value.clone() for value in average.state_dict().values()]
    step(model, optimizer)
    average.update_parameters(model)
    scaler.update(4.0)
    saved.restore()
    assert all(map(torch.equal, average.state_dict().values(), before))
    assert scaler.get_scale() == 8.0


def test_gradients_of_a_later_step_are_gone_after_a_restore():
    model, (other,) = nn.Linear(1, 1), with_gradients([[1.0]], "cpu")
    optimizer = torch.optim.SGD(groups([other]), lr=0.1)  # for a part outside the model
    saved = numerics.Snapshot(model, optimizer)
    (model(torch.ones(1, 1)) * math.nan).sum().backward()
    model.requires_grad_(False)
    saved.restore()
    assert [p.grad for p in (*model.parameters(), other)] == [None, None, None]


def test_buffers_that_changed_their_shape_or_came_or_went_are_put_back(device):
    model, one = nn.Linear(1, 1), torch.ones(1, device=device)
    for persistent in (True, False):
        model.register_buffer(f"none{persistent}", None, persistent)
        model.register_buffer(f"grows{persistent}", one.clone(), persistent)
        model.register_buffer(f"goes{persistent}", one.clone(), persistent)
    model.register_buffer("stays", one.clone())
    saved, stays = numerics.Snapshot(model), model.stays
    for _ in range(2):
        for persistent in (True, False):
            setattr(model, f"none{persistent}", one)
            setattr(model, f"grows{persistent}", torch.zeros(2, device=device))
            setattr(model, f"goes{persistent}", None)
        model.register_buffer("comes", one)
        del model.goesTrue
        model.stays.zero_()
        saved.restore()
        for name, buffer in model._buffers.items():
            assert buffer is None if name.startswith("none") else torch.equal(buffer, one), name
        assert "comes" not in model._buffers
        assert model.stays is stays  # other code may refer to it
        model.growsFalse.zero_()  # the restored buffer is not a reference to the snapshot


@pytest.mark.parametrize("persistent", [True, False])
def test_a_buffer_that_was_transposed_is_put_back(device, persistent):
    model, table = nn.Linear(1, 1), torch.arange(6.0, device=device).view(2, 3)
    model.register_buffer("table", table.clone(), persistent)
    saved = numerics.Snapshot(model)
    model.table = table.t().contiguous()  # as many elements
    saved.restore()
    assert torch.equal(model.table, table)


def test_the_number_of_batches_stays_the_same_tensor(device):
    model = nn.BatchNorm1d(1).to(device)
    saved, count = numerics.Snapshot(model), model.num_batches_tracked
    model(torch.ones(2, 1, device=device))
    assert count.item() == 1
    saved.restore()
    assert model.num_batches_tracked is count
    assert count.item() == 0


def test_copies_are_kept_where_they_were_asked_to_be(device):
    model, optimizer = training(device)
    step(model, optimizer)
    saved, before = numerics.Snapshot(model, device="meta"), contents(model, optimizer)
    assert {leaf.device.type for _, leaf in numerics._leaves(saved._kept[0][2])} == {"meta"}
    saved = numerics.Snapshot(model, optimizer, device="cpu")
    assert {leaf.device.type for _, leaf in numerics._leaves(saved._kept[0][2])} == {"cpu"}
    step(model, optimizer)
    saved.restore()
    for now, then in zip(contents(model, optimizer), before):
        assert now.device == then.device
        assert torch.equal(now, then)


def test_what_is_restored_from_elsewhere_goes_home():
    class Part:
        state = {"shadow": [torch.ones(2)], "steps": 3}

        def state_dict(self):
            return self.state

        def load_state_dict(self, state):
            self.state = state

    part = Part()
    saved = numerics.Snapshot(part, device="meta")  # represents a device other than the CPU
    assert saved._kept[0][2][0]["shadow"][0].device.type == "meta"
    with mock.patch.object(torch.Tensor, "to", side_effect=lambda *_, **__: torch.zeros(2)) as to:
        saved.restore()
    assert to.mock_calls[0] == mock.call("meta", copy=True)  # the current values
    assert to.mock_calls[1:] == [mock.call(torch.device("cpu"), copy=True)]
    assert part.state["steps"] == 3
    assert "_home" not in vars(part.state["shadow"][0])


def test_a_part_that_keeps_references_cannot_spoil_the_snapshot():
    class Part:
        def __init__(self):
            self.state = {"state": [torch.ones(2)]}

        def state_dict(self):
            return self.state

        def load_state_dict(self, state):
            self.state = state

    part = Part()
    saved = numerics.Snapshot(part)
    for _ in range(2):
        part.state["state"][0].zero_()
        part.state["state"].append(torch.zeros(1))
        saved.restore()
        assert [value.tolist() for value in part.state["state"]] == [[1.0, 1.0]]


def test_an_optimizer_may_lay_out_its_state_as_it_likes():
    class Scaled(torch.optim.SGD):  # like the state_dict() of apex
        def state_dict(self):
            return {"inner": super().state_dict()}

        def load_state_dict(self, state):
            super().load_state_dict(state["inner"])

    model, optimizer = training("cpu", Scaled)
    saved = numerics.Snapshot(optimizer)
    for group in optimizer.param_groups:
        group["lr"] = 7.0
    saved.restore()
    assert rates(optimizer) == [0.1, 0.2]


def test_everything_comes_back_or_nothing_whatever_raises(device):
    class Part:
        def state_dict(self):
            return {}

        def load_state_dict(self, state):
            raise self.errors.pop(0)

    for error in (KeyError("gone"), KeyboardInterrupt()):
        model, optimizer = training(device)
        step(model, optimizer)
        Part.errors = [error, RuntimeError("of going back")]
        saved = numerics.Snapshot(model, optimizer, Part())
        step(model, optimizer)
        optimizer.param_groups[1]["lr"] = 7.0
        model.cache = None
        before, gradient = contents(model, optimizer), model[0].weight.grad
        with pytest.raises(type(error)):
            saved.restore()
        assert not Part.errors
        assert all(map(torch.equal, contents(model, optimizer), before))
        assert model.cache is None
        assert rates(optimizer) == [0.1, 7.0]
        assert model[0].weight.grad is gradient


def test_a_model_with_a_new_layer_is_left_as_it_is(device):
    model, optimizer = training(device)
    step(model, optimizer)
    saved = numerics.Snapshot(optimizer, model)
    step(model, optimizer)
    model.append(nn.Linear(2, 1).to(device))
    before = contents(model, optimizer)
    with pytest.raises(RuntimeError, match=r'Missing key\(s\) in state_dict: "2.weight"'):
        saved.restore()
    assert all(map(torch.equal, contents(model, optimizer), before))
    del model[2]
    saved.restore()
    assert not torch.equal(model[0].weight, before[0])


def test_a_part_that_cannot_go_back_keeps_no_other_part_from_it():
    class Once:
        loaded = 0

        def state_dict(self):
            return {}

        def load_state_dict(self, state):
            self.loaded += 1
            if self.loaded > 1:
                raise KeyError("of going back")

    model = nn.Sequential(nn.Linear(1, 1))
    saved = numerics.Snapshot(Once(), model)
    nn.init.constant_(model[0].weight, 7.0)
    model.append(nn.Linear(1, 1))
    with pytest.raises(RuntimeError, match="Missing key"):
        saved.restore()
    assert model[0].weight.item() == 7.0


def expanding(device, rows=1000):
    """A model with two expanded buffers, only one of which is in the state_dict."""
    model = nn.Linear(1, 1).to(device)
    for persistent in (True, False):
        buffer = torch.ones(1, 2, device=device).expand(rows, 2)
        model.register_buffer(f"wide{persistent}", buffer, persistent)
    return model


def test_expanded_buffers_come_back_as_small_as_they_were(device):
    model = expanding(device)
    saved = numerics.Snapshot(model)
    kept = [leaf for _, leaf in numerics._leaves(saved._kept[0][2]) if leaf.dim() == 2]
    assert {leaf.stride() for leaf in kept if len(leaf) == 1000} == {(0, 1)}
    for change in (torch.Tensor.detach, torch.zeros_like, torch.Tensor.contiguous):
        model.weight.data.fill_(math.nan)
        for name in ("wideTrue", "wideFalse"):
            setattr(model, name, change(getattr(model, name)))
        saved.restore()
        assert numerics.find_nonfinite(model) is None
        for buffer in (model.wideTrue, model.wideFalse):
            assert torch.equal(buffer, torch.ones(1000, 2, device=device))
            assert buffer.stride() == ((0, 1) if change is torch.Tensor.detach else (2, 1))


def test_buffers_that_are_expanded_to_two_rows_come_back(device):
    model = expanding(device, rows=2)
    saved = numerics.Snapshot(model)
    model.wideTrue = torch.zeros(2, 2, device=device)
    saved.restore()
    assert model.wideTrue.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_a_buffer_made_under_inference_mode_comes_back(device):
    model = nn.Linear(1, 1).to(device)
    with torch.inference_mode():
        for persistent in (True, False):
            model.register_buffer(f"c{persistent}", torch.ones(2, device=device), persistent)
    saved = numerics.Snapshot(model)
    with torch.inference_mode():
        model.cTrue.zero_()
        model.cFalse.zero_()
    saved.restore()
    assert model.cTrue.tolist() == model.cFalse.tolist() == [1.0, 1.0]


def test_a_sparse_buffer_one_with_a_graph_and_one_of_no_stride_come_back():
    model = nn.Linear(1, 1)
    model.register_buffer("sparse", torch.eye(2).to_sparse())
    model.register_buffer("hidden", torch.ones(1, requires_grad=True) * 2)
    model.register_buffer("single", torch.tensor(3.0).expand(1))
    saved, single = numerics.Snapshot(model), model.single
    model.sparse = model.hidden = None
    for _ in range(2):
        saved.restore()
        assert model.sparse.to_dense().tolist() == [[1.0, 0.0], [0.0, 1.0]]
        assert (model.hidden.tolist(), model.hidden.is_leaf) == ([2.0], True)
        assert model.single is single


def test_the_tensors_of_an_optimizer_stay_the_same_objects(device):
    if numerics._TORCH < (2, 1):
        pytest.skip(f"torch {torch.__version__} wants capturable where lr is a tensor")
    model, _ = training(device)
    first, second = groups(model.parameters())
    lr = torch.tensor(0.1, device=device)
    both = [{**first, "lr": lr}, {**second, "lr": lr}]
    optimizer = torch.optim.Adam(both, foreach=False, capturable=device != "cpu")
    step(model, optimizer)
    saved = numerics.Snapshot(model, optimizer)
    moment = optimizer.state[model[1].bias]["exp_avg"]
    kept = moment.clone()
    step(model, optimizer)
    lr.fill_(7.0)
    saved.restore()
    assert all(rate is lr for rate in rates(optimizer))
    assert lr.item() == pytest.approx(0.1)
    assert optimizer.state[model[1].bias]["exp_avg"] is moment
    assert torch.equal(moment, kept)
    optimizer.param_groups[0]["lr"] = 7.0
    saved.restore()
    assert [float(rate) for rate in rates(optimizer)] == pytest.approx([0.1, 0.1])


@pytest.mark.parametrize("lost", ["lr", "state", "moment"])
def test_an_optimizer_gets_back_what_it_has_no_more(device, lost):
    model, optimizer = training(device)
    step(model, optimizer)
    saved, before = numerics.Snapshot(optimizer), copy.deepcopy(optimizer.state_dict())
    if lost == "lr":
        del optimizer.param_groups[0]["lr"]
    elif lost == "state":
        optimizer.state.clear()
    else:
        del optimizer.state[model[0].weight]["exp_avg"]
    saved.restore()
    assert optimizer.state_dict()["param_groups"] == before["param_groups"]
    assert_state_equal(optimizer.state_dict()["state"], before["state"])


def test_the_learning_rate_itself_comes_back():
    model, optimizer = training("cpu")
    saved = numerics.Snapshot(model, optimizer)
    for group in optimizer.param_groups:
        group["lr"] = 7.0
    saved.restore()
    assert rates(optimizer) == [0.1, 0.2]


def test_numbers_of_a_state_may_be_inf_and_not_nan():
    model, optimizer = training("cpu")
    step(model, optimizer)
    optimizer.state[model[0].weight]["best_loss"] = math.inf
    for mode in ("min", "max"):  # the best value so far is inf, then -inf
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode)
        numerics.Snapshot(model, optimizer, scheduler)
    optimizer.param_groups[1]["lr"] = math.nan
    with pytest.raises(
        ValueError, match=r"^no snapshot of a broken Adam: param_groups\[1\]\['lr'\]: 1 of 1"
    ):
        numerics.Snapshot(model, optimizer)


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ((), "a snapshot of nothing"),
        ((nn.Linear(1, 1), None), "a snapshot of Linear, NoneType"),
        ((SimpleNamespace(state_dict=dict),), "a snapshot of SimpleNamespace"),
    ],
)
def test_a_snapshot_of_what_has_no_state_is_refused(parts, text):
    with pytest.raises(TypeError, match=f"^{text}: expected parts that have load_state_dict"):
        numerics.Snapshot(*parts)


def test_a_snapshot_of_a_model_without_values_is_refused():
    text = "^no snapshot of a broken Linear: parameter 'weight': on the meta device$"
    with pytest.raises(ValueError, match=text):
        numerics.Snapshot(nn.Linear(2, 2, device="meta"))


@given(
    st.lists(
        st.one_of(st.floats(0.015625, 100, width=32), st.sampled_from([0.0, -1.0, -5.0])),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from([torch.sqrt, torch.log, torch.reciprocal, torch.rsqrt]),
)
@example([0.0], torch.sqrt)
def test_apply_where_is_right_inside_and_finite_everywhere(device, values, function):
    x = torch.tensor(values, device=device, requires_grad=True)
    mask = x > 0
    result = numerics.apply_where(mask, function, x, otherwise=7.0)
    result.sum().backward()
    inside = x.detach()[mask].requires_grad_()
    function(inside).sum().backward()
    torch.testing.assert_close(result[mask], function(inside))
    torch.testing.assert_close(x.grad[mask], inside.grad)
    assert (result[~mask] == 7.0).all()
    assert (x.grad[~mask] == 0.0).all()


def test_apply_where_takes_several_inputs_and_wants_a_bool_mask(device):
    p, t = torch.tensor([0.0, 2.0], device=device), torch.tensor([0.0, 1.0], device=device)
    smape = numerics.apply_where(
        (p != 0) | (t != 0), lambda p, t: 2 * (p - t).abs() / (p.abs() + t.abs()), p, t
    )
    assert smape.tolist() == pytest.approx([0.0, 2 / 3])
    for function, order in ((torch.div, 1), (lambda x, y: y / x, -1)):
        total = t.clone().requires_grad_()
        numerics.apply_where(t > 0, function, *(p, total)[::order]).sum().backward()
        assert total.grad.tolist() == [0.0, -2.0]
    with pytest.raises(TypeError, match=r"torch\.float32"):
        numerics.apply_where(p, torch.sqrt, p)
    with pytest.raises(TypeError, match=r"torch\.uint8"):  # torch.where() accepts it
        numerics.apply_where((p > 0).byte(), torch.sqrt, p)


def test_integers_stay_integers(device):
    x = torch.tensor([2, 4], device=device)
    assert numerics.apply_where(x > 2, torch.clone, x).dtype == torch.int64


def test_a_mask_is_broadcast_with_the_inputs(device):
    mask = torch.tensor([[True], [False]], device=device)
    roots = numerics.apply_where(mask, torch.sqrt, torch.tensor([4.0, 9.0], device=device))
    assert roots.tolist() == [[2.0, 3.0], [0.0, 0.0]]


def test_a_run_that_would_explode_stays_finite(device):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 16), nn.GELU(), nn.Linear(16, 1)).to(device)
    x, y = torch.randn(32, 4).to(device) * 1000, torch.randn(32, 1).to(device)
    optimizer = torch.optim.SGD(groups(model.parameters()), lr=1e-3)
    for number in range(30):
        optimizer.zero_grad()
        (model(x * (math.inf if number == 10 else 1.0)) - y).square().mean().backward()
        assert bool(numerics.clip_or_skip(optimizer, 1.0).skipped) is (number == 10)
    assert numerics.find_nonfinite(model, x) is None
