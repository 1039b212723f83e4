import contextlib

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from torch import nn

from reference_fixes import rnn

KINDS = {"RNN": nn.RNN, "LSTM": nn.LSTM, "GRU": nn.GRU}


class Net(nn.Module):
    """An RNN between everything whose behaviour depends on the mode."""

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


class TrainingForwardOnly(torch.autograd.Function):
    """What cuDNN does: the backward fails unless the forward ran in training mode."""

    @staticmethod
    def forward(ctx, x, training):
        ctx.training = training
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        if not ctx.training:
            raise RuntimeError("cudnn RNN backward can only be called in training mode")
        return gradient, None


@contextlib.contextmanager
def cudnn_rules():
    """Makes every stock RNN behave as on cuDNN, and records the dropout that it ran with."""
    dropouts = []

    def hook(module, inputs, output):
        dropouts.append(module.dropout if module.training else 0.0)
        return TrainingForwardOnly.apply(output[0], module.training), output[1]

    handle = nn.modules.module.register_module_forward_hook(
        lambda m, i, o: hook(m, i, o) if type(m) in KINDS.values() else None
    )
    try:
        yield dropouts
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
    """The net on the device, each submodule in its own mode, some gradients and statistics set."""
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
        "flags": {
            name: getattr(torch.backends.cudnn, name)
            for name in ("enabled", "benchmark", "deterministic")
        },
    }


def assert_same(before, after):
    for name, value in before["values"].items():
        assert torch.equal(value, after["values"][name]), name
    assert [id(gradient) for gradient in before["grads"]] == [
        id(gradient) for gradient in after["grads"]
    ]
    assert torch.equal(before["rng"], after["rng"])
    for part in ("modes", "dropout", "flags"):
        assert before[part] == after[part]


def eval_gradient(net, x):
    """By definition: eval mode, cuDNN off."""
    with rnn.restore_modes(net), rnn.without_cudnn():
        net.eval()
        x = x.clone().requires_grad_()
        return torch.autograd.grad(net(x).sum(), x)[0]


@given(nets, modes)
def test_input_gradients_are_those_of_the_eval_model(device, net, flags):
    net, x = prepared(net, device, flags)
    with cudnn_rules() as dropouts:
        (gradient,) = rnn.input_gradients(net, x)
    torch.testing.assert_close(gradient, eval_gradient(net, x), rtol=1e-3, atol=1e-5)
    assert gradient.abs().max() > 1e-4  # through BatchNorm in train mode it would be zero
    assert set(dropouts) == {0.0}


@given(nets, modes)
def test_input_gradients_leave_everything_as_it_was(device, net, flags):
    net, x = prepared(net, device, flags)
    before = state(net)
    (once,), (again,) = rnn.input_gradients(net, x), rnn.input_gradients(net, x)
    assert torch.equal(once, again)
    assert_same(before, state(net))
    assert not x.requires_grad
    assert x.grad is None


@given(nets, modes)
def test_everything_is_restored_after_an_exception(device, net, flags):
    net, x = prepared(net, device, flags)
    before = state(net)

    def fail(output):
        raise KeyError("target")

    with pytest.raises(KeyError):
        rnn.input_gradients(net, x, target=fail)
    assert_same(before, state(net))


class OwnForward(nn.LSTM):
    """Uses the training flag for something of its own."""

    def forward(self, x):
        return super().forward(x)[0] * (100 if self.training else 1)


def test_an_rnn_with_a_forward_of_its_own_stays_in_eval_mode_without_cudnn(device):
    model, used = OwnForward(3, 4).to(device).train(), []
    model.register_forward_pre_hook(
        lambda module, inputs: used.append((module.training, torch.backends.cudnn.enabled))
    )
    x = torch.randn(5, 2, 3, device=device)
    (gradient,) = rnn.input_gradients(model, x)
    assert used == [(False, False)]
    assert torch.backends.cudnn.enabled
    torch.testing.assert_close(gradient, eval_gradient(model, x))


@pytest.mark.parametrize("context", [torch.no_grad, torch.inference_mode, contextlib.nullcontext])
def test_input_gradients_work_under_any_gradient_mode(device, context):
    lstm = nn.LSTM(3, 4).to(device).eval()
    with context():
        x = torch.ones(5, 2, 3, device=device)
        (gradient,) = rnn.input_gradients(lstm, x, target=lambda output: output[0].sum())
    assert not gradient.is_inference()
    assert gradient.abs().max() > 0


def test_each_input_gets_its_own_gradient_and_the_rest_none(device):
    class Two(nn.Module):
        def forward(self, x, ids, y, scale):
            return (2 * x + ids[:, None] * y).sum() * scale

    x, y, ids = (
        torch.ones(3, 2, device=device),
        torch.ones(3, 2, device=device),
        torch.arange(3, device=device),
    )
    gradient_x, no_ids, gradient_y, no_scale = rnn.input_gradients(Two(), x, ids, y, 3.0)
    assert (no_ids, no_scale) == (None, None)
    assert torch.equal(gradient_x, torch.full_like(x, 6.0))
    assert torch.equal(gradient_y, 3.0 * ids[:, None].expand(3, 2))


@pytest.mark.parametrize(
    ("model", "inputs", "target", "error", "text"),
    [
        (nn.Identity(), (torch.arange(3),), None, ValueError, r"torch.int64 \[3\]"),
        (
            nn.Identity(),
            (torch.arange(3), "text", 1),
            None,
            ValueError,
            r"got torch.int64 \[3\], str, int$",
        ),
        (nn.Identity(), (), None, ValueError, "got nothing"),
        (nn.LSTM(3, 4), (torch.ones(5, 2, 3),), None, TypeError, "returned a tuple"),
        (
            nn.Identity(),
            (torch.ones(2, 3),),
            lambda y: y,
            ValueError,
            r"one number, got torch.float32 \[2, 3\]",
        ),
        (
            nn.Identity(),
            (torch.ones(2),),
            lambda y: y.detach().sum(),
            ValueError,
            "^the target has no graph: the forward",
        ),
        (
            nn.Identity(),
            (torch.ones(2),),
            lambda y: y.sum().item(),
            ValueError,
            "one number, got float",
        ),
    ],
)
def test_inputs_without_a_gradient_and_targets_that_are_not_one_number_are_refused(
    model, inputs, target, error, text
):
    with pytest.raises(error, match=text):
        rnn.input_gradients(model, *inputs, target=target)


def test_an_input_that_does_not_reach_the_target_is_named():
    class Ignores(nn.Module):
        def forward(self, x, y):
            return x.sum() + y.detach().sum()

    with pytest.raises(ValueError, match=r"input 1 \(torch.float32 \[4\]\) does not reach"):
        rnn.input_gradients(Ignores(), torch.ones(2), torch.ones(4))


@given(nets, modes)
def test_predict_is_eval_and_leaves_everything_as_it_was(device, net, flags):
    net, x = prepared(net, device, flags)
    before = state(net)
    prediction = rnn.predict(net, x)
    assert_same(before, state(net))
    assert not prediction.requires_grad
    assert not prediction.is_inference()
    torch.testing.assert_close(prediction, copy_in_eval(net, x))


def copy_in_eval(net, x):
    import copy

    with torch.no_grad():
        return copy.deepcopy(net).eval()(x)


def test_predict_passes_keywords_on():
    class Shifted(nn.Module):
        def forward(self, x, shift=0.0):
            return x + shift

    assert rnn.predict(Shifted(), torch.ones(1), shift=2.0).item() == 3.0


def test_predict_restores_modes_after_an_exception():
    model = nn.Linear(2, 1).train()
    with pytest.raises(RuntimeError):
        rnn.predict(model, torch.ones(1, 3))
    assert model.training


def test_a_table_cached_by_predict_can_be_trained_with(device):
    class Cached(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight, self.table = nn.Parameter(torch.ones(3)), None

        def forward(self, x):
            if self.table is None:
                self.table = torch.ones(3, device=x.device)
            return (x * self.weight * self.table).sum()

    model = Cached().to(device)
    x = torch.ones(3, device=device)
    rnn.predict(model, x)
    model(x).backward()
    assert torch.equal(model.weight.grad, x)


@given(st.booleans(), st.booleans(), st.booleans())
@example(deterministic=True, benchmark=True, allow_tf32=False)
def test_without_cudnn_changes_one_flag_and_gives_it_back(deterministic, benchmark, allow_tf32):
    cudnn = torch.backends.cudnn
    with cudnn.flags(
        enabled=True, benchmark=benchmark, deterministic=deterministic, allow_tf32=allow_tf32
    ):
        with pytest.raises(KeyError), rnn.without_cudnn():  # noqa: PT012
            assert not cudnn.enabled
            assert (cudnn.benchmark, cudnn.deterministic, cudnn.allow_tf32) == (
                benchmark,
                deterministic,
                allow_tf32,
            )
            raise KeyError
        assert cudnn.enabled


def test_without_cudnn_leaves_it_off_where_it_was_off():
    with torch.backends.cudnn.flags(enabled=False):
        with rnn.without_cudnn():
            pass
        assert not torch.backends.cudnn.enabled


@given(st.lists(st.booleans(), min_size=4, max_size=4))
def test_restore_modes_gives_every_submodule_its_own_mode_back(flags):
    model = nn.Sequential(nn.Dropout(), nn.Sequential(nn.BatchNorm1d(2)))
    for module, flag in zip(model.modules(), flags):
        module.training = flag
    with rnn.restore_modes(model):
        model.train(not flags[0])
    assert [module.training for module in model.modules()] == flags


@pytest.mark.parametrize("bidirectional", [False, True])
def test_saliency_on_cudnn_matches_the_cpu(device, bidirectional):
    lstm = nn.LSTM(3, 4, num_layers=2, dropout=0.5, bidirectional=bidirectional).eval()
    x = torch.randn(5, 2, 3)
    (expected,) = rnn.input_gradients(lstm, x, target=lambda output: output[0].sum())
    (found,) = rnn.input_gradients(
        lstm.to(device), x.to(device), target=lambda output: output[0].sum()
    )
    torch.testing.assert_close(found.cpu(), expected, rtol=1e-3, atol=1e-4)
