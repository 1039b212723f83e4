"""The watch as a callback of the Trainer of transformers.

from torch_repros.watching.hosts.transformers import Watch

trainer = Trainer(model, arguments, train_dataset=rows, callbacks=[Watch()])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback

from ..run import watch

if TYPE_CHECKING:
    from ..run import Run


class Watch(TrainerCallback):  # type: ignore[misc]
    """Names silent failures from the construction of the Trainer to the end of train().

    `options` are those of torch_repros.watch(). After the run, `findings` has what was found.
    """

    def __init__(self, **options: Any) -> None:
        self.options = options
        self.run: Run | None = None

    @property
    def findings(self) -> list[Any]:
        return list(self.run.findings) if self.run else []

    def on_init_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.run = watch(**self.options)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self.run:
            self.run.stop()
