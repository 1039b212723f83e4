import contextlib
import copy
from unittest import mock

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from reference_fixes import rnn

KINDS = {"RNN": nn.RNN, "LSTM": nn.LSTM, "GRU": nn.GRU}
CUDNN = torch.backends.cudnn
CUDNN_FLAGS = ("enabled", "benchmark", "deterministic")


class Interrupted(KeyboardInterrupt):
    """Only the tests raise this error, and no `except Exception` catches it."""


class Net(nn.Module):
    """An RNN between modules whose behavior depends on the mode."""

    def __init__(self, kind, layers, bidirectional, dropout):
        super().__init__()
        self.before = nn.BatchNorm1d(3)
        self.rnn = KINDS[kind](
            3,
            4,
            num_layers=layers,
            bidirectional=bidirectional,
            dropout=dropout if layers > 1 else 0.0,
        )
        self.drop = nn.Dropout(0.5)
        self.after = nn.BatchNorm1d(8 if bidirectional else 4)

    def forward(self, x):
        hidden, _ = self.rnn(self.before(x.flatten(0, 1)).reshape(x.shape))
        return self.after(self.drop(hidden[-1]))


class OnlyAfterTraining(torch.autograd.Function):
    """Like cuDNN's backward pass, needs a forward pass in training mode and has no derivative."""

    @staticmethod
    def forward(ctx, x, training):
        ctx.training = training
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        if not ctx.training:
            raise RuntimeError("cudnn RNN backward can only be called in training mode")
        if torch.is_grad_enabled():
            raise RuntimeError("the derivative for '_cudnn_rnn_backward' is not implemented")
        return gradient, None


@contextlib.contextmanager
def on_cudnn():
    """Makes RNNs behave as on cuDNN if cuDNN is on. Yields a list of (training, dropout, cuDNN)."""
    ran = []

    def hook(module, inputs, output):
        if not isinstance(module, nn.RNNBase):
            return output
        ran.append((module.training, module.dropout, CUDNN.enabled))
        if not CUDNN.enabled:
            return output
        hidden = OnlyAfterTraining.apply(first(output), module.training)
        return (hidden, output[1]) if isinstance(output, tuple) else hidden

    handle = nn.modules.module.register_module_forward_hook(hook)
    try:
        yield ran
    finally:
        handle.remove()


nets = st.builds(
    Net,
    st.sampled_from(sorted(KINDS)),
    st.integers(1, 2),
    st.booleans(),
    st.sampled_from([0.0, 0.4]),
)
modes = st.lists(st.booleans(), min_size=5, max_size=5)


def prepared(net, device, flags):
    """Prepares the net: on the device, with a mode per submodule, some gradients and statistics."""
    torch.manual_seed(0)
    net = net.to(device)
    net.after.running_mean.uniform_(-1, 1)
    net.before.running_var.uniform_(0.5, 2)
    for module, flag in zip(net.modules(), flags):
        module.training = flag
    net.before.weight.grad = torch.ones_like(net.before.weight)
    return net, torch.randn(5, 3, 3, device=device)


def state(net):
    return {
        "values": {name: value.clone() for name, value in net.state_dict().items()},
        "modes": [module.training for module in net.modules()],
        "dropout": net.rnn.dropout,
        "grads": [parameter.grad for parameter in net.parameters()],
        "rng": torch.random.get_rng_state(),
        "flags": [getattr(CUDNN, name) for name in CUDNN_FLAGS],
        "grad mode": (torch.is_grad_enabled(), torch.is_inference_mode_enabled()),
    }


def assert_same(before, after):
    for name, value in before["values"].items():
        assert torch.equal(value, after["values"][name]), name
    assert [id(gradient) for gradient in before["grads"]] == [
        id(gradient) for gradient in after["grads"]
    ]
    assert torch.equal(before["rng"], after["rng"])
    for part in ("modes", "dropout", "flags", "grad mode"):
        assert before[part] == after[part]


def first(output):
    return output[0] if isinstance(output, tuple) else output


def eval_gradients(model, x):
    """The true gradients of the output's sum, from a copy in eval mode with cuDNN off."""
    model = copy.deepcopy(model).eval()
    leaf = x.clone().requires_grad_()
    with torch.enable_grad(), torch.backends.cudnn.flags(enabled=False):
        output = first(model(leaf)).sum()
        return torch.autograd.grad(output, [leaf, *model.parameters()], allow_unused=True)


def assert_close(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        # cuDNN sums in a different order. Torch's own tests use these tolerances for float32 RNNs.
        torch.testing.assert_close(one, other, rtol=1e-3, atol=5e-5 if one.is_cuda else 1e-5)


# ---- differentiable_eval ----


@given(nets, modes)
def test_gradients_are_those_of_the_model_in_eval_mode(device, net, flags):
    net, x = prepared(net, device, flags)
    with on_cudnn() as ran:
        with rnn.differentiable_eval(net):
            leaf = x.clone().requires_grad_()
            output = net(leaf).sum()
        found = torch.autograd.grad(output, [leaf, *net.parameters()])
    assert_close(found, eval_gradients(net, x))
    assert found[0].abs().max() > 1e-4  # with BatchNorm in train mode, it would be zero
    assert ran == [(True, 0.0, True)]


@given(nets, modes, st.sampled_from([torch.enable_grad, torch.no_grad, torch.inference_mode]))
def test_everything_is_left_as_it_was(device, net, flags, caller):
    net, x = prepared(net, device, flags)
    with caller():
        before = state(net)
        (once,), (again,) = rnn.input_gradients(net, x), rnn.input_gradients(net, x)
        assert_same(before, state(net))
    if device == "cuda":
        torch.testing.assert_close(once, again)  # cuDNN may differ bitwise (torch's page on LSTM)
    else:
        assert torch.equal(once, again)
    assert [x.requires_grad, once.requires_grad] == [False, False]
    assert x.grad is None


@given(nets, modes)
def test_everything_is_restored_after_an_exception(device, net, flags):
    net, x = prepared(net, device, flags)
    before = state(net)
    for context in (rnn.differentiable_eval, rnn.no_grad_eval):
        with pytest.raises(Interrupted), context(net):  # noqa: PT012
            net(x)
            raise Interrupted
        assert_same(before, state(net))


def test_each_rnn_gets_its_own_dropout_back():
    layers = [nn.GRU(1, 1, 2, dropout=0.25), nn.LSTM(1, 1, 2, dropout=0.5)]
    with rnn.differentiable_eval(nn.Sequential(layers[0], nn.ModuleList(layers[1:]))):
        assert [layer.dropout for layer in layers] == [0.0, 0.0]
    assert [layer.dropout for layer in layers] == [0.25, 0.5]


def test_a_part_of_an_rnn_is_in_eval_mode():
    gru = nn.GRU(1, 1)
    gru.drop = nn.Dropout()
    with rnn.differentiable_eval(gru):
        assert (gru.training, gru.drop.training) == (True, False)


class OwnForward(nn.LSTM):
    def forward(self, x):
        return super().forward(x)[0] * (100 if self.training else 1)


class OwnCall(nn.LSTM):
    """An LSTM with its own forward code, such as for locked dropout."""

    def __call__(self, x):
        return super().__call__(F.dropout(x, 0.5, training=self.training))


def with_spectral_norm(*sizes):
    return nn.utils.spectral_norm(nn.LSTM(*sizes), "weight_hh_l0")


def with_hook(*sizes):
    lstm = nn.LSTM(*sizes)
    lstm.register_forward_hook(lambda module, x, output: F.dropout(output[0], 0.5, module.training))
    return lstm


def with_replaced_forward(*sizes):
    """An LSTM whose forward is replaced, as accelerate does to add its hooks."""
    lstm = nn.LSTM(*sizes)
    forward = lstm.forward
    lstm.forward = lambda x: forward(F.dropout(x, 0.5, training=lstm.training))
    return lstm


@pytest.mark.parametrize(
    "build",
    [
        OwnForward,
        OwnCall,
        with_spectral_norm,
        with_hook,
        with_replaced_forward,
        type("OwnRNN", (nn.RNN,), {}),
    ],
)
def test_an_rnn_that_may_look_at_its_mode_is_in_eval_mode_without_cudnn(device, build):
    torch.manual_seed(0)
    model = nn.Sequential(build(3, 4)).to(device).eval()
    x = torch.randn(5, 2, 3, device=device)
    leaf = x.clone().requires_grad_()
    with CUDNN.flags(enabled=False):
        expected = torch.autograd.grad(first(model(leaf)).sum(), leaf)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    with on_cudnn() as ran:
        found = rnn.input_gradients(model.train(), x, target=lambda output: first(output).sum())
    assert ran == [(False, 0.0, False)]
    assert CUDNN.enabled
    assert_close(found, expected)
    after = model.state_dict()
    assert all(torch.equal(value, after[name]) for name, value in before.items())


def test_cudnn_alone_is_off_for_such_an_rnn():
    before = dict.fromkeys(CUDNN_FLAGS, True)
    with CUDNN.flags(**before), rnn.differentiable_eval(OwnForward(3, 4)):
        assert flags_now() == {**before, "enabled": False}


def test_a_module_that_asks_for_the_mode_of_its_rnn_is_told_training_mode():
    class Asks(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn = nn.GRU(3, 4)

        def forward(self):
            return self.training, self.rnn.training

    with rnn.differentiable_eval(model := Asks()):
        assert model() == (False, True)


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_a_scripted_rnn_is_in_eval_mode_without_cudnn(device, kind):
    net = Net(kind, 2, False, 0.5).to(device)
    x = torch.randn(5, 3, 3, device=device)
    expected, *_ = eval_gradients(net, x)
    scripted = torch.jit.script(net)
    with rnn.differentiable_eval(scripted):
        assert not CUDNN.enabled
    assert CUDNN.enabled
    assert_close(rnn.input_gradients(scripted, x), [expected])
    with rnn.differentiable_eval(torch.jit.script(nn.Linear(3, 4))):
        assert CUDNN.enabled


@pytest.mark.parametrize("caller", [torch.no_grad, torch.inference_mode])
def test_gradients_are_enabled_whatever_mode_the_caller_is_in(device, caller):
    lstm = nn.LSTM(3, 4).to(device)
    with caller():
        x = torch.ones(5, 2, 3, device=device)
        with rnn.differentiable_eval(lstm):
            lstm(x.clone())[0].sum().backward()
        (gradient,) = rnn.input_gradients(lstm, x, target=lambda output: output[0].sum())
    assert lstm.weight_ih_l0.grad.abs().max() > 0
    assert gradient.abs().max() > 0
    assert not gradient.is_inference()


class Checkpointed(nn.Module):
    def __init__(self, reentrant):
        super().__init__()
        self.rnn = nn.LSTM(3, 4, num_layers=2, dropout=0.9)
        self.reentrant, self.dropouts = reentrant, []

    def forward(self, x):
        return checkpoint(self.part, x, use_reentrant=self.reentrant)

    def part(self, x):
        self.dropouts.append(self.rnn.dropout)
        return self.rnn(x)[0]


def test_backward_may_follow_the_block_unless_the_model_uses_checkpointing(device):
    torch.manual_seed(0)
    model = Checkpointed(False).to(device)
    x = torch.randn(5, 2, 3, device=device, requires_grad=True)
    expected, *_ = eval_gradients(model.rnn, x.detach())
    with rnn.differentiable_eval(model):
        within = torch.autograd.grad(model(x).sum(), x)
        plain, checkpointed = model.rnn(x)[0].sum(), model(x).sum()
    after = torch.autograd.grad(plain, x)
    assert_close(within + after, (expected, expected))
    model.dropouts.clear()
    # Newer releases notice that the second forward pass differs, and torch 2.0 fails in it.
    with contextlib.suppress(RuntimeError, IndexError):
        checkpointed.backward()
    assert model.dropouts == [0.9]


def test_second_derivatives_need_cudnn_off(device):
    torch.manual_seed(0)
    critic = nn.GRU(3, 4).to(device)
    x = torch.randn(5, 2, 3, device=device, requires_grad=True)

    def penalty():
        (gradient,) = torch.autograd.grad(critic(x)[0].sum(), x, create_graph=True)
        return torch.autograd.grad(gradient.square().sum(), critic.weight_ih_l0)

    with CUDNN.flags(enabled=False):
        expected = penalty()
    with on_cudnn():
        with rnn.differentiable_eval(critic), pytest.raises(RuntimeError, match="derivative"):
            penalty()
        with rnn.differentiable_eval(critic), rnn.cudnn_flags(enabled=False):
            found = penalty()
    assert_close(found, expected)


def autocast(device):
    try:
        return torch.autocast(device, torch.bfloat16)
    except RuntimeError as error:
        if device != "mps":
            raise
        pytest.skip(f"no autocast for MPS before torch 2.5: {error}")


@pytest.mark.parametrize("caller", [torch.no_grad, torch.inference_mode])
def test_a_cast_that_autocast_cached_without_a_graph_is_not_used_for_gradients(device, caller):
    model, x = nn.Linear(4, 1).to(device), torch.ones(2, 4, device=device)
    with autocast(device):
        with caller():
            model(x)
        with rnn.differentiable_eval(model):
            model(x).sum().backward()
    assert model.weight.grad is not None


def test_an_old_cast_of_a_weight_is_not_used(device):
    model, x = nn.Linear(4, 1, bias=False).to(device), torch.ones(2, 4, device=device)
    with autocast(device):
        model(x)
        with torch.no_grad():
            model.weight.zero_()
        with rnn.differentiable_eval(model):
            assert not model(x).any()


# ---- input_gradients ----


def test_each_input_gets_its_own_gradient_in_the_order_of_the_call(device):
    class Two(nn.Module):
        def forward(self, x, ids, y, scale, mask=None):
            return ((2 * x + ids[:, None] * y) * mask).sum() * scale

    x, ids = torch.ones(3, 2, device=device), torch.arange(3, device=device)
    mask = torch.full_like(x, 5.0)
    found = rnn.input_gradients(Two(), x, ids, scale=3.0, mask=mask, y=x)
    assert type(found) is tuple
    of_x, of_ids, of_scale, of_mask, of_y = found
    assert (of_ids, of_scale) == (None, None)
    assert torch.equal(of_x, torch.full_like(x, 30.0))
    assert torch.equal(of_y, 15.0 * ids[:, None].expand(3, 2))
    assert torch.equal(of_mask, 3.0 * (2 + ids[:, None].expand(3, 2)))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.complex64])
def test_a_gradient_has_the_shape_and_dtype_of_its_input(device, dtype):
    if device == "mps" and dtype == torch.float64:
        pytest.skip("MPS has no float64")
    x = torch.ones(2, 3, dtype=dtype, device=device)
    (gradient,) = rnn.input_gradients(nn.Identity(), x, target=lambda y: (y * y.conj()).real.sum())
    assert torch.equal(gradient, 2 * x)
    assert gradient.dtype == dtype


@pytest.mark.parametrize("name", ["", "input"])
def test_a_model_may_change_its_input_in_place(device, name):
    class InPlace(nn.Module):
        def forward(self, input):
            return input.relu_() @ torch.tensor([2.0, 3.0, 4.0], device=device)

    x = torch.tensor([[-1.0, 2.0, 3.0]], device=device)
    (gradient,) = (
        rnn.input_gradients(InPlace(), **{name: x}) if name else rnn.input_gradients(InPlace(), x)
    )
    assert gradient.tolist() == [[0.0, 3.0, 4.0]]
    assert x[0, 0] == -1.0


def test_input_gradients_work_with_checkpointing_that_is_not_reentrant(device):
    torch.manual_seed(0)
    model, x = Checkpointed(False).to(device), torch.randn(5, 2, 3, device=device)
    assert_close(rnn.input_gradients(model, x), eval_gradients(model.rnn, x)[:1])


def test_a_tensor_given_twice_gets_a_gradient_for_each_place():
    class Weighted(nn.Module):
        def forward(self, x, y):
            return (2 * x + 3 * y).sum()

    x = torch.ones(2)
    found = rnn.input_gradients(Weighted(), x, x)
    assert_close(found, (torch.full((2,), 2.0), torch.full((2,), 3.0)))


def test_an_input_keeps_its_strides():
    class Seen(nn.Module):
        def forward(self, x):
            self.strides = x.stride()
            return x.sum()

    rnn.input_gradients(model := Seen(), torch.ones(2, 3).t())
    assert model.strides == (1, 3)


def test_an_input_without_dimensions_gets_a_gradient():
    (gradient,) = rnn.input_gradients(nn.ReLU(), torch.tensor(2.0))
    assert gradient.item() == 1.0


def test_a_target_may_be_a_tensor_of_one_element():
    x = torch.tensor([-1.0, 2.0])
    (gradient,) = rnn.input_gradients(nn.ReLU(), x, target=lambda output: output.sum()[None])
    assert gradient.tolist() == [0.0, 1.0]


class Ignores(nn.Module):
    def forward(self, x, y):
        return y.detach().sum() + (0 if isinstance(x, str) else x.sum())


def test_an_input_that_does_not_reach_the_target_gets_none():
    found = rnn.input_gradients(Ignores(), torch.ones(2), torch.ones(4))
    assert torch.equal(found[0], torch.ones(2))
    assert found[1] is None


class Frozen(nn.Module):
    def forward(self, x):
        with torch.no_grad():
            return x.sum()


class InDict(nn.Module):
    def forward(self, x):
        return {"x": x}


class Detaches(nn.Linear):
    def forward(self, x):
        return super().forward(x.detach())


@pytest.mark.parametrize(
    ("model", "inputs", "target", "error", "text"),
    [
        (
            nn.Identity(),
            (torch.arange(3),),
            None,
            ValueError,
            r"complex tensor, got torch.int64 \[3\]$",
        ),
        (nn.Identity(), ("text", 1), None, ValueError, "no input can .* got str, int$"),
        (nn.Identity(), (), None, ValueError, "got nothing"),
        (Frozen(), (torch.ones(3),), None, ValueError, r"no input reaches .* torch.float32 \[3\]$"),
        (Detaches(3, 1), (torch.ones(3),), None, ValueError, r"^no input reaches the target: not"),
        (
            InDict(),
            (torch.ones(3),),
            None,
            TypeError,
            "returned a dict: pass target=, a function from it to a scalar tensor$",
        ),
        (
            nn.Identity(),
            (torch.ones(2, 3),),
            lambda y: y,
            ValueError,
            r"one real number, got torch.float32 \[2, 3\]",
        ),
        (
            nn.Identity(),
            (torch.ones(2),),
            lambda y: y[:0],
            ValueError,
            r"one real number, got torch.float32 \[0\]",
        ),
        (
            nn.Identity(),
            (torch.ones(2),),
            lambda y: y.sum().item(),
            ValueError,
            "one real number, got float",
        ),
        (
            nn.Identity(),
            (torch.ones(2, dtype=torch.complex64),),
            None,
            ValueError,
            r"one real number, got torch.complex64 \[\]$",
        ),
        (F.relu, (torch.ones(2),), None, TypeError, r"Module, got function: .*differentiable_eval"),
        (Checkpointed(True), (torch.ones(5, 2, 3),), None, RuntimeError, "(?i)checkpoint"),
    ],
)
def test_what_cannot_have_a_gradient_is_refused(model, inputs, target, error, text):
    with pytest.raises(error, match=text):
        rnn.input_gradients(model, *inputs, target=target)


@pytest.mark.parametrize(
    ("model", "x", "text"),
    [
        (nn.Identity(), torch.arange(3), r"got str, torch.int64 \[3\]$"),
        (Ignores(), torch.ones(3), r"inputs are str, torch.float32 \[3\]$"),
    ],
)
def test_keywords_are_told_too(model, x, text):
    with pytest.raises(ValueError, match=text):
        rnn.input_gradients(model, "text", y=x)


# ---- no_grad_eval ----


@given(nets, modes)
def test_no_grad_eval_is_eval_mode_and_leaves_everything_as_it_was(device, net, flags):
    net, x = prepared(net, device, flags)
    before = state(net)
    with torch.no_grad():
        expected = copy.deepcopy(net).eval()(x)
    with rnn.no_grad_eval(net):
        prediction = net(x)
        assert not any(module.training for module in net.modules())
        assert not prediction.requires_grad
    assert_same(before, state(net))
    torch.testing.assert_close(prediction, expected)


class Cached(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.table = nn.Parameter(torch.ones(3)), None

    def forward(self, x):
        if self.table is None:
            self.table = torch.ones(3, device=x.device)
        return (x * self.weight * self.table).sum()


@pytest.mark.parametrize("caller", [contextlib.nullcontext, torch.inference_mode])
def test_a_table_cached_in_no_grad_eval_can_be_trained_with(device, caller):
    model = Cached().to(device)
    x = torch.ones(3, device=device)
    with caller(), rnn.no_grad_eval(model):
        model(x)
    model(x).backward()
    assert torch.equal(model.weight.grad, x)


def test_a_batch_made_in_inference_mode_must_be_cloned_before_it_is_changed_in_place(device):
    model = nn.ReLU(inplace=True)
    with torch.inference_mode():
        batch = -torch.ones(3, device=device)
        with rnn.no_grad_eval(model):
            assert not model(batch.clone()).any()
            with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
                model(batch)


def test_training_in_the_same_autocast_block_has_gradients_112583(device):
    model, x = nn.Linear(4, 1).to(device), torch.ones(2, 4, device=device)
    with autocast(device):
        with rnn.no_grad_eval(model):
            model(x)
        loss = model(x).sum()
    loss.backward()
    assert model.weight.grad is not None


def test_autocast_keeps_no_cast_of_a_weight_from_the_block(device):
    model, x = nn.Linear(4, 1, bias=False).to(device), torch.ones(2, 4, device=device)
    with autocast(device):
        with contextlib.suppress(Interrupted), rnn.no_grad_eval(model), torch.enable_grad():
            model(x)
            raise Interrupted
        with torch.no_grad():
            model.weight.zero_()
        assert not model(x).any()


# ---- restore_modes ----


@given(st.lists(st.booleans(), min_size=4, max_size=4))
def test_restore_modes_gives_every_submodule_its_own_mode_back(flags):
    model = nn.Sequential(nn.Dropout(), nn.Sequential(nn.BatchNorm1d(2)))
    for module, flag in zip(model.modules(), flags):
        module.training = flag
    for mode in (True, False):
        with contextlib.suppress(Interrupted), rnn.restore_modes(model):
            model.train(mode)
            raise Interrupted
        assert [module.training for module in model.modules()] == flags


class LoRA(nn.Linear):
    """A layer that merges its factors in eval mode, as in loralib."""

    def __init__(self):
        super().__init__(2, 2)
        self.A, self.B = nn.Parameter(torch.ones(1, 2)), nn.Parameter(torch.ones(2, 1))
        self.merged = False

    def train(self, mode=True):
        super().train(mode)
        if mode == self.merged:
            self.weight.data += self.B @ self.A * (-1 if mode else 1)
            self.merged = not mode
        return self

    def forward(self, x):
        return super().forward(x) + (0 if self.merged else x @ self.A.T @ self.B.T)


@pytest.mark.parametrize("frozen", [True, False])
def test_what_a_layer_does_in_eval_is_undone_by_its_own_train(device, frozen):
    model = nn.Sequential(LoRA(), LoRA()).to(device)
    model[1].train(not frozen)
    before, x = model[0].weight.clone(), torch.ones(1, 2, device=device)
    with rnn.no_grad_eval(model):
        model(x)
        assert model[0].merged
    assert [layer.merged for layer in model] == [False, frozen]
    assert [layer.training for layer in model] == [True, not frozen]
    torch.testing.assert_close(model[0].weight, before)
    model(x).sum().backward()
    assert model[0].A.grad is not None


def test_train_is_called_only_where_a_flag_has_changed():
    class Counts(nn.Module):
        calls = 0

        def train(self, mode=True):
            self.calls += 1
            return super().train(mode)

    model = nn.Sequential(Counts(), Counts())
    model.training = False
    with rnn.restore_modes(model):
        model[0].training = False
    assert [layer.calls for layer in model] == [1, 0]


@pytest.mark.parametrize("within", [False, True])  # True if the block also raises an error
def test_a_train_that_raises_leaves_no_other_module_in_eval_mode(within):
    class Raises(LoRA):
        def train(self, mode=True):
            if mode:
                raise ArithmeticError("cannot unmerge")
            return super().train(mode)

    model = nn.Sequential(LoRA(), nn.Sequential(Raises(), LoRA()), LoRA())
    with pytest.raises(ArithmeticError, match="^cannot unmerge$") as raised:  # noqa: PT012, SIM117
        with rnn.restore_modes(model):
            model.eval()
            if within:
                raise Interrupted
    first = raised.value
    while first.__context__ is not None:
        first = first.__context__
    assert isinstance(first, Interrupted) is within
    assert all(module.training for module in model.modules())
    assert [layer.merged for layer in (model[0], *model[1], model[2])] == [
        False,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("block", [rnn.restore_modes, rnn.no_grad_eval, rnn.differentiable_eval])
def test_what_is_frozen_or_unfrozen_in_a_block_keeps_its_mode(block):
    model = nn.Sequential(nn.BatchNorm1d(2), nn.BatchNorm1d(2), nn.BatchNorm1d(2), nn.LSTM(2, 2))
    for part in (model[1], model[2]):
        part._before_freeze = True  # as freeze() in modules.py does
        part.eval()
    with block(model):
        model.eval()
        for part in (model[0], model[3]):
            part._before_freeze = True
            part.eval()
        del model[1]._before_freeze
        model[1].train()
        model[2].train()  # set by hand, because model[2] is still frozen
    assert [part.training for part in model] == [False, True, False, False]
    with block(model):
        model.eval()
        del model[0]._before_freeze
    assert not model[0].training  # the model's train() has not changed the mode
    assert model.training


@pytest.mark.parametrize("block", [rnn.restore_modes, rnn.no_grad_eval, rnn.differentiable_eval])
def test_what_is_frozen_in_a_block_that_raises_keeps_its_mode(block):
    model = nn.Sequential(nn.BatchNorm1d(2), nn.Dropout())
    with pytest.raises(KeyError), block(model):  # noqa: PT012
        model[0]._before_freeze = True
        model[0].eval()
        raise KeyError
    assert [part.training for part in model] == [False, True]


def test_a_frozen_module_in_training_mode_gets_it_back():
    model = nn.BatchNorm1d(2)
    model._before_freeze = True
    with rnn.no_grad_eval(model):
        pass
    assert model.training


def test_what_is_frozen_in_a_module_that_shows_it_as_its_own_keeps_its_mode_alone():
    class Shows(nn.Module):
        """A wrapper like the module that torch.compile() returns."""

        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def __getattr__(self, name):
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(super().__getattr__("inner"), name)

    model = Shows(nn.BatchNorm1d(2))
    with rnn.no_grad_eval(model):
        model.inner._before_freeze = True
    assert [module.training for module in model.modules()] == [True, False]


@pytest.mark.parametrize("mode", [True, False])
def test_a_train_that_does_not_obey_is_overruled(mode):
    class Stubborn(nn.Dropout):
        def train(self, _=True):
            return super().train(not mode)

    model = nn.Sequential(Stubborn())
    model[0].training = mode
    with rnn.restore_modes(model):
        model.train(not mode)
    assert model[0].training is mode


@pytest.mark.parametrize("block", [rnn.no_grad_eval, rnn.differentiable_eval])
def test_the_models_own_eval_is_called(block):
    class Own(nn.Dropout):
        def eval(self):
            self.p = 0.25
            return super().eval()

    with block(model := Own()):
        assert model.p == 0.25


@pytest.mark.parametrize("context", [rnn.restore_modes, rnn.no_grad_eval, rnn.differentiable_eval])
@pytest.mark.parametrize("value", [None, mock.Mock(), F.relu, [nn.Dropout()]])
def test_what_is_not_a_module_is_refused(context, value):
    with (
        pytest.raises(TypeError, match=rf"Module, got {type(value).__name__}: .*their block$"),
        context(value),
    ):
        pass


# ---- cudnn_flags ----


def flags_now():
    return {name: getattr(CUDNN, name) for name in CUDNN_FLAGS}


three = st.fixed_dictionaries(dict.fromkeys(CUDNN_FLAGS, st.booleans()))
given_flags = st.fixed_dictionaries(dict.fromkeys(CUDNN_FLAGS, st.none() | st.booleans()))


@given(three, given_flags, st.booleans())
@example(dict.fromkeys(CUDNN_FLAGS, True), {}, False)
@example(dict.fromkeys(CUDNN_FLAGS, False), {}, False)
@example(dict.fromkeys(CUDNN_FLAGS, True), dict.fromkeys(CUDNN_FLAGS, False), False)
def test_cudnn_flags_change_what_is_given_and_nothing_else(before, changes, allow_tf32):
    with CUDNN.flags(**before, allow_tf32=allow_tf32):
        with pytest.raises(Interrupted), rnn.cudnn_flags(**changes):  # noqa: PT012
            given = {name: value for name, value in changes.items() if value is not None}
            assert flags_now() == {**before, **given}
            assert CUDNN.allow_tf32 == allow_tf32
            raise Interrupted
        assert flags_now() == before
        assert CUDNN.allow_tf32 == allow_tf32


@given(three)
def test_a_flag_that_the_block_sets_itself_stays_set(before):
    with CUDNN.flags(**before):
        with rnn.cudnn_flags(enabled=False):
            CUDNN.benchmark = not before["benchmark"]
        assert flags_now() == {**before, "benchmark": not before["benchmark"]}


def test_cudnn_flags_are_given_by_name():
    with pytest.raises(TypeError, match="positional"):
        rnn.cudnn_flags(False).__enter__()  # mutmut's wrapper of a generator raises on entry


def test_torchs_own_flags_turn_cudnn_off():
    with CUDNN.flags(deterministic=True):
        assert not CUDNN.enabled


def test_a_value_that_is_no_bool_is_refused_and_changes_nothing():
    before = flags_now()
    with pytest.raises(RuntimeError, match="expects a bool, but got str"):  # noqa: SIM117
        with rnn.cudnn_flags(enabled=not CUDNN.enabled, deterministic="yes"):
            pass
    assert flags_now() == before


def test_cudnn_flags_work_where_assignments_are_forbidden(monkeypatch):
    monkeypatch.setattr(torch.backends, "__allow_nonbracketed_mutation_flag", True)
    torch.backends.disable_global_flags()
    before = CUDNN.enabled
    with rnn.cudnn_flags(enabled=not before):
        assert CUDNN.enabled is not before
    assert CUDNN.enabled is before


@pytest.mark.skipif(
    not hasattr(CUDNN, "conv"), reason="torch 2.9 brought a precision per operation"
)
def test_cudnn_flags_work_where_tf32_differs_between_operations():
    before = CUDNN.conv.fp32_precision
    CUDNN.conv.fp32_precision = "ieee"
    try:
        with rnn.cudnn_flags(enabled=False):
            assert not CUDNN.enabled
            assert CUDNN.conv.fp32_precision == "ieee"
        assert CUDNN.conv.fp32_precision == "ieee"
    finally:
        CUDNN.conv.fp32_precision = before


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_those_of_cudnn_and_the_same_without_it(device, kind):
    if device != "cuda":
        pytest.skip("only CUDA has cuDNN")
    torch.manual_seed(0)
    model = KINDS[kind](3, 4, num_layers=2, dropout=0.5).to(device).eval()
    x = torch.randn(5, 2, 3, device=device, requires_grad=True)
    operators = {"aten::_cudnn_rnn", "aten::_cudnn_rnn_backward"}

    def gradients():
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            found = rnn.input_gradients(model, x, target=lambda output: output[0].sum())
        return found, operators & {event.key for event in profile.key_averages()}

    with pytest.raises(RuntimeError, match="^cudnn RNN backward can only be called in training"):
        model(x)[0].sum().backward()
    found, ran = gradients()
    assert ran == operators
    with CUDNN.flags(enabled=False):
        expected, ran = gradients()
    assert ran == set()
    assert_close(found, expected)


@pytest.mark.parametrize("bidirectional", [False, True])
def test_saliency_on_cudnn_matches_the_cpu(device, bidirectional):
    lstm = nn.LSTM(3, 4, num_layers=2, dropout=0.5, bidirectional=bidirectional).eval()
    x = torch.randn(5, 2, 3)
    (expected,) = rnn.input_gradients(lstm, x, target=lambda output: output[0].sum())
    (found,) = rnn.input_gradients(
        lstm.to(device), x.to(device), target=lambda output: output[0].sum()
    )
    torch.testing.assert_close(found.cpu(), expected, rtol=1e-3, atol=1e-4)
