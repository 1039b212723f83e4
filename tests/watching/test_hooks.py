"""Checks are told about functions of tensors and distributions, and torch is restored."""

import pickle

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from matrix.watching import hooks  # noqa: E402
from matrix.watching.check import Check  # noqa: E402
from matrix.watching.run import ASKED  # noqa: E402
from tests.watching.shared import with_check  # noqa: E402


@pytest.fixture(autouse=True)
def nothing_is_compiled(monkeypatch):
    monkeypatch.setattr(hooks, "_compiles", False)  # by an earlier test of this process


def test_functions_of_tensors_and_distributions_are_told():
    class Notes(Check):
        seen = []

        def method(self, method):
            own, others = method.arguments["input"], method.arguments["others"]
            self.seen.append((method.name, tuple(own.shape), others))

        def drawn(self, name, distribution, value):
            self.seen.append((name, tuple(value.shape)))

        def after_grad(self, backward, inputs, gradients):
            self.seen.append(("grad", len(backward.nodes) > 0, [each.item() for each in gradients]))

        def state_read(self, module, state):
            self.seen.append(("state", list(state)))

        def decorating(self, context, function):
            self.seen.append(("decorating", type(context).__name__, function.__name__))

    x, parameter = torch.ones(2, 1), torch.ones((), requires_grad=True)
    with with_check(Notes) as run:
        torch.std(x, 0)
        assert (x > 0.5).all()
        x.isnan()
        normal = torch.distributions.Normal(torch.zeros(3), 1.0, validate_args=False)
        normal.log_prob(normal.sample())
        torch.autograd.grad(2 * parameter, parameter)
        nn.Sequential(nn.Linear(1, 1)).state_dict()
        torch.no_grad()(with_check)
    assert run.findings.failed == {}
    assert Notes.seen == [
        ("std", (2, 1), (0,)),
        ("gt", (2, 1), (0.5,)),
        ("isnan", (2, 1), ()),
        ("sample", (3,)),
        ("log_prob", (3,)),
        ("grad", True, [2.0]),
        ("state", ["0.weight", "0.bias"]),
        ("decorating", "no_grad", "with_check"),
    ]


def test_tensors_inside_vmap_are_passed_over():
    if not hasattr(torch, "func"):
        pytest.skip("this torch has no torch.func")

    class Notes(Check):
        seen = []

        def method(self, method):
            self.seen.append(method.name)

        def function(self, function):
            self.seen.append(function.name)

        def called(self, call):
            self.seen.append(call.module)

    model = nn.Linear(2, 2)
    with with_check(Notes):
        torch.func.vmap(lambda x: F.mse_loss(model(x), x) + x.std())(torch.randn(3, 4, 2))
        assert Notes.seen == []
        F.mse_loss(model(torch.ones(4, 2)), torch.ones(4, 2))
    assert Notes.seen == [model, "mse_loss"]


def test_a_program_without_steps_gets_its_answers():
    class Asks(Check):
        values = []

        def method(self, method):
            self.ask(method.arguments["input"], self.values.append)

    with with_check(Asks) as run:
        for _ in range(1000):
            torch.ones(()).isnan()
        assert len(run._asked) <= ASKED
    assert Asks.values == [1.0] * 1000


def test_compiled_code_has_the_methods_of_tensors():
    if not hasattr(torch, "compile"):
        pytest.skip("this torch has no torch.compile")
    before = dict(vars(torch.Tensor))
    with with_check(Check) as run:
        assert dict(vars(torch.Tensor)) != before
        assert torch.compile(lambda x: x.std(), backend="eager")(torch.ones(2)).item() == 0
        assert dict(vars(torch.Tensor)) == before
        assert run.listens()
    assert dict(vars(torch.Tensor)) == before


def test_methods_of_tensors_are_restored():
    owners = (torch.Tensor, torch.no_grad, torch.inference_mode, torch.distributions.Normal)
    before = [dict(vars(owner)) for owner in owners]
    with with_check(Check):
        assert [dict(vars(owner)) for owner in owners] != before
        tensor = torch.ones(2)
        assert tensor in {tensor}  # tensors can still be hashed
        assert torch.jit.script(torch.nn.Identity())(tensor).tolist() == [1, 1]
    assert [dict(vars(owner)) for owner in owners] == before
    assert (torch.ones(2) == torch.ones(2)).all()


def test_gathered_tensors_and_restored_random_states_are_told():
    class Notes(Check):
        seen = []

        def random_state_set(self):
            self.seen.append("state")

        def gathered(self, tensor, grad):
            self.seen.append((tuple(tensor.shape), grad))

    import torch.distributed as dist

    if not dist.is_available():
        pytest.skip("this torch has no torch.distributed")
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        with with_check(Notes):
            torch.set_rng_state(torch.get_rng_state())
            for grad in (True, False):
                with torch.set_grad_enabled(grad):
                    dist.all_gather([torch.empty(2)], torch.ones(2))
    finally:
        dist.destroy_process_group()
    assert Notes.seen == ["state", ((2,), True), ((2,), False)]


def test_keyword_arguments_reach_backward_and_the_bound_of_a_clip():
    class Notes(Check):
        bounds = []

        def clipped(self, clip):
            self.bounds.append(clip.bound)

    weight = torch.ones(2, requires_grad=True)
    with with_check(Notes):
        torch.autograd.backward(tensors=weight.sum())
        nn.utils.clip_grad_norm_([weight], norm_type=2, max_norm=3.0)
        nn.utils.clip_grad_value_(parameters=[weight], clip_value=4.0)
    assert weight.grad.tolist() == [1, 1]
    assert Notes.bounds == [3.0, 4.0]


def test_only_a_generator_that_was_read_is_exhausted():
    class Notes(Check):
        exhausted = []

        def clipped(self, clip):
            self.exhausted.append(clip.exhausted)

    model = nn.Linear(2, 1)
    read = filter(lambda p: p.requires_grad, model.parameters())
    with with_check(Notes):
        nn.utils.clip_grad_norm_(nn.ReLU().parameters(), 1.0)
        nn.utils.clip_grad_norm_(filter(lambda p: False, model.parameters()), 1.0)
        nn.utils.clip_grad_norm_(read, 1.0)
        nn.utils.clip_grad_norm_(read, 1.0)
    assert Notes.exhausted == [False, False, False, True]


def test_replaced_functions_can_be_pickled():
    class Nothing(Check):
        pass

    with with_check(Nothing):
        for function in (torch.Tensor.item, torch.softmax, F.dropout, nn.Module.train, torch.save):
            assert pickle.loads(pickle.dumps(function)) is function


def test_functions_are_not_told_while_fx_traces():
    class Notes(Check):
        seen = 0

        def function(self, function):
            self.seen += 1

    class Model(nn.Module):
        def forward(self, x):
            return F.softmax(F.normalize(x), dim=-1)

    with with_check(Notes) as run:
        traced = torch.fx.symbolic_trace(Model())
        assert run._handlers["function"][0][0].seen == 0
        traced(torch.ones(2, 2))


def test_a_module_inside_forward_is_not_taken_for_a_model():
    class Notes(Check):
        roots = set()

        def called(self, call):
            if not call.parents:
                self.roots.add(type(call.module).__name__)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.frozen, self.head = nn.Linear(2, 2), nn.Linear(2, 1)

        def forward(self, x):
            self.frozen.eval()
            return self.head(self.frozen(x))

    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with with_check(Notes):
        for _ in range(20):
            optimizer.zero_grad()
            model(torch.ones(1, 2)).sum().backward()
            optimizer.step()
    assert Notes.roots == {"Model"}
