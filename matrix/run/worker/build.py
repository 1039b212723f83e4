"""Describes the tested build of torch, and checks whether a device works."""

from __future__ import annotations

import contextlib
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from .system import FORK


def describe() -> dict[str, Any]:
    """Describes the tested build in the format of records."""
    import torch

    try:
        import numpy

        numpy_version = numpy.__version__
    except ImportError:
        numpy_version = None
    return {
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "python": platform.python_version(),
        "numpy": numpy_version,
        "platform": sys.platform,
        "machine": platform.machine(),
        "os": f"macOS {platform.mac_ver()[0]}" if sys.platform == "darwin" else platform.platform(),
        "fork": FORK,
    }


def probe(device: str, facts: dict[str, list[str]] | None = None) -> dict[str, Any]:
    """Checks a device. A device is available only if it computes a correct result.

    On hosted macOS runners, mps.is_available() is True, but an allocation of 256 bytes fails.
    `facts` maps names to commands whose output is recorded. Returns {"ok", "reason", "name", ...}.
    """
    import torch

    try:
        x = torch.arange(64.0).reshape(8, 8)
        on_device = x.to(device)
        difference = float(((on_device @ on_device.T).cpu() - x @ x.T).abs().max())
    except Exception as error:  # backends raise different exceptions
        why = (str(error).strip() or "no message").splitlines()[0]
        return {"ok": False, "reason": f"{type(error).__name__}: {why}", "name": None}
    if not difference <= 1:  # also true for NaN
        return {"ok": False, "reason": f"an 8x8 product is off by {difference:g}", "name": None}
    reason = f"computed an 8x8 product in torch {torch.__version__}"
    return {"ok": True, "reason": reason, **_about(device), **_facts(facts or {})}


def _about(device: str) -> dict[str, Any]:
    """The facts that torch knows about the device. Some backends lack these functions."""
    import torch

    if device == "cpu":
        return {"name": _processor()}
    backend = getattr(torch, device, None)
    about = {"name": _ask(backend, "get_device_name")}
    if isinstance(capability := _ask(backend, "get_device_capability"), tuple):
        about["capability"] = ".".join(map(str, capability))
    if cudnn := _ask(getattr(torch.backends, "cudnn", None), "version"):
        about["cudnn"] = cudnn
    return about


def _processor() -> str:
    """The model of the processor, if known. On Linux, Python itself knows only the architecture."""
    with contextlib.suppress(OSError):
        facts = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        if match := re.search(r"^model name\s*:\s*(.+)$", facts, re.M):
            return match[1]
    return platform.processor() or platform.machine()


def _ask(module: Any, function: str) -> Any:
    try:
        return getattr(module, function)()
    except Exception:  # the function is missing or fails in this build
        return None


def _facts(commands: dict[str, list[str]]) -> dict[str, Any]:
    facts: dict[str, Any] = {name: _output(command) for name, command in commands.items()}
    if "virtual" in facts:  # in a virtual machine, the GPU is virtual too
        facts["paravirtual"] = facts.pop("virtual") == "1"
    return facts


def _output(command: list[str]) -> str | None:
    try:
        result = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.stdout.strip() or None
