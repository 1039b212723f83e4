import contextlib
import math
from unittest import mock

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from torch import nn

from reference_fixes import amp

FLOAT32 = amp.Precision("cpu", torch.float32, False, "")


@contextlib.contextmanager
def pretend(torch_version=(2, 15), macos="15.1", cuda=True, capability=(9, 0), capabilities=None):
    """The machine that a decision is made for; capabilities are those of single GPUs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(amp, "_TORCH", torch_version)
        patch.setattr("platform.mac_ver", lambda: (macos, ("", "", ""), ""))
        patch.setattr(torch.cuda, "is_available", lambda: cuda)
        patch.setattr(
            torch.cuda,
            "get_device_capability",
            lambda device=None: (capabilities or {}).get(str(device), capability),
        )
        yield


@pytest.mark.parametrize(
    ("device", "dtype", "machine", "expected"),
    [
        ("cpu", None, {}, (torch.float32, False)),
        ("mps", None, {}, (torch.float32, False)),
        ("cuda", None, {}, (torch.bfloat16, False)),
        ("cuda:1", None, {"capability": (7, 5)}, (torch.float16, True)),
        ("cuda:1", None, {"capabilities": {"cuda:1": (7, 5)}}, (torch.float16, True)),
        ("cuda", None, {"capability": (8, 0)}, (torch.bfloat16, False)),
        ("cuda", torch.float32, {"cuda": False}, (torch.float32, False)),
        ("cuda", torch.float16, {}, (torch.float16, True)),
        ("cpu", torch.bfloat16, {"torch_version": (1, 13)}, (torch.bfloat16, False)),
        ("cpu", torch.float16, {"torch_version": (2, 3)}, (torch.float16, True)),
        ("mps", torch.float16, {"torch_version": (2, 8)}, (torch.float16, True)),
        (
            "mps",
            torch.bfloat16,
            {"torch_version": (2, 6), "macos": "14.0"},
            (torch.bfloat16, False),
        ),
    ],
)
def test_precision_is_decided_per_device(device, dtype, machine, expected):
    with pretend(**machine):
        precision = amp.choose_precision(device, dtype)
    assert (precision.dtype, precision.scaler) == expected
    assert precision.device == device.split(":")[0]
    assert precision.reason


@pytest.mark.parametrize(
    ("device", "dtype", "machine", "text"),
    [
        (
            "cuda",
            torch.bfloat16,
            {"capability": (7, 5)},
            r"compute capability \(7, 5\), bfloat16 needs \(8, 0\)",
        ),
        (
            "cuda:1",
            torch.bfloat16,
            {"capabilities": {"cuda:1": (7, 0)}},
            r"compute capability \(7, 0\)",
        ),
        (
            "cuda",
            None,
            {"cuda": False},
            r"^device 'cuda' was asked for, but torch.cuda.is_available\(\) is False$",
        ),
        ("cuda", torch.float16, {"cuda": False}, "is_available"),
        ("cpu", torch.float16, {"torch_version": (2, 2)}, "needs torch 2.3"),
        ("mps", torch.float16, {"torch_version": (2, 7)}, "needs torch 2.8"),
        ("mps", torch.bfloat16, {"torch_version": (2, 5)}, "needs torch 2.6"),
        ("mps", torch.bfloat16, {"macos": "13.6"}, "needs macOS 14, this is 13.6"),
        ("mps", torch.bfloat16, {"macos": ""}, "needs macOS 14, this is not macOS$"),
        ("meta", None, {}, "'meta': expected cpu, cuda or mps"),
        ("cpu", torch.float64, {}, r"torch\.float64: expected"),
    ],
)
def test_an_impossible_precision_is_refused_with_the_reason(device, dtype, machine, text):
    with pretend(**machine), pytest.raises(ValueError, match=text):
        amp.choose_precision(device, dtype)


def test_float32_enters_no_autocast_even_where_autocast_does_not_know_the_device():
    with amp.Precision("mps", torch.float32, False, "").autocast():
        assert not torch.is_autocast_enabled()


def test_autocast_computes_in_its_dtype(device):
    precision = amp.Precision(
        device, torch.float16 if device == "mps" else torch.bfloat16, False, ""
    )
    with precision.autocast():
        assert nn.Linear(2, 1).to(device)(torch.ones(1, 2, device=device)).dtype == precision.dtype


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_autocast_is_entered_for_the_device_with_the_dtype_that_was_decided(dtype):
    with mock.patch("torch.autocast") as autocast:
        amp.Precision("mps", dtype, False, "").autocast()
    assert autocast.call_args.args == ("mps", dtype)


def test_a_no_grad_forward_in_the_same_block_costs_no_gradient_112583(device):
    precision = amp.Precision(
        device, torch.float16 if device == "mps" else torch.bfloat16, False, ""
    )
    model, x = (
        nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1)).to(device),
        torch.ones(2, 4, device=device),
    )
    with precision.autocast():
        with torch.no_grad():
            model[0](x)
        loss = model(x).sum()
    loss.backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


@pytest.mark.parametrize(("torch_version", "cached"), [((2, 10), False), ((2, 11), True)])
def test_weights_are_cached_only_where_the_cache_knows_about_no_grad_112583(torch_version, cached):
    with (
        pretend(torch_version=torch_version),
        amp.choose_precision("cpu", torch.bfloat16).autocast(),
    ):
        assert torch.is_autocast_cache_enabled() is cached


@pytest.mark.parametrize("scaler", [False, True])
def test_the_scaler_is_enabled_exactly_where_the_precision_needs_one(device, scaler):
    if scaler and amp._TORCH < (2, 3) and device != "cuda":
        pytest.skip(
            "no scaler for this device before torch 2.3; choose_precision refuses float16 there"
        )
    made = amp.make_grad_scaler(amp.Precision(device, torch.float16, scaler, ""), init_scale=8.0)
    assert made.is_enabled() is scaler
    if scaler:
        made.scale(torch.ones(1, device=device))
        assert made.get_scale() == 8.0


@pytest.mark.parametrize("enabled", [False, True])
@pytest.mark.parametrize(
    ("torch_version", "maker", "arguments"),
    [((2, 2), "torch.cuda.amp.GradScaler", ()), ((2, 3), "torch.amp.GradScaler", ("mps",))],
)
def test_the_scaler_is_made_by_what_this_torch_has(torch_version, maker, arguments, enabled):
    with pretend(torch_version=torch_version), mock.patch(maker, create=True) as made:
        amp.make_grad_scaler(amp.Precision("mps", torch.float16, enabled, ""), init_scale=8.0)
    made.assert_called_once_with(*arguments, enabled=enabled, init_scale=8.0)


@pytest.mark.parametrize(
    ("device", "dtype", "machine", "reason"),
    [
        ("cpu", torch.float32, {}, "float32 was asked for"),
        ("cpu", torch.bfloat16, {}, "torch.bfloat16 was asked for, and cpu can train in it"),
        ("mps", None, {}, "mps: low precision is seldom faster here; ask for a dtype to have it"),
        ("cuda", None, {}, "bfloat16 has the range of float32, so it needs no GradScaler"),
        (
            "cuda",
            None,
            {"capability": (7, 5)},
            "no bfloat16: this GPU has compute capability (7, 5), bfloat16 needs (8, 0); "
            "float16 needs a GradScaler",
        ),
    ],
)
def test_every_decision_gives_its_reason(device, dtype, machine, reason):
    with pretend(**machine):
        assert amp.choose_precision(device, dtype).reason == reason


def test_the_disabled_scaler_can_be_unscaled_stepped_and_updated(device):
    scaler = amp.make_grad_scaler(amp.choose_precision(device, torch.float32))
    weight = nn.Parameter(torch.ones(2, device=device))
    optimizer = torch.optim.SGD([weight], lr=0.5)
    scaler.scale(weight.sum()).backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert weight.tolist() == [0.5, 0.5]


class FakeScaler:
    """A GradScaler on plain numbers: this torch may have none for the CPU."""

    def __init__(self, scale=4.0):
        self.value, self.calls, self.found_inf = scale, [], False

    def is_enabled(self):
        return True

    def get_scale(self):
        return self.value

    def scale(self, loss):
        self.calls.append("scale")
        return loss * self.value

    def unscale_(self, optimizer):
        self.calls.append("unscale")
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                parameter.grad /= self.value
                self.found_inf |= not bool(parameter.grad.isfinite().all())

    def step(self, optimizer):
        self.calls.append("step")
        if not self.found_inf:
            optimizer.step()

    def update(self):
        self.calls.append("update")
        self.value *= 0.5 if self.found_inf else 1.0
        self.found_inf = False


SCALED = amp.Precision(
    "cpu", torch.float32, True, "float32 arithmetic, so that the numbers are exact"
)


def train(batches, window, weights=None, lr=1.0, **options):
    """One epoch of a one-weight model whose gradient on a batch is the batch's own number.

    Returns the weight's path.
    """
    model = nn.Linear(1, 1, bias=False).train()
    nn.init.zeros_(model.weight)
    path = []

    class Recorder(torch.optim.SGD):
        def step(self, closure=None):
            super().step(closure)
            path.append(model.weight.item())

    optimizer = Recorder(model.parameters(), lr=lr)
    counts = dict(enumerate(weights or []))
    rows = list(enumerate(batches))
    options.setdefault("precision", FLOAT32)
    epoch = amp.train_epoch(
        model,
        iter(rows),
        lambda model, row: (model.weight * row[1]).sum() + row[1],  # gradient row[1]
        optimizer,
        accumulate=window,
        **({"weight": lambda row: counts[row[0]]} if weights else {}),
        **options,
    )
    return epoch, path, model


numbers = st.floats(-8, 8).map(lambda value: round(value * 8) / 8)  # exact in float32


@given(st.lists(numbers, min_size=1, max_size=12), st.integers(1, 5), st.booleans())
@example([1.0] * 6, 4, False)
def test_one_step_per_window_with_the_mean_gradient_of_its_batches(batches, window, scaled):
    options = {"precision": SCALED, "scaler": FakeScaler()} if scaled else {}
    epoch, path, model = train(batches, window, **options)
    windows = [batches[start : start + window] for start in range(0, len(batches), window)]
    assert epoch.steps == len(windows) == math.ceil(len(batches) / window) == len(path)
    weight = 0.0
    for rows, found in zip(windows, path):
        weight -= math.fsum(rows) / len(rows)
        assert found == pytest.approx(weight, abs=1e-4)
    assert all(parameter.grad is None for parameter in model.parameters())
    assert epoch.skipped == 0


@given(st.lists(numbers, min_size=1, max_size=12), st.integers(1, 5))
def test_the_reported_loss_is_the_mean_whatever_the_window(batches, window):
    epoch, _, _ = train(batches, window, lr=0.0)
    assert epoch.loss == pytest.approx(math.fsum(batches) / len(batches), abs=1e-6)


@given(st.lists(st.tuples(numbers, st.integers(0, 9)), min_size=1, max_size=8), st.integers(1, 4))
def test_batches_count_by_their_weight(rows, window):
    batches, weights = [number for number, _ in rows], [weight for _, weight in rows]
    windows = [rows[start : start + window] for start in range(0, len(rows), window)]
    if any(sum(weight for _, weight in part) == 0 for part in windows):
        with pytest.raises(ValueError, match="positive, finite sum"):
            train(batches, window, weights)
        return
    epoch, path, _ = train(batches, window, weights)
    first = windows[0]
    assert path[0] == pytest.approx(
        -sum(n * w for n, w in first) / sum(w for _, w in first), abs=1e-4
    )
    still, _, _ = train(batches, window, weights, lr=0.0)
    assert still.loss == pytest.approx(sum(n * w for n, w in rows) / sum(weights), abs=1e-5)


def test_weights_too_large_for_float32_still_count_exactly():
    weight = 2.0**24 + 1
    epoch, _, _ = train([1.0, 0.0], 1, [weight, 1.0], lr=0.0)
    assert epoch.loss == pytest.approx(weight / (weight + 1), rel=1e-9)


@given(st.floats(0.01, 10), st.sampled_from([4.0, 65536.0]))
def test_the_true_gradient_is_clipped_not_the_scaled_one(max_norm, scale):
    _, path, _ = train([5.0], 1, precision=SCALED, scaler=FakeScaler(scale), max_norm=max_norm)
    assert path[0] == pytest.approx(-min(5.0, max_norm), rel=1e-4)


def test_the_scaler_is_called_in_order_once_per_window():
    scaler = FakeScaler()
    train([1.0] * 3, 2, precision=SCALED, scaler=scaler)
    assert scaler.calls == [
        "scale",
        "scale",
        "unscale",
        "step",
        "update",
        "scale",
        "unscale",
        "step",
        "update",
    ]


def test_a_skipped_step_is_counted_and_the_next_one_goes_on_23905():
    epoch, path, _ = train([math.inf, 1.0], 1, precision=SCALED, scaler=FakeScaler())
    assert (epoch.steps, epoch.skipped, path) == (2, 1, [-1.0])


@given(st.sampled_from([2.0**-3, 2.0**-10, 1.0]))
def test_a_collapsing_scale_stops_before_it_is_zero(min_scale):
    scaler = FakeScaler(4.0)
    text = (
        r"^loss scale .* \(\d+ skipped\): the gradients are infinite whatever the scale, "
        "so look for inf or NaN in the data or the model$"
    )
    with pytest.raises(amp.ScaleCollapsed, match=text):
        train([math.inf] * 200, 1, precision=SCALED, scaler=scaler, min_scale=min_scale)
    assert scaler.value == min_scale / 2


def test_a_real_scaler_on_this_device_trains_and_stops_when_it_collapses(device):
    if amp._TORCH < (2, 3) and device != "cuda":
        pytest.skip(
            "no scaler for this device before torch 2.3; choose_precision refuses float16 there"
        )
    precision = amp.choose_precision(device, torch.float16)
    model = nn.Linear(4, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batches = [torch.ones(8, 4, device=device)] * 7
    scaler = amp.make_grad_scaler(precision)

    def loss_fn(model, x):
        return (model(x).float() - 1).square().mean()

    losses = [
        amp.train_epoch(
            model, batches, loss_fn, optimizer, precision, scaler, accumulate=2, max_norm=1.0
        )
        for _ in range(4)
    ]
    assert losses[-1].loss < losses[0].loss
    assert losses[0].steps == 4
    with pytest.raises(amp.ScaleCollapsed):
        amp.train_epoch(
            model,
            batches * 20,
            lambda m, x: m(x).float().sum() * math.inf,
            optimizer,
            precision,
            scaler,
        )
    assert all(parameter.isfinite().all() for parameter in model.parameters())


def test_a_skipped_first_step_leaves_fused_sgd_no_garbage_for_momentum(device):
    if amp._TORCH < (2, 4):
        pytest.skip("fused SGD for the CPU needs torch 2.4")
    model = nn.Linear(1, 1, bias=False).to(device)
    try:
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.9, fused=True)
    except RuntimeError as error:
        pytest.skip(f"no fused SGD here: {error}")
    precision = amp.Precision(device, torch.float16, True, "")
    nn.init.zeros_(model.weight)
    batches = [torch.tensor([math.inf], device=device), torch.ones(1, device=device)]
    torch.use_deterministic_algorithms(True)  # fills memory that is not initialised with NaN
    try:
        epoch = amp.train_epoch(
            model,
            batches,
            lambda m, x: (m.weight * x).sum(),
            optimizer,
            precision,
            amp.make_grad_scaler(precision),
        )
    finally:
        torch.use_deterministic_algorithms(False)
    assert (epoch.steps, epoch.skipped, model.weight.item()) == (2, 1, -1.0)
    assert optimizer._step_supports_amp_scaling is True


@pytest.mark.parametrize(("make", "fused"), [(torch.optim.SGD, False), (torch.optim.AdamW, True)])
def test_other_optimizers_are_stepped_and_left_as_they_were(device, make, fused):
    weight = nn.Parameter(torch.ones(1, device=device))
    try:
        optimizer = make([weight], lr=0.1, **({"fused": True} if fused else {}))
    except (TypeError, RuntimeError) as error:
        pytest.skip(f"no such optimizer here: {error}")
    before, seen = getattr(optimizer, "_step_supports_amp_scaling", None), []

    class Spy:
        def step(self, optimizer):
            seen.append(getattr(optimizer, "_step_supports_amp_scaling", None))

    amp._step(Spy(), optimizer)
    assert seen == [before]
    assert getattr(optimizer, "_step_supports_amp_scaling", None) is before


def test_frozen_submodules_stay_frozen_and_old_gradients_are_dropped(device):
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).to(device).train()
    model[1].eval()
    model(torch.ones(2, 2, device=device)).sum().mul(
        1e6
    ).backward()  # a diagnostic pass before training
    before = model[0].weight.detach().clone()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    amp.train_epoch(
        model,
        [torch.ones(2, 2, device=device)],
        lambda m, x: m(x).mean(),
        optimizer,
        amp.choose_precision(device, torch.float32),
    )
    assert not model[1].training
    assert (model[0].weight - before).abs().max() < 1e-2


def test_a_parameter_without_a_gradient_is_not_touched_whatever_it_had_before():
    model = nn.Linear(1, 1)
    model.unused = nn.Parameter(torch.ones(1))
    model.unused.grad = torch.ones(1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=0.5)
    amp.train_epoch(**options(model=model, optimizer=optimizer, batches=[torch.ones(1, 1)] * 2))
    assert model.unused.item() == 1.0  # a gradient of zeros would have let weight decay move it
    assert model.unused.grad is None


def test_every_batch_is_a_step_unless_asked_otherwise():
    assert amp.train_epoch(**options(batches=[torch.ones(1, 1)] * 3)).steps == 3


def test_a_scale_may_fall_to_any_least_value_even_zero():
    scaler = FakeScaler(4.0)
    assert train([1.0], 1, precision=SCALED, scaler=scaler, min_scale=0.0)[0].steps == 1


def options(**changed):
    model = nn.Linear(1, 1)
    given = {
        "model": model,
        "batches": [torch.ones(1, 1)],
        "loss_fn": lambda model, x: model(x).sum(),
        "optimizer": torch.optim.SGD(model.parameters(), lr=0.1),
        "precision": FLOAT32,
    }
    return {**given, **changed}


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"accumulate": 0}, "accumulate=0"),
        ({"accumulate": True}, "accumulate=True"),
        ({"accumulate": 2.0}, "accumulate=2.0"),
        ({"max_norm": 0.0}, "max_norm=0.0"),
        ({"max_norm": math.nan}, "max_norm=nan"),
        ({"min_scale": math.nan}, "min_scale=nan: expected a finite number, 0 or more"),
        ({"min_scale": math.inf}, "min_scale=inf"),
        ({"min_scale": -1.0}, "min_scale=-1.0"),
        (
            {"model": nn.Linear(1, 1).eval()},
            r"^the model is in eval mode: call model.train\(\) first",
        ),
        ({"batches": []}, "^no batches: the loader is empty"),
        (
            {"loss_fn": lambda m, x: 0.0},
            "loss of batch 0: expected a tensor with one number, got 0.0",
        ),
        ({"loss_fn": lambda m, x: m(x).expand(3, 1)}, r"got shape \[3, 1\]"),
        ({"loss_fn": lambda m, x: m(x).detach().sum()}, "loss of batch 0 has no graph"),
        ({"precision": SCALED}, "no scaler do not fit"),
        ({"scaler": FakeScaler()}, r"is_enabled\(\)=True do not fit"),
        ({"weight": lambda batch: -1.0}, r"batches 0 to 0: \[-1.0\]"),
        ({"weight": lambda batch: math.inf}, r"batches 0 to 0: \[inf\]"),
    ],
)
def test_impossible_options_an_empty_loader_and_losses_without_a_graph_are_refused(changed, text):
    with pytest.raises(ValueError, match=text):
        amp.train_epoch(**options(**changed))


@pytest.mark.skipif(amp._TORCH < (2, 3), reason="an enabled scaler for the CPU needs torch 2.3")
@given(st.booleans(), st.booleans())
def test_scaler_states_survive_a_move_between_machines(saved_enabled, loaded_enabled):
    saved = amp.make_grad_scaler(
        amp.Precision("cpu", torch.float16, saved_enabled, ""), init_scale=2.0
    )
    loaded = amp.make_grad_scaler(
        amp.Precision("cpu", torch.float16, loaded_enabled, ""), init_scale=8.0
    )
    assert amp.load_scaler_state(loaded, saved.state_dict()) is (saved_enabled and loaded_enabled)
    if loaded_enabled:
        assert loaded.state_dict()["scale"] == (2.0 if saved_enabled else 8.0)
