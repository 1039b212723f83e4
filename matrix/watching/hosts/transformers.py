"""The watch as a callback of the Trainer of transformers.

from torch_repros.watching.hosts.transformers import Watch

trainer = Trainer(model, arguments, train_dataset=rows, callbacks=[Watch()])
"""

from __future__ import annotations

from typing import Any

from transformers import TrainerCallback

from .shared import Host


class Watch(Host, TrainerCallback):  # type: ignore[misc]
    """Names silent failures from the construction of the Trainer to the end of train().

    `options` are those of torch_repros.watch(). After the run, `findings` has what was found.
    """

    def on_init_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.begin()

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.end()
