from __future__ import annotations

from typing import Any

from ...check import Check


class SeedInsideTheLoop(Check):
    level = "warning"
    change = "Set the seed once, before the loop"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._seeds: list[
            tuple[Any, int]
        ] = []  # the last seeds, and the steps in which they were set

    def random_state_set(self) -> str | None:
        self._seeds = []  # perhaps the end of fork_rng(), which makes a seed harmless
        return None

    def seeded(self, seed: Any) -> str | None:
        self._seeds = [*self._seeds[-3:], (int(seed), self.run.step)]
        seeds, steps = zip(*self._seeds)
        if len(seeds) == 4 and len(set(seeds)) == 1:
            if steps == tuple(range(steps[0], steps[0] + 4)):
                return f"the seed {seed} is set again in each step"
        return None
