import copy
import gc
import inspect
import io
import pickle
import warnings
import weakref
from unittest import mock

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from reference_fixes import modules


def backbone():
    return nn.Sequential(
        nn.Conv1d(2, 3, 1), nn.BatchNorm1d(3), nn.Sequential(nn.Dropout(), nn.InstanceNorm1d(3))
    )


def batch(device="cpu"):
    return torch.arange(24.0, device=device).view(3, 2, 4)


def modes(model):
    return [part.training for part in model.modules()]


def flags(model):
    return [parameter.requires_grad for parameter in model.parameters()]


def all_frozen(model):
    return not any(modes(model)) and not any(flags(model))


def test_running_statistics_stay_through_training_86590(device):
    norm = nn.BatchNorm1d(2).to(device)
    model = nn.Sequential(norm, nn.Linear(4, 1)).to(device)
    expected = copy.deepcopy(norm).eval()(batch(device))
    modules.freeze(norm)
    for _ in range(3):
        model.train()
        model(batch(device)).sum().backward()
    torch.testing.assert_close(norm(batch(device)), expected)
    assert norm.num_batches_tracked == 0
    assert model[1].weight.grad is not None
    assert model[1].training


@pytest.mark.parametrize(
    "norm",
    [
        nn.BatchNorm1d(2),
        nn.InstanceNorm1d(2, track_running_stats=True),
        nn.LayerNorm(4),
        nn.Dropout(),
        nn.RReLU(),
    ],
    ids=lambda norm: type(norm).__name__,
)
def test_a_frozen_layer_gives_what_it_gives_in_eval_mode(norm):
    expected = copy.deepcopy(norm).eval()(batch())
    modules.freeze(norm)
    for _ in range(2):
        torch.testing.assert_close(norm.train()(batch()), expected, rtol=0, atol=0)


@given(
    before=st.lists(st.booleans(), min_size=5, max_size=5),
    trainable=st.lists(st.booleans(), min_size=4, max_size=4),
    calls=st.lists(st.booleans(), max_size=3),
    times=st.integers(1, 2),
)
def test_unfreeze_restores_every_mode_and_flag_whatever_was_called_in_between(
    before, trainable, calls, times
):
    model = backbone()
    for part, mode in zip(model.modules(), before):
        part.training = mode
    for parameter, flag in zip(model.parameters(), trainable):
        parameter.requires_grad = flag
    modes_before, classes = modes(model), [type(part) for part in model.modules()]
    entries = [set(vars(part)) for part in model.modules()]
    for _ in range(times):
        modules.freeze(model)
    for mode in calls:
        assert model.train(mode) is model
        assert all_frozen(model)
    modules.unfreeze(model)
    assert modes(model) == modes_before
    assert flags(model) == trainable[: len(flags(model))]
    assert [type(part) for part in model.modules()] == classes
    assert [set(vars(part)) for part in model.modules()] == entries


@given(first=st.sampled_from([0, 1, 2]), whole=st.booleans())
def test_what_was_frozen_before_is_remembered_as_it_was_before_the_first_time(first, whole):
    model = backbone()
    modules.freeze(model[first])
    modules.freeze(model)
    assert all_frozen(model.train())
    modules.unfreeze(model if whole else model[first])
    assert all(modes(model[first]))
    assert all(flags(model[first]))
    assert model.training == whole


def test_each_submodule_stays_in_eval_mode_when_it_is_asked_itself():
    model = backbone()
    modules.freeze(model)
    model.apply(lambda part: part.train())
    for part in model.modules():
        part.train()
    assert all_frozen(model)
    with pytest.raises(ValueError, match="training mode is expected to be boolean"):
        model.train("yes")


def test_the_attributes_are_still_set_by_whoever_sets_them():
    layer = nn.Linear(2, 2)
    modules.freeze(layer)
    layer.training = layer.weight.requires_grad = True
    assert layer.training
    assert layer.weight.requires_grad
    assert not layer.train().training


def test_an_optimizer_with_momentum_and_weight_decay_leaves_a_frozen_parameter_alone():
    layer = nn.Linear(2, 2)
    both = [{"params": [layer.weight]}, {"params": [layer.bias], "lr": 0.2}]
    optimizer = torch.optim.SGD(both, lr=0.1, momentum=0.9, weight_decay=0.1)
    layer(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    layer.bias.requires_grad = False  # although it has a gradient
    modules.freeze(layer)
    before = layer.weight.clone(), layer.bias.clone()
    optimizer.zero_grad(set_to_none=False)
    optimizer.step()
    assert all(map(torch.equal, (layer.weight, layer.bias), before))


def test_a_parameter_that_another_part_shares_is_frozen_and_comes_back():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 2))
    model[2].weight = model[0].weight
    modules.freeze(model[0])
    assert not model[2].weight.requires_grad
    modules.freeze(model)
    modules.unfreeze(model)
    assert flags(model) == [True] * 5


def test_a_layer_that_the_model_has_twice_is_frozen_and_comes_back():
    model = nn.Sequential(*[nn.Linear(2, 2)] * 2)
    modules.freeze(model)
    assert all_frozen(model.train())
    modules.unfreeze(model)
    assert all(modes(model))
    assert all(flags(model))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_shared_parameter_trains_again_in_whichever_order_the_parts_are_unfrozen(order):
    parts = [nn.Linear(2, 2), nn.Linear(2, 2)]
    parts[1].weight = parts[0].weight
    for part in parts:
        modules.freeze(part)
    for number in order:
        modules.unfreeze(parts[number])
    assert parts[0].weight.requires_grad


@pytest.mark.parametrize("number", [0, 1])
def test_a_parameter_that_two_parts_share_trains_again_with_either(number):
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    model[1].weight = model[0].weight
    modules.freeze(model)
    modules.unfreeze(model[number])
    assert model[0].weight.requires_grad


def test_parameters_of_every_shape_and_kind_train_again():
    model = nn.Module()
    model.temperature = nn.Parameter(torch.ones(()))
    model.phase = nn.Parameter(torch.ones(2, dtype=torch.cfloat))
    model.nothing = nn.Parameter(torch.ones(0))
    modules.freeze(model)
    assert flags(model) == [False] * 3
    modules.unfreeze(model)
    assert flags(model) == [True] * 3


def test_batch_norm_that_was_converted_to_sync_batch_norm_before_stays_frozen():
    model = nn.SyncBatchNorm.convert_sync_batchnorm(backbone())
    modules.freeze(model)
    assert isinstance(model.train()[1], nn.SyncBatchNorm)
    assert all_frozen(model)


def test_what_takes_a_frozen_layer_s_place_is_not_frozen():
    model = backbone()
    modules.freeze(model)
    assert nn.SyncBatchNorm.convert_sync_batchnorm(model).train()[1].training
    layer = nn.Linear(2, 2)
    modules.freeze(layer)
    nn.utils.weight_norm(layer)
    assert layer.weight_g.requires_grad


def test_train_of_a_scripted_copy_thaws_it():
    layer = nn.Sequential(nn.Dropout())
    modules.freeze(layer)
    assert torch.jit.script(layer).train().training
    assert not layer.train().training


def test_a_parametrization_that_was_there_before_is_frozen_and_removed_after_unfreeze():
    layer = nn.Linear(2, 2)
    nn.utils.parametrize.register_parametrization(layer, "weight", nn.Identity())
    modules.freeze(layer)
    assert all_frozen(layer.train())
    with pytest.raises(AttributeError):
        nn.utils.parametrize.remove_parametrizations(layer, "weight")
    modules.unfreeze(layer)
    nn.utils.parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear
    assert layer.weight.requires_grad


def test_a_class_that_takes_no_subclass_is_refused_before_anything_changes():
    class Closed(nn.Module):
        def __init_subclass__(cls):
            raise TypeError("no subclass")

    model = nn.Sequential(nn.Linear(2, 2), Closed())
    with pytest.raises(TypeError, match="no subclass"):
        modules.freeze(model)
    assert all(modes(model))
    assert all(flags(model))
    with pytest.raises(ValueError, match="nothing in this Sequential"):
        modules.unfreeze(model)


def test_a_layer_that_was_put_in_is_frozen_by_the_next_freeze():
    model = backbone()
    modules.freeze(model)
    model[1] = nn.Linear(2, 2)
    modules.freeze(model)
    assert all_frozen(model.train())


def test_what_follows_a_parameter_that_is_none_is_frozen_too():
    attention = nn.MultiheadAttention(2, 1)
    assert [name for name, each in attention._parameters.items() if each is None]
    modules.freeze(attention)
    assert all_frozen(attention)


def test_a_new_head_is_trained_and_follows_train_alone():
    model = backbone()
    modules.freeze(model)
    model.head = nn.Dropout()
    model[2][0] = nn.Dropout()
    model.head.eval()
    model.train()
    assert [model.head.training, model[2][0].training, model[2].training] == [True, True, False]
    model.head.eval()
    modules.unfreeze(model)
    assert [model.head.training, model[2][0].training, model[2].training] == [False, True, True]


def test_a_parameter_that_was_replaced_or_removed_does_not_stand_in_the_way():
    layer = nn.Linear(2, 2)
    modules.freeze(layer)
    layer.weight, layer.bias = nn.Parameter(torch.ones(2, 2)), None
    modules.unfreeze(layer)
    assert layer.weight.requires_grad
    modules.freeze(layer)
    del layer.weight
    modules.unfreeze(layer)
    layer.weight = nn.Parameter(torch.ones(2, 2))
    modules.freeze(layer)
    del layer.weight
    layer.weight = "of the other layer"
    modules.unfreeze(layer)
    modules.freeze(layer)


def test_state_dict_print_and_hooks_are_as_before():
    model, seen = backbone(), []
    before = str(model), list(model.state_dict()), [name for name, _ in model.named_modules()]
    handle = model.register_forward_hook(lambda *given: seen.append(given))
    modules.freeze(model)
    assert before == (
        str(model),
        list(model.state_dict()),
        [name for name, _ in model.named_modules()],
    )
    assert isinstance(model[0], nn.Conv1d)
    model(batch())
    assert len(seen) == 1
    handle.remove()
    other = backbone()
    other.load_state_dict(model.state_dict())


def test_the_class_of_a_frozen_layer_looks_like_its_own():
    class Inner(nn.Linear):
        """Doc."""

    layer = Inner(2, 2)
    modules.freeze(layer)
    found = type(layer)
    assert (found.__module__, found.__qualname__, found.__doc__) == (
        Inner.__module__,
        Inner.__qualname__,
        "Doc.",
    )
    assert inspect.signature(found) == inspect.signature(nn.Linear)


def saved(model):
    file = io.BytesIO()
    torch.save(model, file)
    file.seek(0)
    new = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 0)
    return torch.load(file, weights_only=False) if new else torch.load(file)


@pytest.mark.parametrize(
    "copied",
    [
        copy.deepcopy,
        copy.copy,
        saved,
        *(lambda model, n=n: pickle.loads(pickle.dumps(model, n)) for n in range(6)),
    ],
)
def test_a_copy_or_a_pickle_is_frozen_too_and_can_be_unfrozen(copied):
    model = backbone()
    model[1].eval()
    modules.freeze(model)
    expected = model(batch())
    other = copied(model)
    assert all_frozen(other.train())
    assert torch.equal(other(batch()), expected)
    assert [type(part) for part in other.modules()] == [type(part) for part in model.modules()]
    modules.unfreeze(other)
    assert modes(other) == [True, True, False, True, True, True]
    assert all(flags(other))
    if copied is not copy.copy:  # a shallow copy shares its submodules
        assert all_frozen(model)


def test_a_replica_of_data_parallel_is_frozen():
    model = backbone()
    modules.freeze(model)
    replica = model[1]._replicate_for_data_parallel()
    assert not replica.train().training
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert all_frozen(nn.DataParallel(model).train().module)


def test_a_traced_and_a_scripted_copy_answer_as_the_frozen_module_does():
    model = backbone()
    modules.freeze(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for made in (torch.jit.script(model), torch.jit.trace(model, batch())):
            assert torch.equal(made(batch()), model(batch()))


@pytest.fixture
def dynamo():
    try:
        torch.compile(nn.Identity(), backend="eager")
    except AttributeError:
        pytest.skip("torch.compile came in 2.0")
    except RuntimeError as error:  # torch 2.0 cannot compile on Python 3.11
        if "supported" not in str(error):
            raise
        pytest.skip(str(error))
    return torch._dynamo


def test_what_torch_compile_returns_is_frozen_and_unfrozen(dynamo):
    dynamo.reset()
    model = nn.BatchNorm1d(2)
    compiled = torch.compile(model, backend="eager")
    modules.freeze(compiled)
    for _ in range(2):
        compiled.train()
        compiled(batch())
    assert not model.running_mean.any()
    modules.unfreeze(compiled)
    compiled.train()
    compiled(batch())
    assert model.running_mean.any()


def test_a_frozen_part_of_a_compiled_model_stays_as_it_is(dynamo):
    dynamo.reset()
    model = nn.Sequential(nn.BatchNorm1d(2), nn.Linear(4, 1))
    modules.freeze(model[0])
    compiled = torch.compile(model, backend="eager")
    for _ in range(2):
        compiled.train()
        compiled(batch()).sum().backward()
    assert not model[0].running_mean.any()
    assert model[1].weight.grad is not None


class Merging(nn.Module):
    """Like LoRA layers, whose train() changes more than the flag."""

    def __init__(self):
        super().__init__()
        self.merged, self.calls = False, 0

    def train(self, mode=True):
        self.merged = not mode
        self.calls += 1
        return super().train(mode)


def test_train_of_the_module_itself_is_called_where_the_mode_changes():
    layer = Merging()
    modules.freeze(layer)
    layer.train()
    assert layer.merged
    assert layer.calls == 1
    modules.unfreeze(layer)
    assert not layer.merged
    assert layer.calls == 2
    layer.eval()
    modules.freeze(layer)
    modules.unfreeze(layer)
    assert layer.merged
    assert layer.calls == 4


def test_train_of_a_part_is_called_where_the_whole_keeps_its_mode():
    model = nn.Sequential(Merging())
    modules.freeze(model[0])
    modules.unfreeze(model)
    assert not model[0].merged


def test_a_frozen_model_is_released_as_soon_as_nobody_holds_it():
    model = backbone()
    modules.freeze(model)
    there = weakref.ref(model)
    gc.disable()
    try:
        del model
        assert there() is None
    finally:
        gc.enable()


def test_two_modules_of_a_class_have_one_frozen_class():
    layers = [nn.Linear(2, 2), nn.Linear(2, 2)]
    for layer in layers:
        modules.freeze(layer)
    assert type(layers[0]) is type(layers[1])


def test_wrong_use_is_refused_with_its_name_and_changes_nothing():
    for function in (modules.freeze, modules.unfreeze):
        with pytest.raises(TypeError, match=r"expected a torch\.nn\.Module, got list"):
            function([nn.Linear(2, 2)])
        with pytest.raises(TypeError, match=r"expected a torch\.nn\.Module, got type"):
            function(nn.Linear)
    model = nn.Sequential(nn.Linear(2, 2))
    with pytest.raises(ValueError, match="nothing in this Sequential is frozen"):
        modules.unfreeze(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.append(nn.LazyLinear(2))
        with pytest.raises(ValueError, match=r"1 \(LazyLinear\) has no parameters yet"):
            modules.freeze(model)
        model[1] = torch.jit.script(nn.Linear(2, 2))
        with pytest.raises(TypeError, match=r"1 \(RecursiveScriptModule\) is scripted"):
            modules.freeze(model)
        with pytest.raises(TypeError, match=r"the module \(RecursiveScriptModule\) is scripted"):
            modules.freeze(model[1])
    assert all(modes(model))
    assert all(flags(model))


def test_a_lazy_layer_that_has_seen_a_batch_is_frozen():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        layer = nn.LazyLinear(2)
    layer(torch.ones(1, 3))
    modules.freeze(layer)
    assert all_frozen(layer.train())


class LazyScale(nn.modules.lazy.LazyModuleMixin, nn.Module):
    """A lazy layer that keeps its class."""

    def __init__(self):
        super().__init__()
        self.scale = nn.UninitializedParameter()

    def initialize_parameters(self, x):
        self.scale.materialize(x.shape[-1:])

    def forward(self, x):
        return x * self.scale


def test_a_lazy_layer_that_keeps_its_class_is_frozen_after_its_first_batch():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = nn.Sequential(LazyScale(), LazyScale())
    layer = model[0]
    with pytest.raises(ValueError, match=r"^0 \(LazyScale\) has no parameters yet"):
        modules.freeze(model)
    layer(torch.ones(1, 3))
    with pytest.raises(ValueError, match=r"^1 \(LazyScale\) has no parameters yet"):
        modules.freeze(model)
    modules.freeze(layer)
    assert all_frozen(layer.train())


def test_a_parameter_that_is_hidden_since_is_not_unfrozen():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    modules.freeze(model)
    for parametrization in (nn.Identity(), nn.Linear(2, 2)):  # without and with parameters
        nn.utils.parametrize.register_parametrization(model[1], "weight", parametrization)
        with pytest.raises(
            TypeError,
            match=r"^weight of 1 \(Para.*\) is no parameter any more: undo first what was done to it "
            r"after freeze\(\)$",
        ):
            modules.unfreeze(model)
        assert not model[1].train().training
        assert not model[0].weight.requires_grad
        nn.utils.parametrize.remove_parametrizations(model[1], "weight")
    modules.unfreeze(model)
    assert all(modes(model))
    assert all(flags(model))


def test_what_hides_no_frozen_parameter_does_not_stand_in_the_way():
    layer = nn.Linear(2, 2)
    modules.freeze(layer)
    nn.utils.weight_norm(layer)
    nn.utils.parametrize.register_parametrization(layer, "weight_g", nn.Identity())
    modules.unfreeze(layer)
    assert all(flags(layer))
    assert all(modes(layer.train()))


def test_a_layer_made_of_the_type_of_a_frozen_one_is_not_frozen():
    model = nn.Sequential(nn.BatchNorm1d(2), nn.Linear(4, 3))
    modules.freeze(model)
    model[1] = type(model[1])(4, out_features=1)
    model.train()
    assert modes(model) == [False, False, True]
    assert flags(model) == [False, False, True, True]
    model.eval()
    assert not model[1].training
    with pytest.raises(ValueError, match="nothing in this Linear is frozen"):
        modules.unfreeze(model[1])
    with pytest.raises(ValueError, match="training mode is expected to be boolean"):
        model[1].train("yes")
    assert type(model[1]) is nn.Linear
    modules.freeze(model[1])
    assert all_frozen(model.train())
    modules.unfreeze(model)
    assert [type(part) for part in model] == [nn.BatchNorm1d, nn.Linear]
    assert all(modes(model.train()))


class Partly(nn.Module):
    """A module whose train() takes an extra argument."""

    def __init__(self):
        super().__init__()
        self.inner, self.seen = nn.Dropout(), []

    def train(self, mode=True, *, also=None):
        self.seen.append((mode, also))
        return super().train(mode)


def test_a_train_that_takes_more_is_called_as_it_was_defined():
    model = Partly()
    model.extra = Partly()
    modules.freeze(model)
    assert model.train(True, also=3) is model
    assert model.train(mode=True, also=3) is model
    assert not any(modes(model))
    model.head = type(model)()  # not frozen
    model.head.train(False, also=3)
    model.head.train(mode=True, also=4)
    model.train(mode=False)
    assert model.head.seen == [(False, 3), (True, 4), (False, None)]
    modules.unfreeze(model)
    model.train(mode=False, also=5)
    assert model.seen[-1] == (False, 5)


def test_a_train_that_takes_more_does_so_in_a_class_that_was_changed_after_freeze():
    model = Partly()
    model.scale = nn.Parameter(torch.ones(1), requires_grad=False)
    modules.freeze(model)
    nn.utils.parametrize.register_parametrization(model, "scale", nn.Identity())
    modules.unfreeze(model)
    model.train(False, also=5)
    model.train(mode=True, also=6)
    assert model.seen[-2:] == [(False, 5), (True, 6)]
    assert all(modes(model))


def test_a_class_derived_from_that_of_a_frozen_layer_is_no_frozen_one():
    layer = nn.Linear(2, 2)
    modules.freeze(layer)

    class Own(type(layer)):
        def __init__(self):
            super().__init__(2, 2)

        def train(self, mode=True):
            self.training = mode
            return self

    own = Own()
    assert type(own) is Own
    assert own.train().training
    modules.freeze(own)
    assert all_frozen(own.train())
    modules.unfreeze(own)
    assert type(own) is Own


def test_a_layer_whose_class_was_changed_in_between_is_frozen_again_and_gets_its_own_back():
    layer = nn.Linear(2, 2)
    layer.weight.requires_grad = False
    modules.freeze(layer)
    nn.utils.parametrize.register_parametrization(layer, "weight", nn.Identity())
    modules.unfreeze(layer)
    nn.utils.parametrize.remove_parametrizations(layer, "weight")
    assert all(modes(layer.train()))
    modules.freeze(layer)
    assert all_frozen(layer.train())
    modules.unfreeze(layer)
    assert type(layer) is nn.Linear


class Refuses(nn.Module):
    def __init__(self, mode, error):
        super().__init__()
        self.mode, self.error = mode, error

    def train(self, mode=True):
        if mode is self.mode:
            raise self.error
        return super().train(mode)


@pytest.mark.parametrize("error", [ArithmeticError, KeyboardInterrupt])
def test_a_train_that_raises_leaves_no_half_frozen_model(error):
    model = nn.Sequential(nn.Linear(2, 2), Refuses(False, error), nn.Dropout())
    model[2].eval()
    with pytest.raises(error):
        modules.freeze(model)
    assert modes(model) == [True, True, True, False]
    assert all(flags(model))
    with pytest.raises(ValueError, match="nothing in this Sequential"):
        modules.unfreeze(model)
    model[1] = Refuses(True, error)
    modules.freeze(model)
    with pytest.raises(error):
        modules.unfreeze(model)
    assert modes(model) == [True, True, True, False]
    assert all(flags(model))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_parts_within_a_frozen_model_are_unfrozen_by_themselves(order):
    model = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Dropout(), nn.Linear(2, 2)))
    modules.freeze(model)
    for number in order:
        modules.unfreeze(model[number])
        assert all(modes(model[number].train()))
        assert all(flags(model[number]))
    assert not model.train().training  # the model itself is still frozen
    modules.unfreeze(model)
    assert all(modes(model.train()))


@pytest.fixture
def process_group(tmp_path):
    """A group of one process on the CPU. Must not query a GPU of this machine."""
    from torch import distributed

    with mock.patch("torch.cuda.is_available", return_value=False):
        meeting = f"file://{tmp_path / 'meeting'}"
        distributed.init_process_group("gloo", init_method=meeting, rank=0, world_size=1)
        try:
            yield
        finally:
            distributed.destroy_process_group()


def needs(*version):
    if tuple(map(int, torch.__version__.split(".")[:2])) < version:
        pytest.skip(f"needs torch {version}")


@pytest.mark.usefixtures("process_group")
@pytest.mark.parametrize("frozen_first", [True, False])
@pytest.mark.parametrize("used", [True, False])
def test_a_model_of_fsdp2_is_unfrozen_before_and_after_it_was_used(frozen_first, used):
    needs(2, 6)
    from torch.distributed import fsdp
    from torch.distributed.device_mesh import init_device_mesh

    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(), nn.Linear(4, 1))
    mesh = init_device_mesh("cpu", (1,))
    if frozen_first:
        modules.freeze(model)
    for part in (model[0], model):
        fsdp.fully_shard(part, mesh=mesh)
    if not frozen_first:
        modules.freeze(model)
    assert all_frozen(model.train())
    if used:
        model(torch.ones(2, 4))
    modules.unfreeze(model)
    assert all(modes(model))
    assert not any(modes(model.eval()))
    model(torch.ones(2, 4)).sum().backward()
    assert all(bool((p.grad.full_tensor() != 0).any()) for p in model.parameters())
    assert all(isinstance(part, fsdp.FSDPModule) for part in (model, model[0]))
    modules.freeze(model)
    assert all_frozen(model.train())
    modules.unfreeze(model)
    assert all(modes(model.train()))


@pytest.mark.usefixtures("process_group")
def test_parameters_that_fsdp1_has_flattened_are_not_passed_over():
    needs(2, 3)  # FSDP1 on the CPU
    from torch.distributed.fsdp import FullyShardedDataParallel

    for original in (True, False):
        layer = nn.Linear(4, 4)
        modules.freeze(layer)
        model = FullyShardedDataParallel(
            layer, use_orig_params=original, device_id=torch.device("cpu")
        )
        if original:
            modules.unfreeze(model)
            assert all(flags(model))
        else:
            with pytest.raises(TypeError, match=r"^weight of .*Linear\) is no parameter any more"):
                modules.unfreeze(model)
            assert not any(flags(model))
