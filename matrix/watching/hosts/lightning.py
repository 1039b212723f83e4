"""The watch as a callback of Lightning's Trainer.

from torch_repros.watching.hosts.lightning import Watch

trainer = Trainer(callbacks=[Watch()])
"""

from __future__ import annotations

from typing import Any

from .shared import Host

try:
    from lightning.pytorch import Callback
except ImportError:  # the same package under its older name
    from pytorch_lightning import Callback


class Watch(Host, Callback):  # type: ignore[misc]
    """Names silent failures while fit(), validate(), test() or predict() runs.

    `options` are those of torch_repros.watch(). After the run, `findings` has what was found.
    """

    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        self.begin()

    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
        self.end()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self.end()
