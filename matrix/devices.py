"""The devices: one row each, and everything that differs between them. Standard library only."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Device:
    """Everything that the harness has to know about a device.

    No field has a default, so that a new device states them all.
    """

    name: str  # torch's own, as in tensor.to(name)
    wheels: str  # which build of torch drives it: uv's --torch-backend
    platform: str  # sys.platform it needs; "" for any
    # programs or device files, at least one of which the driver installs; () if it needs none
    drivers: tuple[str, ...]
    facts: dict[str, tuple[str, ...]]  # a fact that a record states -> the command that prints it
    asynchronous: bool  # calls return before their work is done
    runner: str  # the label of the GitHub Actions runner that has the device

    @property
    def is_hosted(self) -> bool:
        """True if the label is one of GitHub's own runners."""
        return self.runner.startswith(("ubuntu-", "macos-", "windows-"))


ROWS = (
    Device(
        name="cpu",
        wheels="cpu",
        platform="",
        drivers=(),
        facts={},
        asynchronous=False,
        runner="ubuntu-24.04",
    ),
    Device(
        name="cuda",
        wheels="auto",  # uv chooses by the installed driver
        platform="",
        drivers=("nvidia-smi", "/dev/nvidiactl", "/dev/kfd"),
        facts={"driver": ("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader")},
        asynchronous=True,
        runner="cuda",  # a self-hosted one
    ),
    Device(
        name="mps",
        wheels="cpu",
        platform="darwin",
        drivers=(),
        facts={
            "name": ("sysctl", "-n", "machdep.cpu.brand_string"),
            "virtual": ("sysctl", "-n", "kern.hv_vmm_present"),  # "1": not the chip's own GPU
        },
        asynchronous=True,
        runner="macos-15",
    ),
)

BY_NAME = {row.name: row for row in ROWS}
DEVICES = tuple(BY_NAME)


def missing(name: str) -> str | None:
    """Why the device cannot be used on this machine, as far as that shows without torch. None if
    only a probe can tell.
    """
    row = BY_NAME[name]
    if row.platform and sys.platform != row.platform:
        return (
            f"{name} is not usable on this machine: it needs {row.platform}, this is {sys.platform}"
        )
    if row.drivers and not any(
        shutil.which(driver) or Path(driver).exists() for driver in row.drivers
    ):
        return (
            f"{name} is not usable on this machine: no driver (looked for {', '.join(row.drivers)})"
        )
    return None


def unusable(name: str, reason: str) -> str:
    """The message about a probe that failed."""
    return f"{name} is not usable on this machine: {reason}"
