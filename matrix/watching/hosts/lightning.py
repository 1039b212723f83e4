"""The watch as a callback of Lightning's Trainer.

from torch_repros.watching.hosts.lightning import Watch

trainer = Trainer(callbacks=[Watch()])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..run import watch

if TYPE_CHECKING:
    from ..run import Run

try:
    from lightning.pytorch import Callback
except ImportError:  # the same package under its older name
    from pytorch_lightning import Callback


class Watch(Callback):  # type: ignore[misc]
    """Names silent failures while fit(), validate(), test() or predict() runs.

    `options` are those of torch_repros.watch(). After the run, `findings` has what was found.
    """

    def __init__(self, **options: Any) -> None:
        self.options = options
        self.run: Run | None = None

    @property
    def findings(self) -> list[Any]:
        return list(self.run.findings) if self.run else []

    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        self.run = watch(**self.options)

    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
        self._stop()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self._stop()

    def _stop(self) -> None:
        if self.run:
            self.run.stop()
