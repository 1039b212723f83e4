import copy
import functools
import io
import itertools
import math
import pickle
import re
import warnings
from unittest import mock

import numpy
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.optim.lr_scheduler import ConstantLR, CosineAnnealingLR, LambdaLR, SequentialLR

from reference_fixes import schedulers
from reference_fixes.schedulers import ScheduleLR, ScheduleMomentum, cosine, linear, sequence

KINDS = ["float", "tensor"]


def optimizer_at(*rates, kind="float", device="cpu"):
    """An optimizer with two groups. With one rate, the second group has three times that rate."""
    rates = rates if len(rates) > 1 else (rates[0], 3 * rates[0])
    groups = [
        {
            "params": [torch.zeros(1, device=device, requires_grad=True)],
            "lr": torch.tensor(rate, device=device) if kind == "tensor" else rate,
        }
        for rate in rates
    ]
    return torch.optim.SGD(groups, lr=9.0)


def rates_of(optimizer):
    return [float(group["lr"]) for group in optimizer.param_groups]


def rate_of(optimizer):
    """Returns the first group's learning rate, after checking the rate of the second group."""
    first, second = rates_of(optimizer)
    assert second == pytest.approx(3 * first)
    return first


def run(optimizer, scheduler, steps):
    """Runs the steps, and returns the first group's learning rate in each step."""
    rates = []
    for _ in range(steps):
        rates.append(rates_of(optimizer)[0])
        optimizer.step()
        scheduler.step()
    return rates


def rates(schedule, steps, *, lr=1.0, kind="float", device="cpu"):
    optimizer = optimizer_at(lr, kind=kind, device=device)
    return run(optimizer, ScheduleLR(optimizer, schedule), steps)


def through_a_file(state):
    """The state after torch.save() and torch.load() with the default arguments since torch 2.6."""
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    # torch 1.13 rejects even float.
    return torch.load(file, weights_only=not torch.__version__.startswith("1.13."))


# ---- the reproducers ----


def test_a_checkpoint_of_a_cyclic_or_averaged_schedule_is_saved_and_loaded_88684_163105():
    cycle = sequence(linear(2, 0.25, 1), linear(2, 1, 0.25))
    schedule = [lambda step: cycle(step % cycle.steps), sequence(linear(3, 1, 1), cosine(4, 1, 0))]
    optimizer = optimizer_at(1.0, 1.0)
    scheduler = ScheduleLR(optimizer, schedule)
    assert run(optimizer, scheduler, 6) == [0.25, 0.625, 1.0, 0.625, 0.25, 0.625]
    again = ScheduleLR(optimizer_at(1.0, 1.0), schedule)
    again.load_state_dict(through_a_file(scheduler.state_dict()))
    assert rates_of(again.optimizer) == rates_of(optimizer)


@pytest.mark.parametrize(
    "schedule",
    [functools.partial(pow, 0.5), lambda step: 0.5 ** (step // 2), linear(9, 1, 0)],
    ids=["exponential", "in steps", "linear"],
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_resume_at_a_step_does_not_decay_once_more_102261(device, schedule, kind):
    first = optimizer_at(1.0, kind=kind, device=device)
    run(first, ScheduleLR(first, schedule), 4)
    loaded = optimizer_at(1.0, kind=kind, device=device)
    loaded.load_state_dict(first.state_dict())
    for optimizer in (loaded, optimizer_at(1.0, kind=kind, device=device)):
        scheduler = ScheduleLR(optimizer, schedule, step=4)
        assert rates_of(optimizer) == rates_of(first)
        assert run(optimizer, scheduler, 5) == pytest.approx([schedule(n) for n in range(4, 9)])


def test_logged_learning_rates_are_those_of_their_steps_163103(device):
    optimizer, history = optimizer_at(1.0, kind="tensor", device=device), []
    scheduler = ScheduleLR(optimizer, functools.partial(pow, 0.5))
    for _ in range(3):
        optimizer.step()
        history += scheduler.get_last_lr()
        scheduler.step()
    assert [float(rate) for rate in history] == [1.0, 3.0, 0.5, 1.5, 0.25, 0.75]
    assert all(isinstance(rate, torch.Tensor) for rate in history)


def test_a_decay_after_a_hold_begins_at_its_own_step_0():
    hold_and_decay = sequence(linear(2, 1, 1), lambda step: 1 / (step + 1))
    assert rates(hold_and_decay, 5) == pytest.approx([1, 1, 1, 1 / 2, 1 / 3])


def test_a_nested_sequence_loses_no_step_196243():
    warmup, hold, cooldown = linear(2, 0.5, 0.5), linear(2, 0.2, 0.2), linear(9, 0.1, 0.1)
    nested = sequence(sequence(warmup, hold), cooldown)
    assert rates(nested, 5) == [0.5, 0.5, 0.2, 0.2, 0.1]


def test_a_resumed_sequence_goes_on_in_its_second_part_162591():
    schedule = sequence(linear(2, 0.1, 0.1), linear(99, 0.5, 0.5))
    first = optimizer_at(1.0)
    run(first, ScheduleLR(first, schedule), 4)
    optimizer = optimizer_at(1.0)
    optimizer.load_state_dict(first.state_dict())
    ScheduleLR(optimizer, schedule, step=4)
    assert rate_of(optimizer) == rate_of(first) == 0.5


def test_a_tensor_rate_rises_again_when_the_warmup_ends_162359(device):
    schedule = sequence(linear(2, 0.1, 0.1), functools.partial(pow, 0.5))
    found = rates(schedule, 4, kind="tensor", device=device)
    assert found == pytest.approx([0.1, 0.1, 1.0, 0.5])


def test_a_part_of_no_steps_is_left_out_185872():
    assert rates(sequence(linear(0, 0.1, 1), functools.partial(pow, 0.5)), 3) == [1.0, 0.5, 0.25]


@pytest.mark.parametrize("make", [linear, cosine])
def test_a_schedule_of_no_steps_is_at_its_end(make):
    assert [make(0, 0.1, 0.5)(step) for step in range(3)] == [0.5] * 3
    assert rates(make(0, 0.1, 0.5), 2) == [0.5, 0.5]


@pytest.mark.parametrize("step", [0, 3])
def test_a_tensor_is_written_in_place(device, step):
    optimizer = optimizer_at(1.0, kind="tensor", device=device)
    tensor = optimizer.param_groups[0]["lr"]
    memory = tensor.data_ptr()  # a CUDA graph reads from here
    scheduler = ScheduleLR(optimizer, linear(8, 1, 0), step)
    for n in range(step, step + 3):
        assert optimizer.param_groups[0]["lr"] is tensor
        assert tensor.data_ptr() == memory
        assert tensor.item() == 1 - n / 8
        optimizer.step()
        scheduler.step()
    scheduler.load_state_dict(scheduler.state_dict())
    assert optimizer.param_groups[0]["lr"] is tensor
    assert tensor.data_ptr() == memory


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_a_tensor_of_one_element_and_any_dtype_is_written(dtype):
    optimizer, tensor = optimizer_at(1.0), torch.full((1,), 0.3, dtype=dtype)
    optimizer.param_groups[0]["lr"] = tensor
    try:
        LambdaLR(optimizer, lambda step: 1)
    except RuntimeError:
        pytest.skip("schedulers of this torch fail with a tensor that has a dimension")
    optimizer.param_groups[0]["lr"] = tensor
    scheduler = ScheduleLR(optimizer, linear(4, 1, 0))
    run(optimizer, scheduler, 2)
    expected = torch.full((1,), 0.3, dtype=dtype) * 0.5
    assert torch.equal(optimizer.param_groups[0]["lr"], expected)
    scheduler.load_state_dict({"last_epoch": 2, "base_lrs": [0.3, 3.0]})
    assert torch.equal(tensor, torch.full((1,), 0.15, dtype=torch.float64).to(dtype))


# ---- schedules ----

counts = st.integers(0, 6)
factors = st.floats(0, 10)
pieces = st.builds(
    lambda make, steps, start, end: make(steps, start, end),
    st.sampled_from([linear, cosine]),
    counts,
    factors,
    factors,
)
trees = st.recursive(
    pieces, lambda parts: st.lists(parts, min_size=1, max_size=3).map(lambda each: sequence(*each))
)


@given(st.sampled_from([linear, cosine]), st.integers(0, 50), factors, factors)
def test_a_piece_goes_from_its_start_to_its_end_and_stays_there(make, steps, start, end):
    piece = make(steps, start, end)
    found = [piece(step) for step in range(steps + 3)]
    assert piece.steps == steps
    assert found[steps:] == [end] * 3
    assert found[0] == (start if steps else end)
    assert all(min(start, end) - 1e-9 <= factor <= max(start, end) + 1e-9 for factor in found)
    rising = [(b - a) * (end - start) >= -1e-9 for a, b in itertools.pairwise(found)]
    assert all(rising)


@given(st.integers(1, 50), factors, factors)
def test_pieces_are_a_line_and_half_a_wave(steps, start, end):
    for step in range(steps):
        line = start + (end - start) * step / steps
        assert linear(steps, start, end)(step) == pytest.approx(line, abs=1e-9)
        wave = end + (start - end) * math.cos(math.pi * step / steps / 2) ** 2
        assert cosine(steps, start, end)(step) == pytest.approx(wave, abs=1e-9)


def test_a_cosine_is_that_of_torch():
    optimizer = optimizer_at(2.0)
    expected = run(optimizer, CosineAnnealingLR(optimizer, T_max=7, eta_min=0.5), 8)
    assert rates(cosine(7, 1, 0.25), 8, lr=2.0) == pytest.approx(expected)


def unrolled(schedule, end):
    return [schedule(step) for step in range(end)]


@given(st.lists(trees, min_size=1, max_size=4), trees)
def test_a_sequence_is_its_parts_one_after_another(parts, last):
    schedule = sequence(*parts, last)
    expected = [factor for part in parts for factor in unrolled(part, part.steps)]
    expected += unrolled(last, last.steps + 3)
    assert schedule.steps == len(expected) - 3
    assert unrolled(schedule, len(expected)) == expected


@given(trees, trees, trees)
def test_it_does_not_matter_how_sequences_are_nested(a, b, c):
    flat, left, right = sequence(a, b, c), sequence(sequence(a, b), c), sequence(a, sequence(b, c))
    expected = unrolled(flat, flat.steps + 3)
    assert unrolled(left, len(expected)) == expected
    assert unrolled(right, len(expected)) == expected


def test_a_function_may_be_last_and_elsewhere_with_a_number_of_steps():
    endless = sequence(linear(2, 1, 1), lambda step: 10 + step)
    assert endless.steps is None
    assert unrolled(endless, 5) == [1, 1, 10, 11, 12]
    rising = functools.partial(operator_add, 10)
    rising.steps = 2
    assert unrolled(sequence(rising, linear(1, 5, 6)), 4) == [10, 11, 5, 6]


def operator_add(a, b):
    return a + b


@given(trees)
def test_a_schedule_can_be_pickled_and_copied(schedule):
    for other in (pickle.loads(pickle.dumps(schedule)), copy.deepcopy(schedule)):
        assert other.steps == schedule.steps
        assert unrolled(other, other.steps + 2) == unrolled(schedule, schedule.steps + 2)


@pytest.mark.parametrize("make", [linear, cosine])
def test_pieces_of_other_than_numbers_are_refused(make):
    for steps, error, text in [
        (-1, ValueError, "steps=-1: expected a whole number of steps, 0 or more"),
        (2.0, TypeError, "steps=2.0: expected a whole number of steps"),
        (None, TypeError, "steps=None: expected a whole number of steps"),
    ]:
        with pytest.raises(error, match=f"^{re.escape(text)}$"):
            make(steps, 0, 1)
    for factor in (-0.5, math.nan, math.inf, None, "1", 1j, torch.tensor(1.0)):
        text = re.escape(f"={factor!r}: expected a finite number, 0 or more")
        with pytest.raises(ValueError, match=f"^start{text}$"):
            make(3, factor, 1)
        with pytest.raises(ValueError, match=f"^end{text}$"):
            make(3, 1, factor)


def test_sequences_of_what_is_not_a_schedule_are_refused():
    with pytest.raises(
        ValueError, match=r"^expected functions from the step to a factor, got \(\)$"
    ):
        sequence()
    with pytest.raises(
        TypeError, match=r"^expected functions from the step to a factor, got \(.*, 0\.5\)$"
    ):
        sequence(linear(2, 0, 1), 0.5)
    with pytest.raises(
        ValueError, match=r"^part 1 of 4 has no end: <built-in .*>; set its attribute `steps`$"
    ):
        sequence(linear(2, 0, 1), abs, linear(2, 1, 0), abs)
    with pytest.raises(ValueError, match=r"^part 0 of 2 has no end: .*Schedule\("):
        sequence(sequence(linear(2, 0, 1), abs), linear(2, 1, 0))


# ---- ScheduleLR ----


@given(
    schedule=trees,
    kind=st.sampled_from(KINDS),
    lr=st.floats(1e-3, 10),
    before=st.integers(0, 8),
    after=st.integers(1, 8),
    way=st.sampled_from(["state first", "state last", "state alone", "step", "step alone"]),
)
def test_the_learning_rate_depends_on_the_step_alone(
    device, schedule, kind, lr, before, after, way
):
    expected = [lr * factor for factor in unrolled(schedule, before + after)]
    first = optimizer_at(lr, 3.0, kind=kind, device=device)
    scheduler = ScheduleLR(first, schedule)
    assert run(first, scheduler, before) == pytest.approx(expected[:before])
    optimizer = optimizer_at(lr, 3.0, kind=kind, device=device)
    state, of_scheduler = (through_a_file(each.state_dict()) for each in (first, scheduler))
    if way == "step":
        optimizer.load_state_dict(state)
    if way in ("step", "step alone"):
        resumed = ScheduleLR(optimizer, schedule, step=before)
    else:
        resumed = ScheduleLR(optimizer, schedule)
        if way == "state last":
            optimizer.load_state_dict(state)
        resumed.load_state_dict(of_scheduler)
        if way == "state first":
            optimizer.load_state_dict(state)
    second = 3.0 * schedule(before)
    assert rates_of(optimizer)[1] == pytest.approx(second)
    assert run(optimizer, resumed, after) == pytest.approx(expected[before:])


def test_one_schedule_serves_all_groups_and_a_list_each_its_own():
    optimizer = optimizer_at(1.0, 10.0)
    scheduler = ScheduleLR(optimizer, linear(2, 1, 0))
    scheduler.optimizer.step()
    scheduler.step()
    assert rates_of(optimizer) == [0.5, 5.0]
    for listed in (list, tuple):
        optimizer = optimizer_at(1.0, 10.0)
        ScheduleLR(optimizer, listed([linear(2, 1, 0), linear(2, 0.25, 0)]))
        assert rates_of(optimizer) == [1.0, 2.5]


def test_the_first_learning_rate_is_that_which_the_first_scheduler_found():
    optimizer = optimizer_at(1.0)
    ScheduleLR(optimizer, linear(2, 0.5, 0))
    ScheduleLR(optimizer, linear(2, 0.25, 0))
    assert rate_of(optimizer) == 0.25
    assert optimizer.param_groups[0]["initial_lr"] == 1.0


@pytest.mark.parametrize("shared", [False, True])
def test_the_first_learning_rate_is_no_tensor_that_is_written(shared):
    optimizer = optimizer_at(1.0, kind="tensor")
    group = optimizer.param_groups[0]
    if shared:  # as after SequentialLR
        for each in optimizer.param_groups:
            each["initial_lr"] = each["lr"]
    scheduler = ScheduleLR(optimizer, linear(4, 0.5, 0))
    assert run(optimizer, scheduler, 3) == [0.5, 0.375, 0.25]
    assert group["initial_lr"].item() == 1.0


def test_it_may_follow_a_scheduler_of_torch():
    optimizer = optimizer_at(1.0, kind="tensor")
    parts = [ConstantLR(optimizer, 0.1), ConstantLR(optimizer, 0.2)]
    SequentialLR(optimizer, parts, milestones=[1])
    # Before 2.10, the constructor of SequentialLR loses the first learning rate (pytorch#162359).
    for group, rate in zip(optimizer.param_groups, (1.0, 3.0)):
        group["initial_lr"] = torch.tensor(rate)
    assert run(optimizer, ScheduleLR(optimizer, linear(4, 1, 0)), 3) == [1.0, 0.75, 0.5]


@pytest.mark.parametrize("base", [1.0, torch.tensor(1.0)])
@pytest.mark.parametrize("kind", KINDS)
def test_a_state_of_the_other_kind_of_rate_is_loaded(base, kind):
    optimizer = optimizer_at(5.0, kind=kind)
    before = optimizer.param_groups[0]["lr"]
    scheduler = ScheduleLR(optimizer, linear(4, 1, 0))
    state = {**scheduler.state_dict(), "base_lrs": [base, 3 * base], "last_epoch": 1}
    scheduler.load_state_dict(state)
    rate = optimizer.param_groups[0]["lr"]
    assert rate_of(optimizer) == 0.75
    assert rate is before if kind == "tensor" else type(rate) is float


@pytest.mark.parametrize("kind", KINDS)
def test_a_tensor_learning_rate_may_have_a_gradient_once_it_was_differentiated(kind):
    optimizer = optimizer_at(1.0, kind=kind)
    scheduler = ScheduleLR(optimizer, linear(4, 1, 0))
    optimizer.param_groups[0]["lr"] = torch.tensor(2.0, requires_grad=True)
    rate, _ = scheduler.get_last_lr()
    assert rate == 2.0
    assert not rate.requires_grad


def test_no_step_waits_for_the_device():
    optimizer = optimizer_at(1.0)
    for group in optimizer.param_groups:
        group["lr"] = torch.tensor(1.0, device="meta")  # a read would raise
    try:
        LambdaLR(optimizer, linear(4, 1, 0))
    except RuntimeError:
        pytest.skip("the step() of 2.4 reads every tensor itself")
    scheduler = ScheduleLR(optimizer, linear(4, 1, 0), step=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the warning about a missing optimizer.step()
        scheduler.step()
        # from a run whose rates were floats
        scheduler.load_state_dict({**scheduler.state_dict(), "base_lrs": [2.0, 6.0]})
        with mock.patch.object(torch.Tensor, "copy_", side_effect=AssertionError("CUDA waits")):
            scheduler.step()
    assert all(rate.is_meta for rate in scheduler.get_last_lr())


def test_no_step_waits_for_cuda(device):
    if device != "cuda":
        pytest.skip("only CUDA can be asked about synchronisations")
    if torch.__version__.startswith("2.4."):
        pytest.skip("the step() of 2.4 reads every tensor itself")
    optimizer, found = optimizer_at(1.0, kind="tensor", device=device), []
    torch.cuda.set_sync_debug_mode("error")
    try:
        scheduler = ScheduleLR(optimizer, linear(4, 1, 0))
        for loaded in ({}, {"base_lrs": [2.0, 6.0]}):  # from a run whose rates were floats
            scheduler.load_state_dict({**scheduler.state_dict(), **loaded})
            optimizer.step()
            scheduler.step()
            found += scheduler.get_last_lr()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert found == [0.75, 2.25, 1.0, 3.0]


def test_a_checkpoint_holds_numbers_alone():
    schedule = sequence(linear(2, 0, 1), lambda step: numpy.float32(0.5))
    optimizer = optimizer_at(1.0)
    scheduler = ScheduleLR(optimizer, schedule)
    run(optimizer, scheduler, 3)
    assert rate_of(optimizer) == 0.5
    assert type(optimizer.param_groups[0]["lr"]) is float
    through_a_file([optimizer.state_dict(), scheduler.state_dict()])
    assert linear(2, numpy.float32(0.5), 1).args[1:3] == (0.5, 1.0)
    assert type(linear(2, numpy.float32(0.5), 1)(0)) is float


def test_the_schedule_in_the_code_is_the_one_that_a_resume_goes_on_with():
    scheduler = ScheduleLR(optimizer_at(1.0), linear(4, 1, 0), step=2)
    longer = ScheduleLR(optimizer_at(1.0), linear(8, 1, 0))
    longer.load_state_dict(through_a_file(scheduler.state_dict()))
    assert rate_of(longer.optimizer) == 0.75


def test_lambda_lr_takes_a_schedule_too_and_saves_nothing_of_it():
    optimizer = optimizer_at(1.0)
    scheduler = LambdaLR(optimizer, sequence(linear(2, 0.5, 1), cosine(2, 1, 0)))
    assert run(optimizer, scheduler, 4) == pytest.approx([0.5, 0.75, 1.0, 0.5])
    assert through_a_file(scheduler.state_dict())["lr_lambdas"] == [{}, {}]


def test_the_rates_can_be_asked_for_outside_of_a_step():
    optimizer = optimizer_at(1.0, 2.0)
    scheduler = ScheduleLR(optimizer, linear(4, 1, 0), step=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert scheduler.get_lr() == scheduler.get_last_lr() == [0.75, 1.5]


class Stateful:
    def __init__(self):
        self.calls = [abs]  # functions should not be in a checkpoint

    def __call__(self, step):
        return 1 / (step + 1)


def test_the_state_holds_nothing_of_a_callable_object_and_lambda_lr_loads_it_too():
    scheduler = ScheduleLR(optimizer_at(1.0), Stateful(), step=3)
    state = through_a_file(scheduler.state_dict())
    other = LambdaLR(optimizer_at(1.0), Stateful())
    other.load_state_dict(state)
    other.optimizer.step()
    other.step()
    assert rate_of(other.optimizer) == pytest.approx(1 / 5)


@pytest.mark.parametrize("make", [ScheduleLR, ScheduleMomentum])
@pytest.mark.parametrize("step", [-1, 1.5, None, "3"])
def test_a_step_that_is_none_is_refused(make, step):
    with pytest.raises(
        (TypeError, ValueError),
        match=rf"^step={re.escape(repr(step))}: expected a whole number of steps",
    ):
        make(with_momentum("SGD"), linear(4, 1, 0), step)


@pytest.mark.parametrize(
    ("schedule", "error"),
    [
        (None, TypeError),
        ([linear(1, 0, 1), 0.5], TypeError),
        ([abs], ValueError),
        ([abs] * 3, ValueError),
        ([], ValueError),
    ],
)
def test_a_schedule_that_is_none_is_refused_before_anything_is_changed(schedule, error):
    optimizer = optimizer_at(1.0, 2.0)
    text = (
        "expected a function from the step to a factor, or a list of 2, one for each group of the "
        f"optimizer; got {schedule!r}"
    )
    with pytest.raises(error, match=f"^{re.escape(text)}$"):
        ScheduleLR(optimizer, schedule)
    assert "initial_lr" not in optimizer.param_groups[0]


@pytest.mark.parametrize("factor", [-1.0, math.nan, math.inf, None, "1", torch.tensor(1.0)])
def test_a_factor_that_is_none_is_refused_with_its_step(factor):
    optimizer = optimizer_at(1.0)
    scheduler = ScheduleLR(optimizer, lambda step: factor if step == 2 else 1)
    text = f"factor at step 2={factor!r}: expected a finite number, 0 or more"
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        run(optimizer, scheduler, 3)
    assert rate_of(optimizer) == 1.0


def test_a_group_that_was_added_is_not_left_out_silently():
    optimizer = optimizer_at(1.0)
    scheduler = ScheduleLR(optimizer, linear(4, 1, 0), step=1)
    optimizer.add_param_group({"params": [torch.zeros(1, requires_grad=True)], "lr": 2.0})
    optimizer.step()
    text = "the optimizer has 3 groups, the scheduler 2: make another one for them, with step=2"
    with pytest.raises(ValueError, match=f"^{text}$"):
        scheduler.step()
    with pytest.raises(ValueError, match="make another one for them, with step=1$"):
        scheduler.load_state_dict({"last_epoch": 1, "base_lrs": [1.0, 3.0, 2.0]})
    ScheduleLR(optimizer, linear(4, 1, 0), step=2)
    assert rates_of(optimizer) == [0.5, 1.5, 1.0]


def test_the_state_of_another_number_of_groups_is_refused():
    state = ScheduleLR(optimizer_at(1.0, 2.0, 3.0), linear(4, 1, 0)).state_dict()
    with pytest.raises(ValueError, match="^the optimizer has 2 groups, the scheduler 3"):
        ScheduleLR(optimizer_at(1.0), linear(4, 1, 0)).load_state_dict(state)


def test_the_state_of_a_scheduler_of_torch_is_taken_over():
    optimizer = optimizer_at(8.0)
    parts = [ConstantLR(optimizer, 0.5, 99), ConstantLR(optimizer, 0.25, 99)]
    old = SequentialLR(optimizer, parts, milestones=[2])
    run(optimizer, old, 3)
    new = optimizer_at(8.0)
    scheduler = ScheduleLR(new, linear(4, 1, 0), step=1)
    own = LambdaLR(optimizer_at(8.0), Stateful())
    others = [{**each.state_dict(), "last_epoch": 3} for each in (parts[0], own)]
    for state in (old.state_dict(), *others):
        scheduler.load_state_dict(state)
        assert rate_of(new) == 2.0
        assert run(new, scheduler, 2) == [2.0, 0.0]


@pytest.mark.parametrize("way", ["new", "optimizer loaded", "both loaded"])
def test_groups_that_share_a_tensor_get_each_its_own_rate(device, way):
    tensor = torch.tensor(1.0, device=device)
    optimizer = optimizer_at(9.0, 9.0, 9.0)
    for group in optimizer.param_groups:
        group["lr"] = tensor  # as in SGD(groups, lr=torch.tensor(1.0))
    schedules = [linear(4, 1, 0), lambda step: 0.1, lambda step: 0.2]
    scheduler = ScheduleLR(optimizer, schedules)
    if way != "new":
        for group in optimizer.param_groups:
            group["lr"] = tensor
    if way == "both loaded":
        scheduler.load_state_dict(scheduler.state_dict())
    else:
        optimizer.step()
        scheduler.step()
    assert rates_of(optimizer) == pytest.approx([1.0 if way == "both loaded" else 0.75, 0.1, 0.2])
    first, *others = optimizer.param_groups
    assert first["lr"] is tensor
    optimizer.step()
    scheduler.step()
    assert rates_of(optimizer) == pytest.approx([0.75 if way == "both loaded" else 0.5, 0.1, 0.2])
    assert first["lr"] is tensor
    assert all(isinstance(group["lr"], torch.Tensor) for group in others)


@pytest.mark.parametrize(
    ("state", "error", "text"),
    [
        ({"last_epoch": 2, "base_lrs": [1.0]}, ValueError, "the optimizer has 2 groups"),
        ({"last_epoch": 2, "base_lrs": [1.0, "fast"]}, ValueError, "fast"),
        ({"last_epoch": 2, "base_lrs": [1.0, None]}, TypeError, "NoneType"),
        ({"last_epoch": 3}, ValueError, "^factor at step 3=-1"),  # from the second group
        ({"last_epoch": 1.5}, TypeError, "^last_epoch=1.5: expected a whole number"),
        ({"last_epoch": -1}, ValueError, "^last_epoch=-1: expected a whole number"),
        ({"base_lrs": [1.0, 1.0]}, KeyError, "last_epoch"),
        (None, TypeError, "NoneType"),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_state_that_is_none_changes_nothing(state, error, text, kind):
    optimizer = optimizer_at(1.0, kind=kind)
    tensors = [group["lr"] for group in optimizer.param_groups]
    schedules = [linear(8, 1, 0), lambda step: -1 if step == 3 else 0.5]
    scheduler = ScheduleLR(optimizer, schedules, step=1)
    before = rates_of(optimizer), scheduler.state_dict()
    with pytest.raises(error, match=text):
        scheduler.load_state_dict(state)
    assert (rates_of(optimizer), scheduler.state_dict()) == before
    if kind == "tensor":
        assert all(group["lr"] is one for group, one in zip(optimizer.param_groups, tensors))


def test_a_step_that_fails_changes_no_group():
    optimizer = optimizer_at(1.0, kind="tensor")
    scheduler = ScheduleLR(optimizer, [linear(8, 1, 0), lambda step: -1 if step else 0.5])
    assert rates_of(optimizer) == [1.0, 1.5]
    tensor = torch.tensor(1.0)
    for group in optimizer.param_groups:
        group["lr"] = tensor  # as other code may do
    optimizer.step()
    with pytest.raises(ValueError, match="^factor at step 1=-1"):
        scheduler.step()
    assert all(group["lr"] is tensor for group in optimizer.param_groups)
    assert tensor == 1.0


@pytest.mark.parametrize("whole", [numpy.int64, numpy.uint8, torch.tensor, bool])
def test_no_number_of_another_library_gets_into_the_checkpoint(whole):
    optimizer = optimizer_at(numpy.float64(1.0), numpy.float64(0.25))
    scheduler = ScheduleLR(optimizer, linear(4, 1, 0), step=whole(1))
    momentum = ScheduleMomentum(with_momentum("SGD"), linear(4, 1, 0), step=whole(1))
    for _ in range(2):
        for state in (scheduler.state_dict(), momentum.state_dict()):
            assert {type(value) for value in state.values()} == {int, list} or "first" in state
            assert type(state.get("last_epoch", state.get("last_step"))) is int
            through_a_file(state)
        scheduler.load_state_dict({"last_epoch": whole(1), "base_lrs": [numpy.float64(1.0)] * 2})
        momentum.load_state_dict({"last_step": whole(1), "first": [numpy.float64(0.5)] * 2})
    assert {type(rate) for rate in scheduler.base_lrs + momentum.first} == {float}


def test_the_state_is_a_copy():
    optimizer = with_momentum("Adam")
    for group in optimizer.param_groups:
        group["betas"] = (torch.tensor(0.5), 0.99)
    for scheduler, key in (
        (ScheduleLR(optimizer_at(1.0, kind="tensor"), linear(4, 1, 0)), "base_lrs"),
        (ScheduleMomentum(optimizer, linear(4, 1, 0)), "first"),
    ):
        state = scheduler.state_dict()
        state[key][0] *= 0.5
        assert scheduler.state_dict()[key][0] != state[key][0]
        scheduler.load_state_dict(state)
        state[key][0] *= 0.5
        assert scheduler.state_dict()[key][0] != state[key][0]


def stepped(value):
    def part(step):
        return 1.0

    part.steps = value
    return part


def test_parts_of_no_whole_number_of_steps_are_refused():
    for value, error in ((2.5, TypeError), ("2", TypeError), (2.0, TypeError), (-2, ValueError)):
        for n in range(2):
            parts = [linear(3, 1, 0), linear(3, 1, 0)]
            parts[n] = stepped(value)
            text = f"steps of part {n}={value!r}: expected a whole number of steps"
            with pytest.raises(error, match=f"^{re.escape(text)}"):
                sequence(*parts)
    assert sequence(stepped(numpy.int64(2)), linear(2, 1, 0)).steps == 4


# ---- ScheduleMomentum ----


def with_momentum(name, first=0.5, second=0.75, **options):
    groups = [{"params": [torch.zeros(1, requires_grad=True)]} for _ in range(2)]
    for group, momentum in zip(groups, (first, second)):
        if name in ("SGD", "RMSprop"):
            group["momentum"] = momentum
        else:
            group["betas"] = (momentum, 0.99 if group is groups[0] else 0.9)
    return getattr(torch.optim, name)(groups, lr=0.1, **options)


def momenta_of(optimizer):
    return [
        float(group["momentum"] if "momentum" in group else group["betas"][0])
        for group in optimizer.param_groups
    ]


NAMES = ["SGD", "RMSprop", "Adam", "AdamW", "NAdam", "RAdam", "Adamax"]


@pytest.mark.parametrize("name", NAMES)
def test_the_momentum_of_each_group_is_its_first_one_times_the_factor(name):
    optimizer = with_momentum(name)
    scheduler, found = (
        ScheduleMomentum(optimizer, sequence(linear(2, 1, 0.5), cosine(2, 0.5, 1))),
        [],
    )
    for _ in range(5):
        found.append(momenta_of(optimizer))
        assert scheduler.get_last_momentum() == found[-1]
        optimizer.step()
        scheduler.step()
    factors = [1.0, 0.75, 0.5, 0.75, 1.0]
    assert found == [pytest.approx([0.5 * factor, 0.75 * factor]) for factor in factors]
    seconds = [group["betas"][1] for group in optimizer.param_groups if "betas" in group]
    assert seconds in ([], [0.99, 0.9])


def test_the_step_moves_with_the_scheduled_momentum():
    optimizer = with_momentum("SGD", 0.5, 0.25)
    scheduler = ScheduleMomentum(optimizer, lambda step: 0.5**step)
    weights = [group["params"][0] for group in optimizer.param_groups]
    buffers = [0.0, 0.0]
    for step in range(4):
        for weight in weights:
            weight.grad = torch.ones(1)
        optimizer.step()
        scheduler.step()
        buffers = [1 + first * 0.5**step * each for first, each in zip((0.5, 0.25), buffers)]
    for weight, buffer in zip(weights, buffers):
        assert optimizer.state[weight]["momentum_buffer"].item() == pytest.approx(buffer)


def test_one_cycle_of_rates_and_momenta_is_that_of_torch():
    steps, lows, highs = 10, (0.85, 0.7), (0.95, 0.9)
    expected, found = [], []
    optimizer = with_momentum("Adam")
    one_cycle = torch.optim.lr_scheduler.OneCycleLR(
        optimizer,
        max_lr=[1.0, 2.0],
        total_steps=steps,
        pct_start=0.5,
        anneal_strategy="linear",
        base_momentum=list(lows),
        max_momentum=list(highs),
    )
    for _ in range(4):
        expected.append(momenta_of(optimizer))
        optimizer.step()
        one_cycle.step()
    optimizer = with_momentum("Adam", *highs)
    falling = [linear(4, 1, low / high) for low, high in zip(lows, highs)]
    scheduler = ScheduleMomentum(optimizer, falling)
    for _ in range(4):
        found.append(momenta_of(optimizer))
        scheduler.step()
    assert found == [pytest.approx(each) for each in expected]


@pytest.mark.parametrize("name", ["SGD", "Adam"])
@pytest.mark.parametrize("way", ["state first", "state last", "state alone", "step", "step alone"])
def test_momenta_are_resumed_at_their_step(name, way):
    schedules = [linear(8, 1, 0.5), cosine(8, 0.5, 1)]
    first = with_momentum(name)
    rates, momenta = ScheduleLR(first, linear(8, 1, 0)), ScheduleMomentum(first, schedules)
    for _ in range(3):
        first.step()
        rates.step()
        momenta.step()
    state, of_scheduler = (through_a_file(each.state_dict()) for each in (first, momenta))
    for _ in range(2):
        momenta.step()
    optimizer = with_momentum(name)
    if way == "step":
        optimizer.load_state_dict(state)
    if way in ("step", "step alone"):
        resumed = ScheduleMomentum(optimizer, schedules, step=3)
    else:
        resumed = ScheduleMomentum(optimizer, schedules)
        if way == "state last":
            optimizer.load_state_dict(state)
        resumed.load_state_dict(of_scheduler)
        if way == "state first":
            optimizer.load_state_dict(state)
    for _ in range(2):
        resumed.step()
    assert momenta_of(optimizer) == pytest.approx(momenta_of(first))
    assert resumed.state_dict() == momenta.state_dict()


def test_a_tensor_momentum_is_written_in_place_and_one_for_each_group():
    optimizer, tensor = with_momentum("Adam"), torch.tensor(0.5)
    optimizer.add_param_group({"params": [torch.zeros(1, requires_grad=True)]})
    for group in optimizer.param_groups:
        group["betas"] = (tensor, 0.99)
    scheduler = ScheduleMomentum(
        optimizer, [linear(4, 1, 0), linear(4, 0.5, 0.5), linear(4, 0.25, 0.25)]
    )
    scheduler.step()
    assert momenta_of(optimizer) == [0.375, 0.25, 0.125]
    assert optimizer.param_groups[0]["betas"][0] is tensor
    logged = scheduler.get_last_momentum()
    scheduler.step()
    assert logged == [torch.tensor(momentum) for momentum in (0.375, 0.25, 0.125)]
    assert {type(each) for each in logged} == {torch.Tensor}
    assert scheduler.first == [0.5, 0.5, 0.5]


def test_no_step_of_the_momentum_waits_for_the_device():
    optimizer = with_momentum("Adam")
    for group in optimizer.param_groups:
        group["betas"] = (torch.tensor(0.5, device="meta"), 0.99)  # a read would raise
    scheduler = ScheduleMomentum(optimizer, linear(4, 1, 0))
    scheduler.step()
    assert all(momentum.is_meta for momentum in scheduler.get_last_momentum())


def test_another_scheduler_begins_with_the_first_momentum_that_was_loaded():
    optimizer = with_momentum("SGD")
    scheduler = ScheduleMomentum(optimizer, linear(4, 1, 0))
    scheduler.load_state_dict({"last_step": 2, "first": [0.25, 0.125]})
    scheduler.step()
    assert momenta_of(optimizer) == [0.0625, 0.03125]
    ScheduleMomentum(optimizer, linear(4, 1, 0))
    assert momenta_of(optimizer) == [0.25, 0.125]


def test_of_a_momentum_and_several_betas_only_the_first_is_written():
    optimizer = with_momentum("SGD")
    both, three = optimizer.param_groups
    both["betas"], three["betas"] = (0.75, 0.9), (0.5, 0.9, 0.99)
    del three["momentum"]
    ScheduleMomentum(optimizer, linear(4, 1, 0), step=2)
    assert (both["momentum"], both["betas"]) == (0.25, (0.75, 0.9))
    assert three["betas"] == (0.25, 0.9, 0.99)


def test_a_list_of_schedules_is_copied():
    schedules = [linear(4, 1, 0)] * 2
    scheduler = ScheduleMomentum(with_momentum("SGD"), schedules)
    schedules.clear()
    scheduler.step()
    assert momenta_of(scheduler.optimizer) == [0.375, 0.5625]


@pytest.mark.parametrize("factor", [-1.0, math.nan, 2.0, 3.0, None])
def test_a_momentum_that_is_none_changes_nothing(factor):
    optimizer = with_momentum("SGD", 0.5, 0.5)
    scheduler = ScheduleMomentum(
        optimizer, [linear(8, 1, 0), lambda step: factor if step == 2 else 1]
    )
    scheduler.step()
    before = momenta_of(optimizer), scheduler.state_dict()
    text = "factor at step 2="
    if factor in (2.0, 3.0):
        text = f"momentum of group 1 at step 2 is {0.5 * factor}, not below"
    for call in (
        scheduler.step,
        lambda: scheduler.load_state_dict({"last_step": 2, "first": [0.5, 0.5]}),
    ):
        with pytest.raises(ValueError, match=text):
            call()
        assert (momenta_of(optimizer), scheduler.state_dict()) == before


@pytest.mark.parametrize(
    ("state", "error", "text"),
    [
        ({"last_step": 1.5, "first": [0.5, 0.5]}, TypeError, "^last_step=1.5: expected a whole nu"),
        ({"last_step": 1, "first": [0.5]}, ValueError, "the optimizer has 2 groups"),
        ({"last_step": 1, "first": [0.5, None]}, TypeError, "NoneType"),
        ({"last_step": 1}, KeyError, "first"),
        ({"first": [0.5, 0.5]}, KeyError, "last_step"),
    ],
)
def test_a_state_of_no_momenta_changes_nothing(state, error, text):
    optimizer = with_momentum("Adam")
    scheduler = ScheduleMomentum(optimizer, linear(8, 1, 0), step=2)
    before = momenta_of(optimizer), scheduler.state_dict()
    with pytest.raises(error, match=text):
        scheduler.load_state_dict(state)
    assert (momenta_of(optimizer), scheduler.state_dict()) == before


def test_optimizers_without_a_momentum_are_refused():
    weights = [torch.zeros(1, requires_grad=True) for _ in range(2)]
    adagrad = torch.optim.Adagrad([{"params": weights[:1]}, {"params": weights[1:]}])
    with pytest.raises(ValueError, match=r"^group 0 has no momentum and no betas, but \['"):
        ScheduleMomentum(adagrad, linear(4, 1, 0))
    with pytest.raises(ValueError, match=r"^the momentum is 0\.0, which no factor changes$"):
        ScheduleMomentum(torch.optim.SGD(weights, 0.1, momentum=0.0), linear(4, 1, 0))
    half = with_momentum("SGD")
    del half.param_groups[1]["momentum"]
    with pytest.raises(ValueError, match="^group 1 has no momentum and no betas"):
        ScheduleMomentum(half, linear(4, 1, 0))
    scheduler = ScheduleMomentum(with_momentum("SGD", 0.0, 0.5), linear(4, 1, 0), step=2)
    assert scheduler.get_last_momentum() == [0.0, 0.25]


def test_a_group_that_was_added_has_no_first_momentum():
    optimizer = with_momentum("SGD")
    scheduler = ScheduleMomentum(optimizer, linear(4, 1, 0))
    optimizer.add_param_group({"params": [torch.zeros(1, requires_grad=True)], "momentum": 0.5})
    text = "the optimizer has 3 groups, the scheduler 2: make another one for them, with step=1"
    with pytest.raises(ValueError, match=f"^{text}$"):
        scheduler.step()
    ScheduleMomentum(optimizer, linear(4, 1, 0), step=1)
    assert momenta_of(optimizer) == [0.375, 0.5625, 0.375]


def test_it_counts_as_a_scheduler_of_torch():
    assert issubclass(schedulers.ScheduleLR, LambdaLR)
