"""Healthy training loops that are close to a failure: its check must find nothing in them."""

import io
import math
from contextlib import contextmanager

import pytest

torch = pytest.importorskip("torch")

from torch import distributed as dist  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset  # noqa: E402

from matrix.watching.run import Run  # noqa: E402

PROGRAMS = []


def healthy(id):
    """Adds a program in which the check with this id must find nothing."""

    def add(program):
        PROGRAMS.append(pytest.param(id, program, id=program.__name__))
        return program

    return add


@pytest.mark.parametrize(("id", "program"), PROGRAMS)
def test_a_healthy_program_has_no_finding(id, program):
    with torch.random.fork_rng(), Run(checks=[id], every_step=True, stream=io.StringIO()) as run:
        program()
    assert [each.message for each in run.findings] == []
    assert run.findings.failed == {}


def linear(lr=0.1, kind=torch.optim.SGD, **options):
    """A model, its optimizer, and a batch."""
    model = nn.Linear(4, 4)
    return model, kind(model.parameters(), lr=lr, **options), torch.randn(8, 4)


def grad_scaler(*arguments):
    if not hasattr(torch.amp, "GradScaler"):
        pytest.skip("this torch has no scaler for the CPU")
    return torch.amp.GradScaler(*arguments)


def step(model, optimizer, x):
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()


# Mixed precision


@healthy("amp/autocast_block_keeps_old_weights")
def two_optimizers_step_once_in_an_autocast_block():
    first, first_optimizer, x = linear()
    second, second_optimizer, _ = linear()
    for _ in range(3):
        with torch.autocast("cpu", torch.bfloat16):
            second(first(x)).square().mean().backward()
            first_optimizer.step()
            second_optimizer.step()


@healthy("amp/last_window_is_dropped")
def windows_continue_in_the_next_epoch():
    model, optimizer, _ = linear()
    loader, seen = DataLoader(torch.randn(5, 4)), 0
    for _ in range(4):
        for x in loader:
            model(x).square().mean().backward()
            seen += 1
            if seen % 2 == 0:
                optimizer.step()
                optimizer.zero_grad()


@healthy("amp/last_window_is_dropped")
def attack_at_the_end_of_adversarial_training():
    model, optimizer, x = linear()

    def attack():
        noisy = x.clone().requires_grad_()
        for _ in range(2):
            model(noisy).square().mean().backward()
        return noisy.detach() + noisy.grad.sign()

    for _ in range(3):
        step(model, optimizer, attack())
    attack()


class Nested(nn.Module):
    """An encoder of tokens with padding."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(10, 8, padding_idx=0)
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)

    def forward(self, tokens):
        return self.encoder(self.embedding(tokens), src_key_padding_mask=tokens == 0)


@healthy("attention/padding_is_not_masked")
def nested_tensors_in_eval_mode():
    model = Nested().eval()
    with torch.no_grad():
        model(torch.tensor([[1, 2, 3], [4, 0, 0]]))


@healthy("attention/padding_is_not_masked")
def padding_of_other_tokens():
    users, encoder = nn.Embedding(10, 8, padding_idx=0), Nested().encoder
    user = users(torch.tensor([0, 3]))
    encoder(torch.randn(2, 5, 8) + user[:, None])


@healthy("amp/scaler_state_is_not_saved")
def scaler_is_saved_in_another_file():
    model, optimizer, x = linear()
    scaler = grad_scaler("cpu")
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, io.BytesIO())
    torch.save(scaler.state_dict(), io.BytesIO())


@healthy("amp/scaler_state_is_not_saved")
def scaler_is_saved_in_a_nested_dictionary():
    model, optimizer, x = linear()
    scaler = grad_scaler("cpu")
    states = {"optimizer": optimizer.state_dict(), "amp": {"scaler": scaler.state_dict()}}
    torch.save(states, io.BytesIO())


@healthy("amp/clip_before_unscale")
def norm_of_scaled_gradients_is_logged():
    model, optimizer, x = linear()
    scaler = grad_scaler("cpu")
    for _ in range(3):
        optimizer.zero_grad()
        scaler.scale(model(x).square().mean()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), math.inf) / scaler.get_scale()
        scaler.step(optimizer)
        scaler.update()


@healthy("amp/clip_before_unscale")
def bound_of_clip_is_scaled():
    model, optimizer, x = linear()
    scaler = grad_scaler("cpu")
    for _ in range(3):
        optimizer.zero_grad()
        scaler.scale(model(x).square().mean()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0 * scaler.get_scale())
        scaler.step(optimizer)
        scaler.update()


@healthy("amp/clip_before_unscale")
def gradients_are_divided_by_the_scale_by_hand():
    model, optimizer, x = linear()
    scaler = grad_scaler("cpu")
    for _ in range(3):
        optimizer.zero_grad()
        scaler.scale(model(x).square().mean()).backward()
        for parameter in model.parameters():
            parameter.grad.div_(scaler.get_scale())
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


@healthy("amp/penalty_of_scaled_gradients")
def norm_is_divided_by_the_scale():
    model, optimizer, x = linear()
    scaler = grad_scaler("cpu")
    for _ in range(3):
        optimizer.zero_grad()
        own = x.clone().requires_grad_()
        loss = model(own).square().mean()
        (gradient,) = torch.autograd.grad(scaler.scale(loss), own, create_graph=True)
        penalty = (gradient.norm() / scaler.get_scale() - 1).square()
        scaler.scale(loss + penalty).backward()
        scaler.step(optimizer)
        scaler.update()


@healthy("amp/last_window_is_dropped")
def one_step_of_two_networks():
    generator, generator_optimizer, x = linear()
    critic, critic_optimizer, _ = linear()
    critic_optimizer.zero_grad()
    critic(x).mean().backward()
    (-critic(generator(x).detach()).mean()).backward()
    critic_optimizer.step()
    generator_optimizer.zero_grad()
    critic(generator(x)).mean().backward()
    generator_optimizer.step()


@healthy("amp/default_scaler_is_off")
def scaler_is_off_by_position():
    grad_scaler("cpu", 65536.0, 2.0, 0.5, 2000, False)


# Autograd


@healthy("autograd/require_grad_is_misspelt")
def parameter_stays_trainable():
    model, optimizer, x = linear()
    for parameter in model.parameters():
        parameter.require_grad = True
    step(model, optimizer, x)


class Towers(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        return self.first(x), self.second(x)


@healthy("autograd/features_are_detached_in_forward")
def tasks_take_turns():
    model, x = Towers(), torch.randn(8, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for number in range(4):
        optimizer.zero_grad()
        model(x)[1 - number % 2].square().mean().backward()
        optimizer.step()


class TowersOfTwo(Towers):
    def forward(self, x):
        return self.first(x[0]), self.second(x[1])


@healthy("autograd/features_are_detached_in_forward")
def tasks_of_other_inputs_take_turns():
    model, x = TowersOfTwo(), torch.randn(2, 8, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for number in range(4):
        optimizer.zero_grad()
        model(x)[1 - number % 2].square().mean().backward()
        optimizer.step()


# Checkpoints


@healthy("checkpoints/init_overwrites_loaded_weights")
def loaded_weights_are_perturbed():
    model, _, x = linear()
    base = {name: value.clone() for name, value in model.state_dict().items()}
    for _ in range(3):
        model.load_state_dict(base)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(0.01 * torch.randn_like(parameter))
        model(x)


@healthy("checkpoints/init_overwrites_loaded_weights")
def loaded_weights_are_converted():
    model, _, x = linear()
    model.load_state_dict(model.state_dict())
    model.double().float().share_memory()
    model(x)


@healthy("checkpoints/resume_without_optimizer_state")
def states_of_optimizers_are_in_a_list():
    model, optimizer, x = linear(kind=torch.optim.Adam)
    step(model, optimizer, x)
    states = {"epoch": 1, "model": model.state_dict(), "optimizers": [optimizer.state_dict()]}
    torch.save(states, io.BytesIO())


@healthy("checkpoints/resume_repeats_the_shuffle")
def seed_depends_on_the_epoch():
    model, optimizer, x = linear(momentum=0.9)
    step(model, optimizer, x)
    optimizer.load_state_dict(optimizer.state_dict())
    loader = DataLoader(x, shuffle=True)
    for epoch in range(3, 5):
        torch.manual_seed(epoch)
        for batch in loader:
            step(model, optimizer, batch)


@healthy("checkpoints/slice_saves_its_whole_storage")
def all_rows_are_saved():
    torch.save(list(torch.randn(1000, 8)), io.BytesIO())


@healthy("checkpoints/strict_false_loads_nothing")
def only_buffers_are_loaded():
    model = nn.BatchNorm1d(4)
    state = {name: value for name, value in model.state_dict().items() if "running" in name}
    model.load_state_dict(state, strict=False)


@healthy("checkpoints/resume_without_scheduler_state")
def schedule_is_wound_forward():
    model, optimizer, x = linear()
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.5**epoch)
    state = optimizer.state_dict()
    state["param_groups"][0]["lr"] = 0.1 * 0.5**3
    optimizer.load_state_dict(state)
    for _ in range(3):
        scheduler.step()
    for _ in range(2):
        step(model, optimizer, x)
        scheduler.step()


# Data


class Cached(Dataset):
    def __init__(self):
        self.cache, self.known = torch.zeros(6, 2), [False] * 6

    def __len__(self):
        return 6

    def __getitem__(self, index):
        if not self.known[index]:
            self.cache[index] = float(index)
            self.known[index] = True
        return self.cache[index]


@healthy("data_loading/dataset_changes_its_tensor")
def dataset_fills_its_cache():
    loader = DataLoader(Cached(), batch_size=2)
    for _ in range(3):
        list(loader)


class Masked(Dataset):
    def __init__(self):
        self.mask, self.rows = torch.zeros(4), torch.randn(8, 4)
        self.mask[1] = 1

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.mask, self.rows[index]


@healthy("data_loading/returned_buffer_is_reused")
def mask_is_the_same_for_all_rows():
    list(DataLoader(Masked(), batch_size=4))


class Stream(IterableDataset):
    def __iter__(self):
        worker = torch.utils.data.get_worker_info()
        for number in range(worker.id, 16, worker.num_workers):
            yield {"mask": torch.ones(3), "tokens": torch.arange(3) + number}


@healthy("data_loading/iterable_dataset_duplicates")
def masks_of_all_rows_are_equal():
    for _ in DataLoader(Stream(), batch_size=2, num_workers=2):
        pass


class Points(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return [float(index), 2.0 * index]


@healthy("data_loading/lists_are_transposed")
def list_is_a_pair_of_numbers():
    for x, y in DataLoader(Points(), batch_size=2):
        functional.mse_loss(2 * x, y)


@healthy("data_loading/next_iter_restarts_the_loader")
def first_batch_is_shown_after_each_epoch():
    model, optimizer, x = linear()
    train, shown = DataLoader(x, batch_size=2), DataLoader(torch.randn(8, 4), batch_size=2)
    for _ in range(4):
        for batch in train:
            step(model, optimizer, batch)
        model(next(iter(shown)))


@healthy("data_loading/next_iter_restarts_the_loader")
def batch_is_the_whole_dataset():
    model, optimizer, x = linear()
    loader = DataLoader(x, batch_size=8)
    for _ in range(4):
        step(model, optimizer, next(iter(loader)))


@healthy("data_loading/not_shuffled")
def lengths_are_equal():
    model, optimizer, x = linear()
    for batch, _ in DataLoader(TensorDataset(x, torch.full((8,), 5)), batch_size=2):
        step(model, optimizer, batch)


@healthy("data_loading/not_shuffled")
def small_batches_have_one_class_by_chance():
    model, optimizer, x = linear()
    labels = torch.tensor([0, 0, 1, 1, 0, 1, 0, 0])
    for batch, _ in DataLoader(TensorDataset(x, labels), batch_size=2):
        step(model, optimizer, batch)


class Zeros(IterableDataset):
    def __iter__(self):
        yield from torch.zeros(8, 3)


@healthy("data_loading/iterable_dataset_duplicates")
def data_is_made_up():
    for _ in DataLoader(Zeros(), batch_size=2, num_workers=2):
        pass


class Noisy(Dataset):
    def __init__(self):
        self.generator = torch.Generator()

    def __len__(self):
        return 4

    def __getitem__(self, index):
        self.generator.manual_seed(index)
        return torch.randn(2, generator=self.generator)


@healthy("data_loading/worker_generators_are_clones")
def generator_is_seeded_for_each_row():
    for _ in DataLoader(Noisy(), num_workers=2):
        pass


# Distributions


@healthy("distributions/sample_stops_the_gradient")
def sample_is_only_shown():
    model, optimizer, x = linear()
    for _ in range(3):
        optimizer.zero_grad()
        posterior = torch.distributions.Normal(model(x), 1.0)
        posterior.rsample().square().mean().backward(retain_graph=True)
        posterior.sample()
        posterior.mean.square().mean().backward()
        optimizer.step()


@healthy("distributions/sample_stops_the_gradient")
def actor_of_a_critic_explores():
    model, optimizer, x = linear()
    critic = nn.Linear(4, 1)
    for _ in range(3):
        torch.distributions.Normal(model(x), 0.1).sample()
        optimizer.zero_grad()
        (-critic(model(x)).mean()).backward()
        optimizer.step()


@healthy("distributions/gumbel_softmax_of_probabilities")
def logits_start_equal():
    logits = nn.Parameter(torch.full((4,), 0.25))
    optimizer = torch.optim.SGD([logits], lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        functional.gumbel_softmax(logits, dim=-1).square().sum().backward()
        optimizer.step()


# Optimizers


class Sam(torch.optim.Optimizer):
    def __init__(self, params, base, **options):
        super().__init__(params, options)
        self.base = base(self.param_groups, **options)
        self.param_groups = self.base.param_groups

    @torch.no_grad()
    def first_step(self):
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["shift"] = 0.05 * p.grad / (p.grad.norm() + 1e-12)
                p.add_(self.state[p]["shift"])
        self.zero_grad()

    @torch.no_grad()
    def second_step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.sub_(self.state[p]["shift"])
        self.base.step()
        self.zero_grad()


def train_with_sam():
    model, x = nn.Linear(4, 4), torch.randn(8, 4)
    optimizer = Sam(model.parameters(), torch.optim.SGD, lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    for _ in range(5):
        model(x).square().mean().backward()
        optimizer.first_step()
        model(x).square().mean().backward()
        optimizer.second_step()
        scheduler.step()


@healthy("optimizers/zero_grad_in_every_micro_batch")
def sam_clears_between_its_gradients():
    train_with_sam()


@healthy("schedulers/scheduler_of_another_optimizer")
def sam_shares_its_groups():
    train_with_sam()


@healthy("schedulers/scheduler_of_another_optimizer")
def second_phase_begins_with_its_schedule():
    model, first, x = linear()
    second = torch.optim.SGD(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.StepLR(second, 2)
    step(model, first, x)
    for _ in range(3):
        scheduler.step()
        step(model, second, x)


@healthy("optimizers/zero_grad_in_every_micro_batch")
def attack_of_the_input_uses_backward():
    model, optimizer, x = linear()
    for _ in range(5):
        noisy = x.clone().requires_grad_()
        model(noisy).square().mean().backward()
        step(model, optimizer, noisy.detach() + 0.1 * noisy.grad.sign())


@healthy("optimizers/zero_grad_in_every_micro_batch")
def gradients_of_tasks_are_combined():
    model, optimizer, x = linear()
    for _ in range(5):
        gradients = []
        for task in range(3):
            optimizer.zero_grad()
            model(x)[:, task].square().mean().backward()
            gradients.append([p.grad.clone() for p in model.parameters()])
        for p, *own in zip(model.parameters(), *gradients):
            p.grad = torch.stack(own).mean(0)
        optimizer.step()


@healthy("optimizers/missing_zero_grad")
def gradients_are_cleared_through_data():
    model, optimizer, x = linear()
    for _ in range(6):
        model(x).square().mean().backward()
        optimizer.step()
        for p in model.parameters():
            p.grad.data.zero_()


@healthy("optimizers/clip_after_the_step")
def norm_is_logged_after_the_step():
    model, optimizer, x = linear()
    for _ in range(3):
        step(model, optimizer, x)
        nn.utils.clip_grad_norm_(model.parameters(), math.inf)


@healthy("optimizers/clip_after_the_step")
def optimizers_of_one_model_take_turns():
    model, x = Towers(), torch.randn(8, 4)
    optimizers = [
        torch.optim.SGD(part.parameters(), lr=0.1) for part in (model.first, model.second)
    ]
    for number in range(6):
        optimizers[number % 2].zero_grad()
        model(x)[number % 2].square().mean().backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizers[number % 2].step()


@healthy("optimizers/zero_grad_before_the_step")
def last_layer_is_cleared_to_freeze_it():
    model, x = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4)), torch.randn(8, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        model[1].zero_grad()
        optimizer.step()


@healthy("optimizers/optimizer_is_built_in_each_epoch")
def folds_start_from_the_same_weights():
    model, _, x = linear()
    first = {name: value.clone() for name, value in model.state_dict().items()}
    for _ in range(3):
        model.load_state_dict(first)
        optimizer = torch.optim.Adam(model.parameters())
        for _ in range(2):
            step(model, optimizer, x)


@healthy("optimizers/optimizer_is_built_in_each_epoch")
def first_group_is_empty():
    model, _, x = linear()
    groups = [{"params": []}, {"params": [*model.parameters()]}]
    step(model, torch.optim.Adam(groups), x)


@healthy("optimizers/frozen_parameter_moves_on")
def sgd_does_not_move_a_gradient_of_zeros():
    model, optimizer, x = linear()
    step(model, optimizer, x)
    model.bias.requires_grad_(False)
    for _ in range(2):
        optimizer.zero_grad(set_to_none=False)
        model(x).square().mean().backward()
        optimizer.step()


@healthy("optimizers/loaded_rate_replaces_the_new")
def schedule_with_warmup_is_resumed():
    def start():
        model, optimizer, x = linear()
        return model, optimizer, x, torch.optim.lr_scheduler.LambdaLR(optimizer, warm)

    def warm(step):
        return min(1.0, step / 10)

    model, optimizer, x, scheduler = start()
    for _ in range(3):
        step(model, optimizer, x)
        scheduler.step()
    states = optimizer.state_dict(), scheduler.state_dict()
    model, optimizer, x, scheduler = start()
    optimizer.load_state_dict(states[0])
    scheduler.load_state_dict(states[1])
    step(model, optimizer, x)


class Perceptual(nn.Module):
    """A network that is only part of the loss, and is not frozen."""

    def __init__(self):
        super().__init__()
        self.features = nn.Linear(4, 4)

    def forward(self, x):
        return self.features(x)


@healthy("optimizers/replaced_layer_does_not_learn")
def loss_network_is_not_frozen():
    model, later, x = nn.Linear(4, 4), nn.Linear(4, 4), torch.randn(8, 4)
    optimizer = torch.optim.SGD([*model.parameters(), *later.parameters()], lr=0.1)
    network = Perceptual()
    for _ in range(3):
        optimizer.zero_grad()
        network(model(x)).square().mean().backward()
        optimizer.step()


# Seeds


@healthy("randomness/seed_inside_the_loop")
def seed_of_a_sample_is_forked():
    model, optimizer, x = linear()
    for _ in range(6):
        step(model, optimizer, x)
        with torch.random.fork_rng():
            torch.manual_seed(0)
            model(torch.randn(2, 4))


@healthy("randomness/resumed_run_repeats_the_first_epoch")
def generator_is_seeded_by_the_epoch():
    model, optimizer, x = linear(momentum=0.9)
    step(model, optimizer, x)
    optimizer.load_state_dict(optimizer.state_dict())
    generator = torch.Generator()
    loader = DataLoader(x, shuffle=True, generator=generator)
    for epoch in range(3, 6):
        generator.manual_seed(epoch)
        for batch in loader:
            step(model, optimizer, batch)


# Schedulers


@healthy("schedulers/lambda_lr_returns_a_rate")
def first_factor_of_a_warmup_equals_the_rate():
    model, optimizer, x = linear()
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: min(1.0, (n + 1) / 10))
    for _ in range(3):
        step(model, optimizer, x)
        scheduler.step()


def evaluate(previous, accumulated):
    return previous + accumulated


@healthy("schedulers/plateau_takes_accuracy_for_a_loss")
def names_contain_a_score():
    _, optimizer, _ = linear()
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
    accumulated, previous, fid_score = 3.0, 2.0, 1.0
    scheduler.step(accumulated / 2)
    scheduler.step(previous)
    scheduler.step(fid_score)


@healthy("schedulers/rate_set_by_hand_is_overwritten")
def first_epoch_warms_up_by_hand():
    model, optimizer, x = linear()
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 - epoch / 10)
    for epoch in range(3):
        for number in range(4):
            if epoch == 0:
                optimizer.param_groups[0]["lr"] = 0.1 * number / 5
            step(model, optimizer, x)
        scheduler.step()


@healthy("schedulers/scheduler_first_skips_a_rate")
def schedule_is_wound_forward_before_training():
    model, optimizer, x = linear()
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    for _ in range(3):
        scheduler.step()
    for _ in range(2):
        step(model, optimizer, x)
        scheduler.step()


@healthy("schedulers/second_cosine_stays_at_zero")
def cosine_follows_a_warmup_from_zero():
    _, optimizer, _ = linear()
    schedulers = torch.optim.lr_scheduler
    warmup = schedulers.LambdaLR(optimizer, lambda n: n / 5)
    cosine = schedulers.CosineAnnealingLR(optimizer, 20)
    scheduler = schedulers.SequentialLR(optimizer, [warmup, cosine], [5])
    for _ in range(10):
        optimizer.step()
        scheduler.step()
    assert optimizer.param_groups[0]["lr"] > 0.05


@healthy("schedulers/skipped_step_moves_the_schedule")
def last_step_of_an_epoch_is_skipped():
    model, optimizer, x = linear()
    scaler = grad_scaler("cpu")
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    for _ in range(3):
        for number in range(4):
            optimizer.zero_grad()
            scaler.scale(model(x).mean() * (math.inf if number == 3 else 1)).backward()
            scaler.step(optimizer)
            scaler.update()
        scheduler.step()


@healthy("schedulers/step_lr_counts_batches")
def loader_never_ends():
    model, optimizer, x = linear()
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    for number, batch in enumerate(DataLoader(x.repeat(20, 1))):
        step(model, optimizer, batch)
        if number % 10 == 9:
            scheduler.step()


# Ranks


@contextmanager
def two_ranks():
    """A process group of two ranks, in which the other rank does nothing."""
    fake = pytest.importorskip("torch.testing._internal.distributed.fake_pg")
    dist.init_process_group("fake", store=fake.FakeStore(), rank=0, world_size=2)
    try:
        yield
    finally:
        dist.destroy_process_group()


@healthy("distributed/summed_loss_shrinks")
def means_of_tasks_are_added():
    with two_ranks():
        model, x = nn.parallel.DistributedDataParallel(nn.Linear(4, 4)), torch.randn(8, 4)
        with model.no_sync():  # nobody answers
            classes = functional.cross_entropy(model(x), torch.zeros(8, dtype=torch.long))
            torch.stack([classes, functional.mse_loss(model(x), x)]).sum().backward()


@healthy("distributed/forward_through_module")
def attack_bypasses_the_wrapper():
    with two_ranks():
        model, x = nn.parallel.DistributedDataParallel(nn.Linear(4, 4)), torch.randn(8, 4)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            noisy = x.clone().requires_grad_()
            loss = model.module(noisy).square().mean()
            (gradient,) = torch.autograd.grad(loss, noisy)
            with model.no_sync():  # nobody answers
                step(model, optimizer, x + 0.1 * gradient.sign())


@healthy("distributed/sampler_without_set_epoch")
def sampler_of_the_validation_shuffles():
    model, optimizer, x = linear()
    sampler = torch.utils.data.distributed.DistributedSampler(x, num_replicas=2, rank=0)
    train, validation = DataLoader(x, shuffle=True), DataLoader(x, sampler=sampler)
    for _ in range(3):
        for batch in train:
            step(model, optimizer, batch)
        for batch in validation:
            model(batch)


@healthy("checkpoints/init_overwrites_loaded_weights")
def loaded_weights_are_sent_to_the_other_ranks():
    with two_ranks():
        model, x = nn.Linear(4, 4), torch.randn(8, 4)
        model.load_state_dict(model.state_dict())
        nn.parallel.DistributedDataParallel(model)(x)


@healthy("optimizers/zero_grad_before_the_step")
def gradients_of_a_batch_with_nan_are_cleared():
    model, optimizer, x = linear()
    for number in range(6):
        optimizer.zero_grad()
        (model(x).mean() * (math.nan if number == 3 else 1)).backward()
        if not nn.utils.clip_grad_norm_(model.parameters(), 1.0).isfinite():
            optimizer.zero_grad()
        optimizer.step()


@healthy("optimizers/generator_loss_trains_the_discriminator")
def heads_of_one_encoder_take_turns():
    encoder, optimizer, x = linear()
    heads = [linear()[:2] for _ in range(2)]
    for _ in range(4):
        optimizer.zero_grad()
        for head, own in heads:
            own.zero_grad()
            head(encoder(x)).square().mean().backward()
            own.step()
        optimizer.step()


def test_parameters_of_inference_mode_turn_no_check_off():
    with torch.inference_mode():
        model, optimizer, x = linear()
    with Run(every_step=True, stream=io.StringIO()) as run:
        for _ in range(3):
            torch.ones(2, requires_grad=True).sum().backward()
            model(x)
            optimizer.step()
    assert run.findings.failed == {}


def test_optimizers_made_before_the_run_are_not_missing():
    encoder, first, x = linear()
    decoder, second, _ = linear()
    model = nn.Sequential(encoder, decoder)
    with Run(checks=["optimizers/unlisted_layer_does_not_learn"], stream=io.StringIO()) as run:
        for _ in range(3):
            model.zero_grad()
            model(x).square().mean().backward()
            first.step()
            second.step()
    assert [each.message for each in run.findings] == []
