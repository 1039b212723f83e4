"""Runs a place with pasted lines, and its reference, in the interpreter under test.

    python run.py PROGRAM SETTING FIXES      (a forked process of tests/forked.py runs it)

Prints one line per difference from the reference. Exits with 1 if there are differences, else 0.
"""

from __future__ import annotations

import runpy
import sys
import traceback
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from tests.trials.advice.trainers import SETTINGS, Trainer, seed

TOLERANCE = 1e-4


def main(program: str, setting: str) -> list[str]:
    torch.set_num_threads(1)
    place = runpy.run_path(program)
    seed()
    trainer = Trainer(SETTINGS[setting])
    expected = place["reference"](trainer)
    should_be = trainer.observed()
    seed()
    trainer = Trainer(SETTINGS[setting])
    try:
        seen = place["place"](trainer)
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, GeneratorExit)):
            raise
        return [f"it raises {''.join(traceback.format_exception_only(type(error), error)).strip()}"]
    is_ = trainer.observed()
    problems = [
        f"{name}: {is_.get(name)!r} instead of {should_be.get(name)!r}"
        for name in {**should_be, **is_}
        if is_.get(name) != should_be.get(name)
    ]
    if "same" in place:
        problems += filter(None, [place["same"](seen, expected)])
    else:
        problems += differences(seen, expected, place.get("TOLERANCE", TOLERANCE))
    return problems


def differences(seen: Any, expected: Any, tolerance: float, where: str = "result") -> list[str]:
    """The differences between two results: tensors and numbers in dicts and lists."""
    if isinstance(expected, dict) and isinstance(seen, dict) and seen.keys() == expected.keys():
        pairs = [(f"{where}[{key!r}]", seen[key], expected[key]) for key in expected]
    elif isinstance(expected, (list, tuple)) and isinstance(seen, (list, tuple)):
        if len(seen) != len(expected):
            return [f"{where}: {len(seen)} values instead of {len(expected)}"]
        pairs = [(f"{where}[{n}]", *pair) for n, pair in enumerate(zip(seen, expected))]
    elif isinstance(expected, torch.Tensor) and isinstance(seen, torch.Tensor):
        if seen.shape != expected.shape:
            return [f"{where}: shape {tuple(seen.shape)} instead of {tuple(expected.shape)}"]
        floating = seen.is_floating_point() and expected.is_floating_point()
        if floating and seen.dtype != expected.dtype:
            return [f"{where}: {seen.dtype} instead of {expected.dtype}"]
        close = torch.allclose(
            seen.detach().double(),
            expected.detach().double(),
            rtol=tolerance,
            atol=tolerance,
            equal_nan=True,
        )
        off = (seen.detach().double() - expected.detach().double()).abs().max() if not close else 0
        return [] if close else [f"{where}: off by {float(off):.3g}, more than {tolerance:g}"]
    elif isinstance(expected, float) and isinstance(seen, (int, float)):
        close = abs(seen - expected) <= tolerance * max(1.0, abs(expected)) or seen == expected
        both_nan = seen != seen and expected != expected
        return [] if close or both_nan else [f"{where}: {seen!r} instead of {expected!r}"]
    else:
        return [] if seen == expected else [f"{where}: {seen!r} instead of {expected!r}"]
    return [line for name, a, b in pairs for line in differences(a, b, tolerance, name)]


if __name__ == "__main__":
    sys.path.append(sys.argv[3])
    problems = main(*sys.argv[1:3])
    print("\n".join(problems) or "as the reference")
    sys.exit(bool(problems))
