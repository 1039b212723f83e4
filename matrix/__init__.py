"""Finds the reproducers, runs each of them in a child process on the torch under test, and judges
the outcomes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .watching.run import Run

__version__ = "0.1.0"
HOME = "https://github.com/torch-repros/torch-repros"


def watch(**options: Any) -> Run:
    """Names silent failures of this process from now on, or during a `with` block.

    Needs torch. See `watching.run.watch()` for the options.

    >>> import torch_repros
    >>> torch_repros.watch()  # before the other imports of torch
    """
    from .watching.run import watch

    return watch(**options)
