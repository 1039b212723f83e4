"""What the callbacks share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..run import watch

if TYPE_CHECKING:
    from ..findings import Finding
    from ..run import Run


class Host:
    """Starts and stops a run. `options` are those of torch_repros.watch()."""

    def __init__(self, **options: Any) -> None:
        self.options = options
        self.run: Run | None = None

    @property
    def findings(self) -> list[Finding]:
        """What was found so far, the worst first."""
        return list(self.run.findings) if self.run else []

    def begin(self) -> None:
        self.run = watch(**self.options)

    def end(self) -> None:
        if self.run:
            self.run.stop()
