"""Tests fixes of several families in one run: pairs that trainers use, against plain torch."""

import contextlib
import copy
import gc
import itertools
import pickle
import random

import pytest
import torch
from torch import nn
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
)

from reference_fixes import (
    amp,
    attention,
    checkpoints,
    data_loading,
    loss,
    memory,
    modules,
    numerics,
    optimizers,
    randomness,
    rnn,
    schedulers,
)

pytestmark = pytest.mark.filterwarnings("ignore")  # deprecations, and two kinds of masks

HEADS, WORDS, WIDTH = 2, 7, 4
SHORT = 0.05  # the norm to which the gradients are clipped here
OLD = amp._TORCH < (2, 3)
NO_SCALER = "an enabled scaler for the CPU needs torch 2.3"
scaled_or_not = pytest.mark.parametrize(
    "scaled", [False, pytest.param(True, marks=pytest.mark.skipif(OLD, reason=NO_SCALER))]
)


@pytest.fixture(scope="module", autouse=True)
def few_objects_to_collect():
    """The many collections in free_memory() take longer if torch's modules have many objects."""
    torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0).zero_grad()  # imports more modules
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


class Net(nn.Module):
    """A model with tied weights, running statistics, dropout, attention and recurrence."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.norm = nn.BatchNorm1d(WIDTH)
        self.encoder = nn.TransformerEncoderLayer(WIDTH, HEADS, 8, dropout=0.25, batch_first=True)
        self.rnn = nn.LSTM(WIDTH, WIDTH, num_layers=2, dropout=0.25, batch_first=True)
        self.head = nn.Linear(WIDTH, WORDS)
        self.head.weight = self.embedding.weight

    def forward(self, words, mask):
        """Returns the output for words of shape (batch, length), or for vectors instead."""
        vectors = words if words.is_floating_point() else self.embedding(words)
        vectors = self.norm(vectors.transpose(1, 2)).transpose(1, 2)
        return self.head(self.rnn(self.encoder(vectors, mask))[0])


def two_groups(model, rate=0.1):
    """AdamW on two groups. With its large eps, rounding errors do not turn into signs."""
    first = [*model.embedding.parameters(), *model.norm.parameters()]
    taken = set(map(id, first))
    second = [each for each in model.parameters() if id(each) not in taken]
    groups = [{"params": first, "weight_decay": 0.1}, {"params": second, "lr": rate / 2}]
    return torch.optim.AdamW(groups, lr=rate, eps=0.01, foreach=False)


def factor(step):
    return 0.5 + step / 8 if step < 4 else 0.5 ** (step - 4)


def momentum_factor(step):
    return 1 - min(step, 4) / 8


RATES = schedulers.sequence(schedulers.linear(4, 0.5, 1), lambda step: 0.5**step)
MOMENTA = schedulers.linear(4, 1, 0.5)


class Run:
    """The parts of a trainer, which have the same weights and batches each time."""

    def __init__(self, device, scaled=False, scheduled=False, rate=0.1):
        torch.manual_seed(0)
        self.model = self.called = Net().to(device)
        self.optimizer = two_groups(self.model, rate)
        precision = amp.Precision(device, torch.float32, scaled, "a test")
        # With a power of two, unscaling restores the gradients exactly.
        self.scaler = amp.make_grad_scaler(precision, init_scale=2.0**6)
        self.parts = {"model": self.model, "optimizer": self.optimizer, "scaler": self.scaler}
        if scheduled:
            self.parts["rates"] = schedulers.ScheduleLR(self.optimizer, RATES)
            self.parts["momenta"] = schedulers.ScheduleMomentum(self.optimizer, MOMENTA)
        words = torch.arange(60).view(10, 2, 3) ** 2 % WORDS
        self.batches = list(words.to(device))
        padding = torch.tensor([[False, False, False], [False, False, True]], device=device)
        bias = torch.linspace(-1, 1, 3, device=device).expand(3, 3)
        mask, _ = attention.attention_mask(padding, HEADS, causal=True, bias=bias)
        self.mask = mask.flatten(0, 1)

    def loss(self, words):
        output = self.called(words, self.mask)
        return nn.functional.cross_entropy(output.flatten(0, 1), words.ravel())

    def step_schedules(self):
        for part in ("rates", "momenta"):
            self.parts[part].step()

    def set_by_hand(self, step):
        """Sets the learning rates and momenta that the two schedules give at this step."""
        for group, rate in zip(self.optimizer.param_groups, (0.1, 0.05, 0.1)):
            group["lr"] = rate * factor(step)
            group["betas"] = (0.9 * momentum_factor(step), group["betas"][1])

    def state(self):
        state, groups = self.optimizer.state_dict()["state"], self.optimizer.param_groups
        numbers = [[float(group["lr"]), *map(float, group["betas"])] for group in groups]
        return copy.deepcopy([self.model.state_dict(), state, numbers])


def numbers():
    """The states of torch's random generators."""
    return torch.get_rng_state(), torch.cuda.get_rng_state_all()


def draw_from(state):
    torch.set_rng_state(state[0])
    torch.cuda.set_rng_state_all(state[1])


def plain_window(run, words):
    """Takes a clipped step on the mean loss of some batches, with plain torch."""
    run.optimizer.zero_grad()
    for batch in words:
        (run.loss(batch) / len(words)).backward()
    parameters = [each for group in run.optimizer.param_groups for each in group["params"]]
    parameters = [each for each in parameters if each.grad is not None]
    assert nn.utils.clip_grad_norm_(parameters, SHORT) > SHORT
    run.optimizer.step()


def nothing(run):
    pass


def fixed_window(run, window, middle=nothing, before=nothing):
    """plain_window() with the fixes. `middle` follows the first backward(), `before` precedes the
    step."""
    run.optimizer.zero_grad()
    for batch, share, last in window:
        run.scaler.scale(run.loss(batch) * share).backward()
        if not last:
            middle(run)
    before(run)
    return amp.optimizer_step(run.optimizer, run.scaler, max_norm=SHORT)


def assert_same(one, other, said, exact=True):
    """Compares bit by bit on the CPU. Other devices add numbers in a different order."""
    exact = exact and all(value.device.type == "cpu" for value in one[0].values())
    torch.testing.assert_close(
        one,
        other,
        rtol=0 if exact else 1e-4,
        atol=0 if exact else 1e-5,
        msg=lambda text: f"{said}: {text}",
    )


# --- code between the training steps leaves no trace in them ------------------------------


def out_of_memory(size):
    if size > 3:
        raise RuntimeError("CUDA out of memory.")


def kept_error():
    try:
        out_of_memory(4)
    except RuntimeError as error:
        return error


def scratch(run):
    with memory.scratch_gradients(run.model), rnn.differentiable_eval(run.model):
        run.loss(run.batches[0]).backward()


def validation(run, context):
    with torch.no_grad(), context(run.model), attention.without_fast_path(run.model):
        run.model.eval()
        run.loss(run.batches[0])


def in_other_objects(run):
    checkpoint = checkpoints.capture(**run.parts)
    other = Run(run.mask.device.type, run.scaler.is_enabled())  # Run() draws random numbers
    with rnn.no_grad_eval(other.model):
        assert checkpoints.restore(checkpoint, **other.parts) == []


def search(run):
    def two_steps(size):
        out_of_memory(size)
        trial = copy.deepcopy(run.model)
        modules.freeze(trial)  # disables dropout, which would draw random numbers
        modules.unfreeze(trial.head)
        optimizer = torch.optim.Adam(trial.parameters())
        for _ in range(2):
            trial(run.batches[0][:size], run.mask[: size * HEADS]).sum().backward()
            assert amp.optimizer_step(optimizer, max_norm=SHORT)

    assert memory.find_batch_size(two_steps, largest=4) == 3


def frozen_meanwhile(run):
    modules.freeze(run.model)
    run.model.train()
    with attention.without_fast_path(run.model):  # for the frozen encoder, which has no graph
        find_nonfinite(run)
    modules.unfreeze(run.model)


def there_and_back(run):
    good = numerics.Snapshot(*run.parts.values())
    with torch.random.fork_rng():
        run.optimizer.zero_grad()
        (run.loss(run.batches[0]) * 9).backward()
        assert not numerics.clip_or_skip(run.optimizer, SHORT).skipped
    good.restore()


def draw(run):
    generator = torch.Generator().manual_seed(1)
    for fill in (randomness.normal_, randomness.trunc_normal_, randomness.exponential_):
        fill(torch.empty(5), generator=generator)


def find_nonfinite(run):
    assert numerics.find_nonfinite(run.model, run.batches[0], mask=run.mask) is None


def input_gradients(run):
    vectors = run.model.embedding(run.batches[0])
    assert rnn.input_gradients(run.model, vectors, run.mask)[0].abs().sum() > 0


def restored(run):
    assert checkpoints.restore(checkpoints.capture(**run.parts), **run.parts) == []


def loaded(run):
    assert not checkpoints.load_matching(run.model, run.model.state_dict()).missing
    optimizers.load_optimizer_state(run.optimizer, run.optimizer.state_dict())


ANYWHERE = {  # even between a backward() and the step
    "find_nonfinite": find_nonfinite,
    "Snapshot": lambda run: numerics.Snapshot(*run.parts.values()),
    "scratch_gradients": scratch,
    "input_gradients": input_gradients,
    "no_grad_eval": lambda run: validation(run, rnn.no_grad_eval),
    "restore_modes": lambda run: validation(run, rnn.restore_modes),
    "check_parameters": lambda run: optimizers.check_parameters(run.model, run.optimizer),
    "check_gradients": lambda run: loss.check_gradients(run.model, scaled=True),
    "restore": restored,
    "restore elsewhere": in_other_objects,
    "load": loaded,
    "find_batch_size": search,
    "free_memory": lambda run: (memory.drop_frames(kept_error()), memory.free_memory()),
    "random numbers": draw,
}
BETWEEN = {"freeze": frozen_meanwhile, "Snapshot.restore": there_and_back}


@pytest.mark.parametrize("first", ANYWHERE)
def test_whatever_is_called_beside_the_steps_training_goes_on_as_alone(device, first):
    """Runs each pair in one window: one fix in the middle, the other before or after the step."""
    run, plain = Run(device, scaled=not OLD), Run(device)
    names = [*ANYWHERE, *BETWEEN]
    for number, second in enumerate(names[names.index(first) :]):
        words = list(itertools.islice(itertools.cycle(run.batches), number, number + 2))
        before = numbers()
        plain_window(plain, words)
        after = numbers()
        draw_from(before)
        (window,) = amp.windows(words, 2)
        assert fixed_window(run, window, ANYWHERE[first], ANYWHERE.get(second, nothing))
        BETWEEN.get(second, nothing)(run)
        assert_same(run.state(), plain.state(), f"{first} and {second}")
        assert torch.equal(numbers()[0], after[0]), f"{first} and {second}"
    assert all(module.training for module in run.model.modules())


@contextlib.contextmanager
def evaluated(model):
    with rnn.restore_modes(model):
        model.eval()
        yield


BLOCKS = {
    "restore_modes": evaluated,
    "no_grad_eval": rnn.no_grad_eval,
    "differentiable_eval": rnn.differentiable_eval,
    "without_fast_path": attention.without_fast_path,
    "scratch_gradients": memory.scratch_gradients,
    "cudnn_flags": lambda _: rnn.cudnn_flags(deterministic=True),
}
EVALUATED = {"restore_modes", "no_grad_eval", "differentiable_eval"}


def looks(model):
    """The settings that a block has to restore."""
    switch = getattr(getattr(torch.backends, "mha", None), "get_fastpath_enabled", lambda: True)
    return (
        [(type(part), part.training, part.__dict__.get("dropout")) for part in model.modules()],
        [(id(each), id(each.grad), each.requires_grad) for each in model.parameters()],
        [torch.is_grad_enabled(), torch.is_inference_mode_enabled(), switch()],
        [torch.backends.cudnn.enabled, torch.backends.cudnn.deterministic],
    )


@pytest.mark.parametrize("frozen", ["nothing", "encoder", "all"])
def test_blocks_in_any_order_give_the_answer_of_eval_mode_and_leave_no_trace(device, frozen):
    run = Run(device)
    plain_window(run, run.batches[:2])
    vectors = run.model.embedding(run.batches[0]).detach().requires_grad_()
    expected = copy.deepcopy(run.model).eval()(vectors, run.mask)  # has a graph, so it is not fused
    (wanted,) = torch.autograd.grad(expected.square().sum(), vectors)
    if frozen != "nothing":
        modules.freeze(run.model if frozen == "all" else getattr(run.model, frozen))
    before, gradients = looks(run.model), [each.grad for each in run.model.parameters()]
    kept = copy.deepcopy(gradients)
    for chosen in itertools.permutations(BLOCKS, 3):
        if not EVALUATED & set(chosen):
            continue
        with contextlib.ExitStack() as stack:
            for name in chosen:
                stack.enter_context(BLOCKS[name](run.model))
            output = run.model(vectors, run.mask)
            if "without_fast_path" in chosen or output.requires_grad:
                torch.testing.assert_close(output, expected, msg=str(chosen))
            if output.requires_grad and (device != "cuda" or run.model.rnn.training):
                (gradient,) = torch.autograd.grad(output.square().sum(), vectors, retain_graph=True)
                torch.testing.assert_close(gradient, wanted, msg=str(chosen))
                if "scratch_gradients" in chosen:
                    output.sum().backward()
            (gradient,) = rnn.input_gradients(
                run.model, vectors, mask=run.mask, target=lambda output: output.square().sum()
            )[:1]
            torch.testing.assert_close(gradient, wanted, msg=str(chosen))
        assert looks(run.model) == before, chosen
    assert all(one is other or torch.equal(one, other) for one, other in zip(kept, gradients))


@pytest.mark.parametrize("block", sorted(EVALUATED))
def test_what_is_frozen_or_unfrozen_in_a_block_stays_so(device, block):
    run = Run(device)
    modules.freeze(run.model.rnn)
    with BLOCKS[block](run.model):
        modules.freeze(run.model.norm)
        modules.unfreeze(run.model.rnn)
    assert run.model.training
    assert run.model.rnn.training
    assert not run.model.norm.training
    before = run.model.norm.running_mean.clone()
    run.loss(run.batches[0]).backward()
    assert torch.equal(run.model.norm.running_mean, before)


class Tuned(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(WIDTH, WIDTH)
        self.encoder = nn.TransformerEncoderLayer(WIDTH, HEADS, 8, batch_first=True)

    def forward(self, vectors, mask):
        return self.encoder(self.first(vectors), mask)


def test_a_frozen_encoder_that_is_finite_in_training_is_so_in_a_search(device):
    run = Run(device)
    model = Tuned().to(device)
    modules.freeze(model.encoder)
    vectors = torch.ones(2, 3, WIDTH, device=device)
    assert model(vectors, run.mask).isfinite().all()
    assert numerics.find_nonfinite(model, vectors, run.mask) is None


@pytest.mark.parametrize("depth", [1, 2])
def test_attention_that_is_frozen_without_its_fast_path_stays_frozen(device, depth):
    model = Run(device).model.encoder
    kinds = [type(part) for part in model.modules()]
    with contextlib.ExitStack() as stack:
        for _ in range(depth):
            stack.enter_context(attention.without_fast_path(model))
        modules.freeze(model)
    assert not any(part.training for part in model.train().modules())
    again = pickle.loads(pickle.dumps(model))
    with attention.without_fast_path(again):
        assert not any(part.training for part in again.train().modules())
    for thawed in (model, again):
        modules.unfreeze(thawed)
        assert all(part.training for part in thawed.train().modules())
    assert [type(part) for part in model.modules()] == kinds


# --- failed steps, and the recovery from them -----------------------------------------------------

STEPS = {
    "optimizer_step": lambda run: amp.optimizer_step(run.optimizer, run.scaler, max_norm=SHORT),
    "clip_or_skip": lambda run: not numerics.clip_or_skip(run.optimizer, SHORT).skipped,
}


@pytest.mark.parametrize("back", ["Snapshot", "restore"])
@pytest.mark.parametrize(
    ("step", "scaled"),
    [
        ("optimizer_step", False),
        pytest.param("optimizer_step", True, marks=pytest.mark.skipif(OLD, reason=NO_SCALER)),
        ("clip_or_skip", False),
    ],
)
def test_after_a_bad_window_all_goes_on_as_if_it_had_not_been(device, step, scaled, back):
    run, plain = Run(device, scaled, scheduled=True), Run(device)
    for number in range(6):
        words = run.batches[number : number + 2]
        before = numbers()
        plain.set_by_hand(number)
        plain_window(plain, words)
        draw_from(before)
        if number == 3:
            good = numerics.Snapshot(*run.parts.values())
            checkpoint = checkpoints.capture(**run.parts)
            run.optimizer.zero_grad()
            last = run.optimizer.param_groups[1]["params"][-1]
            handle = last.register_hook(lambda gradient: gradient * torch.inf)
            run.scaler.scale(run.loss(words[0])).backward()
            handle.remove()
            assert not STEPS[step](run)
            run.step_schedules()
            if back == "Snapshot":
                good.restore()
                draw_from(before)  # random states are not part of a snapshot
            else:
                assert checkpoints.restore(checkpoint, **run.parts) == []
        (window,) = amp.windows(words, 2)
        run.optimizer.zero_grad()
        for batch, share, _ in window:
            run.scaler.scale(run.loss(batch) * share).backward()
        assert STEPS[step](run)
        assert_same(run.state(), plain.state(), number, exact=step == "optimizer_step")
        run.step_schedules()
    if scaled:
        assert run.scaler.get_scale() == 2.0**6


@pytest.mark.skipif(OLD, reason=NO_SCALER)
def test_gradients_of_a_step_that_raised_are_refused_whatever_looked_at_them(device):
    run, plain = Run(device, scaled=True), Run(device)
    first, second = run.batches[:1], run.batches[1:3]

    def refuse():
        loss.check_gradients(run.model)
        raise loss.GradientError("not these")

    for look in ANYWHERE:
        before = numbers()
        plain.loss(*first)  # changes the running statistics
        plain_window(plain, second)
        draw_from(before)
        run.optimizer.zero_grad()
        run.scaler.scale(run.loss(*first)).backward()
        with pytest.raises(loss.GradientError, match="not these"):
            amp.optimizer_step(run.optimizer, run.scaler, before_step=refuse)
        ANYWHERE[look](run)
        with pytest.raises(RuntimeError, match="gradients of a call that raised"):
            amp.optimizer_step(run.optimizer, run.scaler)
        (window,) = amp.windows(second, 2)
        assert fixed_window(run, window)
        assert_same(run.state(), plain.state(), look)


@pytest.mark.parametrize("where", ["forward", "step"])
def test_a_window_that_ran_out_of_memory_is_repeated_in_smaller_batches(device, where):
    run, plain = Run(device, scaled=not OLD), Run(device)
    for one in (run, plain):  # eval mode does not use batch statistics
        one.model.eval()
    failing = run.model.head if where == "forward" else run.optimizer
    name = "register_forward_hook" if where == "forward" else "register_step_pre_hook"
    if not hasattr(failing, name):
        pytest.skip("an optimizer has no hooks before torch 2.0")
    handle = getattr(failing, name)(lambda *_: out_of_memory(4))
    for number in range(0, 6, 2):
        words = run.batches[number : number + 2]
        plain_window(plain, words)
        (window,) = amp.windows(words, 2)
        try:
            assert fixed_window(run, window)
        except RuntimeError as error:
            if not memory.is_out_of_memory(error):
                raise
            memory.free_memory()
            handle.remove()
            run.optimizer.zero_grad()
            rows = [
                (row[None], mask)
                for batch in words
                for row, mask in zip(batch, run.mask.split(HEADS))
            ]
            for (row, mask), share, _ in next(amp.windows(rows, 4)):
                part = nn.functional.cross_entropy(run.model(row, mask).flatten(0, 1), row.ravel())
                run.scaler.scale(part * share).backward()
            assert amp.optimizer_step(run.optimizer, run.scaler, max_norm=SHORT)
    torch.testing.assert_close(run.state(), plain.state())


def test_a_running_mean_is_a_part_of_a_checkpoint(device):
    losses = [torch.tensor(value, device=device) for value in (1.0, 2.0, 6.0)]
    mean, again, whole = loss.RunningMean(), loss.RunningMean(), loss.RunningMean()
    mean.update(losses[0], weight=3)
    checkpoint = checkpoints.capture(mean=mean)
    mean.update(losses[1])
    for restored in (mean, again):
        assert checkpoints.restore(checkpoint, mean=restored) == []
        restored.update(losses[2])
    whole.update(losses[0], weight=3)
    whole.update(losses[2])
    assert mean.compute() == again.compute() == whole.compute()


# --- parts that are added and removed -------------------------------------------------------------


def reload(name, checkpoint, run):
    if name == "freeze":
        modules.freeze(run.model.norm)
    elif name == "model":
        assert not checkpoints.load_matching(run.model, checkpoint).missing
    elif name == "optimizer":
        optimizers.load_optimizer_state(run.optimizer, checkpoint["objects"]["optimizer"])
    else:
        checkpoints.restore(checkpoint, **{name: run.parts[name]})


@pytest.mark.parametrize("tensor", [False, True])
def test_a_checkpoint_goes_back_into_new_objects_in_any_order(device, tmp_path, tensor):
    rate = torch.tensor(0.1) if tensor else 0.1
    run, plain = Run(device, scheduled=True, rate=rate), Run(device)
    for number in range(4):
        words = run.batches[number : number + 2]
        if number == 2:
            modules.freeze(run.model.norm)
            plain.model.norm.eval().requires_grad_(False)
            for parameter in plain.model.norm.parameters():
                parameter.grad = None
        if number == 3:
            checkpoints.save(checkpoints.capture(**run.parts), tmp_path / "run.pt")
        before = numbers()
        plain.set_by_hand(number)
        plain_window(plain, words)
        draw_from(before)
        if number < 3:
            (window,) = amp.windows(words, 2)
            assert fixed_window(run, window)
            assert_same(run.state(), plain.state(), number, exact=not tensor)
            run.step_schedules()
    checkpoint = torch.load(tmp_path / "run.pt")
    for number, order in enumerate(
        itertools.permutations(["model", "optimizer", "rates", "momenta"])
    ):
        run = Run(device, scheduled=True, rate=copy.deepcopy(rate))
        order = order[: number % 5] + ("freeze",) + order[number % 5 :]
        for name in order:
            reload(name, checkpoint, run)
        draw_from(before)
        (window,) = amp.windows(words, 2)
        assert fixed_window(run, window)
        assert_same(run.state(), plain.state(), order, exact=not tensor)


def test_a_part_that_thaws_gets_a_group_and_a_place_in_the_schedules(device):
    run, plain = Run(device), Run(device)
    modules.freeze(run.model.encoder)
    plain.model.encoder.eval().requires_grad_(False)
    for one in (run, plain):
        late = set(map(id, one.model.encoder.parameters()))
        for group in one.optimizer.param_groups:
            group["params"] = [each for each in group["params"] if id(each) not in late]
    optimizers.check_parameters(run.model, run.optimizer)
    rates = schedulers.ScheduleLR(run.optimizer, RATES)
    momenta = schedulers.ScheduleMomentum(run.optimizer, MOMENTA)
    for number in range(6):
        words = run.batches[number : number + 2]
        if number == 3:
            state = run.optimizer.state_dict()
            modules.unfreeze(run.model.encoder)
            plain.model.encoder.train().requires_grad_(True)
            with pytest.raises(
                ValueError, match="in no optimizer: encoder.self_attn.in_proj_weight"
            ):
                optimizers.check_parameters(run.model, run.optimizer)
            for one in (run, plain):
                group = {"params": list(one.model.encoder.parameters()), "lr": 0.1}
                one.optimizer.add_param_group(group)
            optimizers.check_parameters(run.model, run.optimizer)
            with pytest.raises(ValueError, match="the optimizer has groups of"):
                optimizers.load_optimizer_state(run.optimizer, state)
            for schedule in (rates, momenta):
                with pytest.raises(ValueError, match="make another one for them, with step=3"):
                    schedule.step()
            rates = schedulers.ScheduleLR(run.optimizer, RATES, step=3)
            momenta = schedulers.ScheduleMomentum(run.optimizer, MOMENTA, step=3)
        before = numbers()
        plain.set_by_hand(number)
        plain_window(plain, words)
        draw_from(before)
        (window,) = amp.windows(words, 2)
        assert fixed_window(run, window, before=lambda run: loss.check_gradients(run.model))
        assert_same(run.state(), plain.state(), number)
        if number != 2:
            rates.step()
            momenta.step()


# --- the loader ----------------------------------------------------------------------------------


class Rows(Dataset):
    """Row n consists of n and a number from the dataset's own generator."""

    def __init__(self):
        self.own = random.Random(0)

    def __len__(self):
        return 11

    def __getitem__(self, index):
        return {"row": torch.tensor(index), "drawn": self.own.random()}


class Stream(IterableDataset):
    def __init__(self):
        self.own = random.Random(0)

    def __iter__(self):
        for row in data_loading.shard(range(11)):
            yield {"row": torch.tensor(row), "drawn": self.own.random()}


def loader_of(dataset, workers, **options):
    return DataLoader(
        dataset,
        num_workers=workers,
        timeout=60 if workers else 0,
        worker_init_fn=data_loading.seed_worker,
        collate_fn=data_loading.collate,
        **options,
    )


def test_a_stream_in_windows_has_each_row_once_and_no_number_twice(device):
    torch.manual_seed(0)
    loader = loader_of(Stream(), 2, batch_size=2, persistent_workers=True)
    for _ in range(2):
        batches, rows, drawn, shares = data_loading.Prefetcher(loader, device), [], [], []
        for window in amp.windows(batches, 4, weight=lambda batch: len(batch["row"])):
            for batch, share, _ in window:
                assert batch["row"].device.type == device
                rows += batch["row"].tolist()
                drawn += batch["drawn"].tolist()
                shares.append(share)
        assert sorted(rows) == list(range(11))
        assert len(set(drawn)) == 11
        assert sum(shares) == pytest.approx(2)


@pytest.mark.parametrize("workers", [0, 2])
def test_windows_of_an_epoch_go_on_where_they_were_interrupted(device, workers):
    sampler = RandomSampler(Rows(), generator=torch.Generator().manual_seed(3))
    expected = [list(BatchSampler(sampler, 2, drop_last=False)) for _ in range(2)]

    def start():
        generator = torch.Generator().manual_seed(3)
        batches = data_loading.ResumableBatches(
            BatchSampler(RandomSampler(range(11), generator=generator), 2, drop_last=False)
        )
        return batches, loader_of(
            Rows(), workers, batch_sampler=batches, persistent_workers=workers > 0
        )

    def epoch(batches, loader):
        for window in amp.windows(batches.counted(data_loading.Prefetcher(loader, device)), 4):
            yield [batch["row"].tolist() for batch, _, _ in window]

    batches, loader = start()
    first = epoch(batches, loader)
    assert next(first) == expected[0][:4]
    checkpoint = checkpoints.capture(batches=batches)
    other, loader = start()
    assert checkpoints.restore(checkpoint, batches=other) == []
    assert list(epoch(other, loader)) == [expected[0][4:]]
    assert list(epoch(other, loader)) == [expected[1][:4], expected[1][4:]]


@pytest.mark.parametrize("weight", [None, len])
@pytest.mark.parametrize("size", [3, 4])  # windows of 3 and 3 batches, or of 4 and 2
def test_of_an_epoch_saved_after_its_last_window_nothing_is_left(size, weight):
    def start():
        sampler = RandomSampler(range(11), generator=torch.Generator().manual_seed(3))
        batches = data_loading.ResumableBatches(BatchSampler(sampler, 2, drop_last=False))
        return batches, DataLoader(range(11), batch_sampler=batches)

    def epoch(batches, loader):
        for window in amp.windows(batches.counted(loader), size, weight):
            yield [batch.tolist() for batch, _, _ in window]

    batches, loader = start()
    first = epoch(batches, loader)
    assert len([next(first), next(first)]) == 2
    checkpoint = checkpoints.capture(batches=batches)
    assert list(first) == []
    expected = list(epoch(batches, loader))
    other, loader = start()
    assert checkpoints.restore(checkpoint, batches=other) == []
    assert [list(epoch(other, loader)) for _ in range(2)] == [[], expected]


def test_a_whole_epoch_without_batches_is_refused_in_windows():
    batches = data_loading.ResumableBatches(BatchSampler([], 2, drop_last=False))
    with pytest.raises(ValueError, match=r"^no batches"):
        list(amp.windows(batches.counted(DataLoader([], batch_sampler=batches)), 2))


@pytest.mark.parametrize("finished", [0, 1])
@pytest.mark.parametrize("given", [0, 2])
@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("prefetched", [False, True])
def test_wherever_a_run_is_resumed_it_draws_as_if_it_had_not_been(
    device, prefetched, persistent, given, finished
):
    def start(seed):
        torch.manual_seed(seed)
        sampler = RandomSampler(range(11), generator=torch.Generator().manual_seed(3))
        batches = data_loading.ResumableBatches(BatchSampler(sampler, 2, drop_last=False))
        loader = loader_of(
            Rows(), int(persistent), batch_sampler=batches, persistent_workers=persistent
        )
        return batches, data_loading.Prefetcher(loader, device) if prefetched else loader

    def drawn(epoch):
        return [float(torch.rand(1)) for _ in epoch]

    batches, loader = start(0)
    for _ in range(finished):
        drawn(batches.counted(loader))
    epoch = batches.counted(loader)
    drawn(itertools.islice(epoch, given))
    checkpoint = checkpoints.capture(batches=batches)
    expected = [drawn(epoch), drawn(batches.counted(loader))]
    batches, loader = start(1)
    assert checkpoints.restore(checkpoint, batches=batches) == []
    assert [drawn(batches.counted(loader)) for _ in expected] == expected


def test_a_row_that_does_not_fit_is_named_before_anything_was_stepped(device):
    rows = [{"x": torch.zeros(2)}] * 5 + [{"x": torch.zeros(3)}]
    loader = DataLoader(rows, batch_size=2, collate_fn=data_loading.collate)
    seen = []
    with pytest.raises(RuntimeError, match=r"sample\['x'\] does not fit: float32 \[2\] in 0"):
        seen.extend(
            share
            for window in amp.windows(data_loading.Prefetcher(loader, device), 2)
            for _, share, _ in window
        )
    assert seen == [0.5, 0.5]


# --- gradients in shared memory -----------------------------------------------------------


@pytest.fixture
def one_rank(tmp_path, monkeypatch, device):
    if device != "cpu" or not torch.distributed.is_available():
        pytest.skip("the ranks of this test are on the CPU")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)  # must not be queried
    meeting = f"file://{tmp_path / 'meeting'}"
    torch.distributed.init_process_group("gloo", init_method=meeting, rank=0, world_size=1)
    yield
    torch.distributed.destroy_process_group()


def counted_reduction(count, bucket):
    count.append(bucket.index())
    done = torch.futures.Future()
    done.set_result(bucket.buffer())
    return done


@pytest.mark.parametrize("views", [False, True])
def test_windows_of_ddp_reduce_once_whatever_looks_at_its_gradients(one_rank, views):
    run, plain, reductions = Run("cpu", scaled=not OLD), Run("cpu"), []
    run.called = nn.parallel.DistributedDataParallel(run.model, gradient_as_bucket_view=views)
    run.called.register_comm_hook(reductions, counted_reduction)
    names = [*ANYWHERE, *BETWEEN]
    for number, name in enumerate(names):
        words = (run.batches * 2)[number : number + 2]
        before = numbers()
        plain_window(plain, words)
        draw_from(before)
        run.optimizer.zero_grad()
        for batch, share, last in next(amp.windows(words, 2)):
            with contextlib.nullcontext() if last else run.called.no_sync():
                run.scaler.scale(run.loss(batch) * share).backward()
            assert bool(reductions) is last
        ANYWHERE.get(name, nothing)(run)
        assert amp.optimizer_step(run.optimizer, run.scaler, max_norm=SHORT)
        BETWEEN.get(name, nothing)(run)
        assert_same(run.state(), plain.state(), name)
        reductions.clear()
    optimizers.check_parameters(run.called, run.optimizer)


# --- one trainer with all the fixes ---------------------------------------------------------------


class Sentences(Dataset):
    """Words, padded at the end, and the word to predict at each position; -1 means unknown."""

    def __len__(self):
        return 17

    def __getitem__(self, index):
        words = (torch.arange(4) * (index + 3)) ** 2 % WORDS
        padding = torch.arange(4) >= 4 - index % 3
        target = ((words + index) % WORDS).masked_fill(padding | (torch.arange(4) == index % 5), -1)
        return {"words": words, "padding": padding, "target": target}


def known(batch):
    return int((batch["target"] >= 0).sum())


def sampler_of(generator):
    return BatchSampler(RandomSampler(range(17), generator=generator), 2, drop_last=False)


def pretrained(device):
    torch.manual_seed(5)
    model = Net().to(device)
    bias = torch.empty(WORDS, device=device)
    return model, randomness.trunc_normal_(bias, std=0.02)


class Trainer:
    def __init__(self, device, seed, scores):
        model, bias = pretrained(device)
        torch.manual_seed(seed)
        random.seed(seed)
        self.model, self.noise = Net().to(device), torch.Generator(device).manual_seed(1)
        state = {"epoch": 1, "state_dict": nn.DataParallel(model).state_dict()}
        assert not checkpoints.load_matching(self.model, state).missing
        self.model.head.bias.data.copy_(bias)
        modules.freeze(self.model.norm)
        self.optimizer = two_groups(self.model)
        optimizers.check_parameters(self.model, self.optimizer)
        self.precision = amp.choose_precision(device, torch.float32)._replace(scaler=not OLD)
        self.scaler = amp.make_grad_scaler(self.precision, init_scale=2.0**6)
        self.rates = schedulers.ScheduleLR(self.optimizer, RATES)
        self.momenta = schedulers.ScheduleMomentum(self.optimizer, MOMENTA)
        sampler = sampler_of(torch.Generator().manual_seed(2))
        self.batches = data_loading.ResumableBatches(sampler)
        self.loader = loader_of(Sentences(), 2, batch_sampler=self.batches)
        self.step, self.seen, self.means, self.scores = 0, 0, [], scores
        names = ["model", "optimizer", "scaler", "rates", "momenta", "batches", "noise", "mean"]
        self.mean = loss.RunningMean()
        self.parts = {name: getattr(self, name) for name in names}

    def loss(self, batch, noise=None):
        vectors = self.model.embedding(batch["words"])
        if noise is not None:
            vectors = vectors + randomness.normal_(torch.empty_like(vectors), 0, 0.1, noise)
        mask, _ = attention.attention_mask(batch["padding"], HEADS, causal=True)
        outputs = {"words": self.model(vectors, mask.flatten(0, 1)), "vectors": vectors}
        output, target = loss.match_by_name(outputs, {"words": batch["target"]})["words"]
        there = target >= 0
        chances = output.softmax(-1).gather(-1, target.clamp(min=0)[..., None])[..., 0]
        return -loss.masked_mean(numerics.apply_where(there, torch.log, chances), there)

    def window(self, window, fails):
        self.optimizer.zero_grad()
        for batch, share, _ in window:
            self.seen += 1
            if self.seen in fails:
                raise RuntimeError("CUDA out of memory.")
            batch = data_loading.to_device(batch, self.precision.device)
            with self.precision.autocast():
                value = self.loss(batch, self.noise)
            self.scaler.scale(value * share).backward()
            self.mean.update(value, weight=known(batch))
        assert amp.optimizer_step(
            self.optimizer,
            self.scaler,
            max_norm=SHORT,
            before_step=lambda: loss.check_gradients(self.model),
        )
        self.rates.step()
        self.momenta.step()
        self.step += 1

    def epoch(self, path, fails):
        for window in amp.windows(self.batches.counted(self.loader), 2, weight=known):
            self.window(window, fails)
            if self.step % 3 == 0:
                values = {"step": self.step, "means": self.means}
                checkpoints.save(checkpoints.capture(**self.parts, **values), path)
            if self.step % 2 == 0:
                self.evaluate()
        self.means.append(self.mean.compute())
        self.mean.load_state_dict(loss.RunningMean().state_dict())

    def resume(self, path):
        checkpoint = torch.load(path)
        assert checkpoints.restore(checkpoint, **self.parts) == []
        values = checkpoint["values"]
        self.step, self.means = values["step"], values["means"]

    def evaluate(self):
        """Evaluates, and also does everything that people inspect or try between steps."""
        batch = data_loading.to_device(
            data_loading.collate([Sentences()[3]]), self.precision.device
        )
        with rnn.no_grad_eval(self.model), attention.without_fast_path(self.model):
            mean = loss.RunningMean()
            mean.update(self.loss(batch))
        self.scores[self.step] = mean.compute()
        mask, _ = attention.attention_mask(batch["padding"], HEADS, causal=True)
        inputs = self.model.embedding(batch["words"]), mask.flatten(0, 1)
        assert numerics.find_nonfinite(self.model, *inputs) is None
        assert rnn.input_gradients(self.model, *inputs)[0].isfinite().all()
        good = numerics.Snapshot(self.model, self.optimizer, self.scaler, self.rates, self.momenta)
        with torch.random.fork_rng(), memory.scratch_gradients(self.model):
            self.loss(batch).backward()

        def two_steps(size):
            out_of_memory(size)
            trial = copy.deepcopy(self.model).eval()
            optimizer = two_groups(trial)
            optimizers.load_optimizer_state(optimizer, self.optimizer.state_dict())
            for _ in range(2):
                trial(inputs[0].detach(), inputs[1]).square().sum().backward()
                assert not numerics.clip_or_skip(optimizer, SHORT).skipped

        assert memory.find_batch_size(two_steps, largest=4) == 3
        good.restore()


def plain_run(device):
    """Trains in the same way with plain torch, without an interruption."""
    model, bias = pretrained(device)  # the bias, which a fix has drawn, is taken as given
    noise = torch.Generator(device).manual_seed(1)
    model.head.bias.data.copy_(bias)
    model.norm.eval().requires_grad_(False)
    optimizer = two_groups(model)
    sampler = sampler_of(torch.Generator().manual_seed(2))
    loader = DataLoader(Sentences(), batch_sampler=sampler)
    torch.manual_seed(7)
    step, means = 0, []

    def total(batch, noisy=True):
        """The loss summed over all known targets."""
        words, padding, target = (batch[key].to(device) for key in ("words", "padding", "target"))
        vectors = model.embedding(words)
        if noisy:
            vectors = vectors + torch.empty_like(vectors).normal_(0, 0.1, generator=noise)
        hidden = padding[:, None, :] | torch.ones(4, 4, dtype=torch.bool, device=device).triu(1)
        mask = torch.zeros(hidden.shape, device=device).masked_fill(hidden, -torch.inf)
        output = model(vectors, mask.repeat_interleave(HEADS, 0))
        there = target >= 0
        return nn.functional.cross_entropy(output[there], target[there], reduction="sum")

    scores = {}
    for _ in range(2):
        sums = []
        batches = list(loader)
        for window in (batches[start : start + 2] for start in range(0, 9, 2)):
            for group, rate in zip(optimizer.param_groups, (0.1, 0.05)):
                group["lr"] = rate * factor(step)
                group["betas"] = (0.9 * momentum_factor(step), 0.999)
            optimizer.zero_grad()
            for batch in window:
                sums.append(total(batch))
                (sums[-1] / sum(map(known, window))).backward()
            trained = [each for each in model.parameters() if each.requires_grad]
            assert nn.utils.clip_grad_norm_(trained, SHORT) > SHORT
            optimizer.step()
            step += 1
            if step % 2 == 0:
                model.eval()
                batch = {key: value[None] for key, value in Sentences()[3].items()}
                scores[step] = float(total(batch, noisy=False)) / known(batch)
                model.train()
                model.norm.eval()
        means.append(float(sum(sums)) / sum(map(known, batches)))
    return model, means, scores


def test_a_trainer_that_is_interrupted_twice_ends_as_a_plain_run(device, tmp_path):
    expected, means, scores = plain_run(device)
    path, failures, seen = tmp_path / "run.pt", [8, 11], {}
    trainer = Trainer(device, 3, seen)
    torch.manual_seed(7)
    while len(trainer.means) < 2:
        try:
            trainer.epoch(path, failures[:1])
        except RuntimeError as error:
            if not memory.is_out_of_memory(error):
                raise
            memory.drop_frames(error)
            memory.free_memory()
            assert failures.pop(0) == trainer.seen
            trainer = Trainer(device, 99, seen)
            trainer.resume(path)
    assert not failures
    modules.unfreeze(trainer.model)
    assert all(part.training for part in trainer.model.modules())
    assert trainer.means == pytest.approx(means, rel=1e-5)
    assert seen == pytest.approx(scores, rel=1e-4)
    found, wanted = trainer.model.state_dict(), expected.state_dict()
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-6 if device == "cpu" else 1e-4)
