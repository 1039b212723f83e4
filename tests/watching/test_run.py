"""A watched program computes what it computes otherwise, whatever the checks do."""

import copy
import io
import pickle
import threading
import time

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402
from torch.utils.data import DataLoader, TensorDataset  # noqa: E402

from matrix.watching import hooks, limit  # noqa: E402
from matrix.watching.check import Check  # noqa: E402
from matrix.watching.facts import Gradients  # noqa: E402
from matrix.watching.run import Run, watch  # noqa: E402
from tests.watching.shared import with_check  # noqa: E402

STEPS = 20


def quiet(**options):
    return watch(stream=io.StringIO(), **options)


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
    assert hooks.current is None, "a test has left a watch on"


# ---- programs ----


def classifier(model, x, y, make=lambda p: torch.optim.AdamW(p, lr=1e-3), clip=1.0):
    optimizer = make(model.parameters())
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    for step in range(STEPS):
        model.train()
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        nn.utils.clip_grad_norm_((p for p in model.parameters()), clip)
        optimizer.step()
        scheduler.step()
        if step % 7 == 6:
            model.eval()
            with torch.no_grad():
                model(x)
    return [*model.state_dict().values()]


def mlp():
    model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 3))
    return classifier(model, torch.randn(16, 6), torch.randint(3, (16,)))


def convolutions():
    model = nn.Sequential(
        nn.Conv2d(3, 4, 3),
        nn.BatchNorm2d(4),
        nn.ReLU(inplace=True),
        nn.Flatten(),
        nn.Linear(144, 3),
    )
    return classifier(model, torch.randn(8, 3, 8, 8), torch.randint(3, (8,)))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 16, padding_idx=0)
        layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        hidden = self.encoder(self.embedding(x), src_key_padding_mask=x == 0)
        return self.head(hidden[:, 0])


def transformer():
    return classifier(Encoder(), torch.randint(1, 11, (8, 5)), torch.randint(3, (8,)))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(6, 8, batch_first=True)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


def recurrent():
    return classifier(Recurrent(), torch.randn(8, 5, 6), torch.randint(3, (8,)))


def checkpointed():
    class Blocks(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(6, 8), nn.Linear(8, 8)
            self.dropout, self.head = nn.Dropout(0.2), nn.Linear(8, 3)

        def forward(self, x):
            block = nn.Sequential(self.second, nn.ReLU(), self.dropout)
            hidden = self.first(x)
            for reentrant in (False, True):
                hidden = torch.utils.checkpoint.checkpoint(block, hidden, use_reentrant=reentrant)
            return self.head(hidden)

    import torch.utils.checkpoint

    return classifier(Blocks(), torch.randn(8, 6), torch.randint(3, (8,)))


def autocast():
    class Cast(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Linear(8, 3))

        def forward(self, x):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return self.inner(x).float()

    return classifier(Cast(), torch.randn(8, 6), torch.randint(3, (8,)))


def loader():
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
    rows = TensorDataset(torch.randn(24, 6), torch.randn(24, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(3):
        for index, (x, y) in enumerate(DataLoader(rows, batch_size=4, shuffle=True)):
            (F.mse_loss(model(x), y) / 2).backward()
            if index % 2 == 1:
                optimizer.step()
                optimizer.zero_grad()
    return [*model.state_dict().values()]


def gan():
    generator = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    discriminator = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(), nn.Linear(8, 1))
    first = torch.optim.Adam(generator.parameters(), lr=1e-3)
    second = torch.optim.Adam(discriminator.parameters(), lr=1e-3)
    criterion = nn.BCEWithLogitsLoss()
    for _ in range(STEPS):
        real, fake = torch.randn(8, 2), generator(torch.randn(8, 4))
        second.zero_grad()
        loss = criterion(discriminator(real), torch.ones(8, 1))
        (loss + criterion(discriminator(fake.detach()), torch.zeros(8, 1))).backward()
        second.step()
        first.zero_grad()
        criterion(discriminator(fake), torch.ones(8, 1)).backward()
        first.step()
    return [*generator.state_dict().values(), *discriminator.state_dict().values()]


def copies():
    model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(STEPS):
        optimizer.zero_grad()
        model(torch.randn(4, 6)).square().mean().backward()
        optimizer.step()
        model, optimizer = copy.deepcopy((model, optimizer))
        pickle.loads(pickle.dumps((model, optimizer, F.cross_entropy)))
    return [*model.state_dict().values()]


def compiled():
    if not hasattr(torch, "compile"):
        pytest.skip("this torch has no torch.compile")
    model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 3))
    torch._dynamo.reset()
    loss_of = torch.compile(
        lambda x, y: F.cross_entropy(model(x), y), backend="aot_eager", fullgraph=True
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.randn(8, 6), torch.randint(3, (8,))
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss_of(x, y).backward()
        optimizer.step()
    return [*model.state_dict().values()]


def functional():
    if not hasattr(torch, "func"):
        pytest.skip("this torch has no torch.func")
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
    weights = {name: p.detach().clone() for name, p in model.named_parameters()}

    def loss_of(weights, x, y):
        return F.cross_entropy(torch.func.functional_call(model, weights, (x[None],)), y[None])

    per_row = torch.func.vmap(torch.func.grad(loss_of), (None, 0, 0))
    x, y = torch.randn(8, 6), torch.randint(3, (8,))
    for _ in range(STEPS):
        gradients = per_row(weights, x, y)
        weights = {name: w - 0.1 * gradients[name].mean(0) for name, w in weights.items()}
    return [*weights.values()]


def scripted():
    class Scripted(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(6, 3)

        def forward(self, x):
            return F.dropout(F.normalize(self.linear(x), dim=1), 0.1, self.training)

    model = torch.jit.script(Scripted())
    traced = torch.jit.trace(nn.Linear(6, 6), torch.ones(2, 6))
    return classifier(nn.Sequential(traced, model), torch.randn(8, 6), torch.randint(3, (8,)))


def an_action_that_was_drawn():
    """The logarithm of its probability is finite."""
    policy = nn.Linear(4, 2)
    optimizer = torch.optim.Adam(policy.parameters())
    for _ in range(4):
        optimizer.zero_grad()
        for _ in range(3):
            probabilities = torch.softmax(policy(torch.randn(4)), 0)
            action = torch.distributions.Categorical(probabilities).sample()
            (-torch.log(probabilities[action.item()])).backward()
        optimizer.step()
    return list(policy.parameters())


def one_episode():
    """A batch of one, with a row of the loss per time."""
    lstm, head = nn.LSTM(6, 8), nn.Linear(8, 1)
    optimizer = torch.optim.Adam([*lstm.parameters(), *head.parameters()])
    for _ in range(4):
        optimizer.zero_grad()
        values = head(lstm(torch.randn(20, 6).unsqueeze(1))[0]).squeeze(1)
        nn.functional.smooth_l1_loss(values, torch.randn(20, 1)).backward()
        optimizer.step()
    return list(head.parameters())


def a_prediction_between_steps():
    """It records gradients, and train() follows."""
    model = nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.5), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(4):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(torch.randn(9, 6)), torch.randn(9, 1)).backward()
        optimizer.step()
        model.eval()
        model(torch.randn(9, 6))
        model.train()
    return list(model.parameters())


PROGRAMS = [
    mlp, convolutions, transformer, recurrent, checkpointed, autocast, loader, gan, copies,
    compiled, functional, scripted, an_action_that_was_drawn, one_episode,
    a_prediction_between_steps,
]  # fmt: skip


@pytest.mark.parametrize("every_step", [False, True])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_watched_program_computes_the_same_bits(program, every_step):
    torch.manual_seed(0)
    expected = program()
    drawn = torch.rand(1)
    torch.manual_seed(0)
    with quiet(every_step=every_step) as run:
        seen = program()
        assert torch.equal(torch.rand(1), drawn)
    assert run.findings.failed == {}
    assert len(seen) == len(expected)
    for before, after in zip(expected, seen):
        assert torch.equal(before, after)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_healthy_program_has_no_finding(program):
    torch.manual_seed(0)
    with quiet(every_step=True) as run:
        program()
    assert [each.text() for each in run.findings if each.level != "note"] == []


# ---- the watch itself ----


def state_of_torch():
    owners = [torch, torch.nn.Module, torch.optim.Optimizer, torch.autograd, F, nn.utils]
    return {(str(owner), name): value for owner in owners for name, value in vars(owner).items()}


def test_a_stopped_watch_leaves_torch_as_it_was():
    mlp()  # torch itself replaces some methods at the first use
    before = state_of_torch()
    with quiet():
        assert state_of_torch() != before
        mlp()
    assert state_of_torch() == before


def train(steps=6):
    weight = torch.zeros(2, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    for _ in range(steps):
        optimizer.zero_grad()
        weight.sum().backward()
        optimizer.step()
    return weight.detach()


def test_a_check_that_fails_is_turned_off_and_named():
    class Fails(Check):
        calls = 0

        def before_step(self, optimizer):
            Fails.calls += 1
            raise ValueError("no")

    with with_check(Fails) as run:
        assert train().tolist() == [-6, -6]
    assert Fails.calls == 1
    (name,) = run.findings.failed
    assert name == "family/name"
    assert run.findings.failed[name].startswith("ValueError('no') (test_run.py:")


def test_a_check_that_never_ends_is_ended(monkeypatch):
    monkeypatch.setattr(limit, "SECONDS", 0.3)

    class Hangs(Check):
        def before_step(self, optimizer):
            while True:
                pass

    began = time.monotonic()
    run = with_check(Hangs)
    run._limit = limit.Limit(0.3)
    with run:
        assert train().tolist() == [-6, -6]
    assert time.monotonic() - began < 5
    assert run.findings.failed["family/name"].startswith("TookTooLong()")


def test_a_judge_that_never_ends_is_ended():
    class Hangs(Check):
        def before_step(self, optimizer):
            self.ask(torch.zeros(()), self.judge)

        def judge(self, value):
            while True:
                pass

    run = with_check(Hangs)
    run._limit = limit.Limit(0.3)
    with run:
        assert train().tolist() == [-6, -6]
    assert run.findings.failed["family/name"].startswith("TookTooLong()")


def test_an_interrupt_inside_a_check_reaches_the_program_after_the_event():
    class Interrupted(Check):
        def after_step(self, optimizer):
            raise KeyboardInterrupt

    with with_check(Interrupted) as run:
        with pytest.raises(KeyboardInterrupt):
            train()
        assert run.listens()
    assert run.findings.failed == {}


def test_steps_are_sampled_less_and_less():
    class Notes(Check):
        steps, all_steps = [], []

        def before_step(self, optimizer):
            self.steps.append(self.run.step)

        def each_step(self, optimizer):
            self.all_steps.append(self.run.step)

    with with_check(Notes):
        train(40)
    assert Notes.steps == [1, 2, 3, 4, 8, 16, 32]
    assert Notes.all_steps == list(range(1, 41))
    Notes.steps.clear()
    with with_check(Notes, every_step=True):
        train(10)
    assert Notes.steps == list(range(1, 11))


def test_an_evaluation_is_looked_at_and_so_are_the_steps_after_it():
    class Notes(Check):
        steps = []

        def before_step(self, optimizer):
            self.steps.append(self.run.step)

    model = nn.Linear(1, 1)
    with with_check(Notes):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(1, 31):
            optimizer.zero_grad()
            model(torch.ones(1, 1)).sum().backward()
            optimizer.step()
            if step == 20:
                model.eval()
                model.train()
    assert Notes.steps == [1, 2, 3, 4, 8, 16, 21, 22]


def test_values_are_read_after_the_step_all_at_once():
    class Asks(Check):
        level = "error"
        change = "Write less"

        def before_step(self, optimizer):
            (weight,) = optimizer.param_groups[0]["params"]
            self.ask(weight.grad, lambda values: f"gradients {values}")
            self.ask(weight.grad.sum(), lambda value: f"sum {value}" if value > 1 else None)

    with with_check(Asks) as run:
        train(2)
    first, second = run.findings
    assert (first.message, first.count) == ("gradients [1.0, 1.0]", 2)
    assert (second.message, second.count) == ("sum 2.0", 2)
    assert first.file == __file__
    assert first.text().endswith("error: gradients [1.0, 1.0] (step 1) [family/name]")


def test_the_trace_tells_what_happens_to_gradients():
    weight = torch.ones(2, requires_grad=True)
    with Run(checks=[], stream=io.StringIO()) as run:
        optimizer = torch.optim.SGD([weight], lr=1.0)
        other = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
        weight.sum().backward()
        weight.sum().backward()
        optimizer.step()
        other.step()
        optimizer.zero_grad()
        weight.sum().backward()
        weight.grad.mul_(2)
        optimizer.step()
        weight.grad = None
        weight.sum().backward()
        nn.utils.clip_grad_norm_([weight], 1.0)
        optimizer.step()
        assert run.facts.of(optimizer).trace == "bbsocbmscbs"
        assert run.facts.of(optimizer).steps == 3


def test_a_trace_does_not_grow():
    gradients = Gradients(torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0))
    for _ in range(1000):
        gradients.add("b")
    assert len(gradients.trace) == 200


def test_other_threads_are_not_watched():
    class Notes(Check):
        steps = 0

        def each_step(self, optimizer):
            Notes.steps += 1

    with with_check(Notes):
        thread = threading.Thread(target=train)
        thread.start()
        thread.join()
    assert Notes.steps == 0


def test_a_second_watch_ends_the_first():
    with quiet() as first, quiet() as second:
        assert hooks.current is second
        assert not first.listens()
