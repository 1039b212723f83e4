"""Checks are told about functions of tensors and distributions, and torch is restored."""

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
