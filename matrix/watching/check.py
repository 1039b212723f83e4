"""The class that every check extends."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import torch

    from .events import Backward, Batches, Call, Clip, Function
    from .run import Run


class Check:
    """Recognizes one failure. A subclass overrides the events that it needs.

    One object is created per run. It may keep attributes, but no tensors. Each method may return
    what was seen: a sentence without a full stop that names parameters and modules. The run adds
    the line of the program, the step, the id, and `change`.

    Methods marked "in every step" must be cheap and must not read the values of tensors. All other
    methods are called in sampled steps only.
    """

    level: ClassVar[str] = "warning"  # "error", "warning" or "note"
    change: ClassVar[str] = ""  # what to write instead, in one sentence
    since: ClassVar[str] = ""  # the first torch that shows the check what it needs; "" for all

    def __init__(self, run: Run) -> None:
        self.run = run

    def ask(self, value: torch.Tensor, judge: Callable[[Any], str | None]) -> None:
        """Calls judge(value) after the step; judge returns what was seen, or None.

        The values of all checks are copied from the GPU together. A tensor with one element becomes
        a number, any other tensor a list of numbers.
        """
        self.run.ask(self, value, judge)

    # Optimizers

    def optimizer_made(self, optimizer: torch.optim.Optimizer) -> str | None:
        """An optimizer was constructed (in every step)."""

    def each_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        """optimizer.step() begins (in every step)."""

    def before_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        """optimizer.step() begins."""

    def after_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        """optimizer.step() has returned."""

    def cleared(self, owner: Any) -> str | None:
        """zero_grad() of an optimizer or a module has returned (in every step)."""

    def optimizer_loaded(
        self, optimizer: torch.optim.Optimizer, state: Any, before: Any
    ) -> str | None:
        """optimizer.load_state_dict(state) has returned (in every step).

        `before` is a list of its groups before the call, without their parameters.
        """

    # Gradients

    def before_backward(self, backward: Backward) -> str | None:
        """backward() begins (in every step, but the graph is read in sampled steps only)."""

    def after_backward(self, backward: Backward) -> str | None:
        """backward() has returned."""

    def differentiated(
        self, outputs: list[torch.Tensor], inputs: list[torch.Tensor], create_graph: bool
    ) -> str | None:
        """torch.autograd.grad(outputs, inputs) begins (in every step)."""

    def after_grad(
        self, backward: Backward, inputs: list[torch.Tensor], gradients: list[Any]
    ) -> str | None:
        """torch.autograd.grad() has returned the gradients. backward.tensors are its outputs."""

    def clipped(self, clip: Clip) -> str | None:
        """clip_grad_norm_() or clip_grad_value_() begins (in every step)."""

    def after_clip(self, clip: Clip) -> str | None:
        """clip_grad_norm_() or clip_grad_value_() has returned."""

    # Modules and functions

    def called(self, call: Call) -> str | None:
        """A module was called and has returned. Calls inside its forward() come first."""

    def function(self, function: Function) -> str | None:
        """A loss or another function of torch.nn.functional has returned."""

    def method(self, method: Function) -> str | None:
        """A method of a tensor, or the function of the same name in torch, has returned.

        hooks.METHODS lists the names. `arguments` has the tensor itself as "input", the other
        positional arguments as the tuple "others", and the keyword arguments.
        """

    def decorating(self, context: Any, function: Any) -> str | None:
        """no_grad() or inference_mode() is about to decorate a function (in every step)."""

    def drawn(self, name: str, distribution: Any, value: Any) -> str | None:
        """sample() or rsample() of a distribution has returned the value, or log_prob(value) has
        returned.
        """

    def mode_set(self, module: torch.nn.Module, training: bool) -> str | None:
        """module.train() or module.eval() has returned (in every step)."""

    # Mixed precision

    def scaler_made(self, scaler: Any, enabled: bool) -> str | None:
        """A GradScaler was constructed; `enabled` is the argument (in every step)."""

    def autocast_ended(self) -> str | None:
        """A block of autocast has ended (in every step)."""

    def unscaled(self, scaler: Any, optimizer: torch.optim.Optimizer) -> str | None:
        """scaler.unscale_(optimizer) begins (in every step)."""

    def scaler_stepped(self, scaler: Any, optimizer: Any, stepped: bool) -> str | None:
        """scaler.step(optimizer) has returned; `stepped` is False if it skipped the step (in every
        step).
        """

    def scaler_updated(self, scaler: Any) -> str | None:
        """scaler.update() has returned (in every step)."""

    # Learning rates

    def scheduler_made(self, scheduler: Any, optimizer: Any) -> str | None:
        """A scheduler was constructed (in every step)."""

    def before_schedule(self, scheduler: Any, metric: Any) -> str | None:
        """scheduler.step(metric) begins (in every step). `metric` is None without an argument."""

    def after_schedule(self, scheduler: Any, metric: Any) -> str | None:
        """scheduler.step(metric) has returned (in every step)."""

    # Data

    def loader_started(self, batches: Batches) -> str | None:
        """An iterator over a DataLoader was created (in every step)."""

    def batch(self, batches: Batches, batch: Any) -> str | None:
        """A DataLoader has returned a batch: the first batches of an iterator, and those in sampled
        steps.
        """

    def loader_ended(self, batches: Batches) -> str | None:
        """An iterator over a DataLoader was read to its end (in every step)."""

    def collating(self, samples: Any) -> str | None:
        """default_collate(samples) begins, for the first batches of the process that collates."""

    # Checkpoints and seeds

    def loaded(self, module: torch.nn.Module, state: Any, result: Any) -> str | None:
        """module.load_state_dict(state) has returned its missing and unexpected keys (in every
        step).
        """

    def state_read(self, module: torch.nn.Module, state: Any) -> str | None:
        """module.state_dict() has returned the state (in every step)."""

    def saved(self, obj: Any) -> str | None:
        """torch.save(obj) begins (in every step)."""

    def seeded(self, seed: Any) -> str | None:
        """torch.manual_seed(seed) begins (in every step)."""

    def random_state_set(self) -> str | None:
        """torch.set_rng_state() begins (in every step)."""

    # Ranks

    def ddp_made(self, ddp: Any) -> str | None:
        """A DistributedDataParallel has wrapped its module (in every step)."""

    def gathered(self, tensor: torch.Tensor, grad: bool) -> str | None:
        """torch.distributed.all_gather() begins to send the tensor (in every step).

        `grad` is True if gradients are recorded.
        """

    # The run

    def ended(self) -> str | None:
        """The program has ended, or the block that is watched."""


EVENTS = [name for name, value in vars(Check).items() if callable(value) and name[0] != "_"]
EVENTS.remove("ask")
