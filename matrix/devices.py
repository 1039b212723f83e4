"""Lists the devices and their differences, one row per device. Uses only the standard library."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Device:
    """Everything that the harness needs to know about a device.

    No field has a default, so a new device has to specify every field.
    """

    name: str  # torch's name, as in tensor.to(name)
    wheels: str  # the build of torch that supports it: uv's --torch-backend
    platform: str  # the required sys.platform; "" for any
    # programs or device files, at least one of which the driver installs; () if no driver is needed
    drivers: tuple[str, ...]
    facts: dict[str, tuple[str, ...]]  # a fact that a record states -> the command that prints it
    asynchronous: bool  # True if calls return before their work is complete
    runner: str  # the label of the GitHub Actions runner that has the device

    @property
    def is_hosted(self) -> bool:
        """True if the label names a runner hosted by GitHub."""
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
        wheels="auto",  # uv chooses the build for the installed driver
        platform="",
        drivers=("nvidia-smi", "/dev/nvidiactl", "/dev/kfd"),
        facts={"driver": ("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader")},
        asynchronous=True,
        runner="cuda",  # a self-hosted runner
    ),
    Device(
        name="mps",
        wheels="cpu",
        platform="darwin",
        drivers=(),
        facts={
            "name": ("sysctl", "-n", "machdep.cpu.brand_string"),
            "virtual": ("sysctl", "-n", "kern.hv_vmm_present"),  # "1" if the GPU is virtual
        },
        asynchronous=True,
        runner="macos-15",
    ),
)

BY_NAME = {row.name: row for row in ROWS}
DEVICES = tuple(BY_NAME)


def missing(name: str) -> str | None:
    """The reason why this machine cannot use the device, if it is known without torch. None means
    that a probe has to decide.
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
    """The message for a failed probe."""
    return f"{name} is not usable on this machine: {reason}"
