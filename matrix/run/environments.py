"""Creates temporary environments with uv, each with one release of torch."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from packaging.version import Version

from ..devices import BY_NAME
from ..torches import Torch
from . import processes

# In bytes. With less free space, uv's cache is not used. Unpacked, torch takes at most 7 GB.
SMALL_DISK = 15 * 2**30


class EnvironmentFailed(Exception):
    """uv is missing or has failed. A failed environment leaves no files behind."""


def find_uv() -> str:
    """The uv executable, from PATH or from the Python package `uv`."""
    beside = Path(sys.executable).parent / ("uv.exe" if os.name == "nt" else "uv")
    uv = shutil.which("uv") or (str(beside) if beside.exists() else None)
    if uv is None:
        raise EnvironmentFailed("uv is required but was not found: pip install uv")
    return uv


def default_root(uv: str) -> Path:
    """The folder next to uv's cache. On the same file system, an environment consists of links, so
    creating it takes only a second.
    """
    cache = subprocess.run([uv, "cache", "dir"], capture_output=True, text=True).stdout.strip()
    return (Path(cache) if cache else Path.home() / ".cache" / "uv").parent / "torch-repros"


@contextlib.contextmanager
def environment(
    torch: Torch, device: str = "cpu", root: Path | None = None, keep: bool = False
) -> Iterator[str]:
    """Yields the interpreter of an environment with this torch and numpy. The environment is
    removed afterwards, unless `keep` is set.

    Other processes that need the same environment have to wait. The build for the device is
    installed from PyTorch's index if the index is reachable. Otherwise, the default index is used.
    Its build for Linux is a CUDA build of several GB, which also runs on the CPU.
    """
    backend = BY_NAME[device].wheels
    uv = find_uv()
    root = root or default_root(uv)
    folder = root / f"torch-{torch.version}-{backend}"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    complete = folder / "complete"  # written last; if it is missing, the creation was interrupted
    with _locked(folder), processes.leaving_by_exception():
        if not complete.exists():
            try:
                _remove(folder)
                _create(uv, torch, folder, python, backend)
                complete.touch()
            except BaseException as error:
                _remove(folder)
                if isinstance(error, OSError):
                    why = f"torch {torch.version}: {error.strerror}: {folder}"
                    raise EnvironmentFailed(why) from None
                raise
        try:
            with _without_pythonpath():
                yield str(python)
        finally:
            if not keep:
                _remove(folder)


@contextlib.contextmanager
def _without_pythonpath() -> Iterator[None]:
    """Removes PYTHONPATH, which could hide the environment's packages, including torch."""
    path = os.environ.pop("PYTHONPATH", None)
    try:
        yield
    finally:
        if path is not None:
            os.environ["PYTHONPATH"] = path


def _remove(folder: Path) -> None:
    """Removes an environment. If this is interrupted, the remainder does not count as complete."""
    with contextlib.suppress(OSError):
        (folder / "complete").unlink()
    shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    import filelock  # imported here, because it takes longer than the rest of the command line

    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock = filelock.FileLock(f"{folder}.lock")
        lock.acquire()
    except OSError as error:
        raise EnvironmentFailed(f"{error.strerror}: {folder.parent}") from None
    try:
        yield
    finally:
        lock.release()


def _create(uv: str, torch: Torch, folder: Path, python: Path, backend: str) -> None:
    interpreter = torch.interpreter()
    _run(torch, [uv, "venv", "--quiet", "--python", interpreter, str(folder)])
    install = [uv, "pip", "install", "--quiet", "--python", str(python)]
    if shutil.disk_usage(folder).free < SMALL_DISK:
        install.append("--no-cache")
    own_build = [*install, "--torch-backend", backend, *torch.requirements]
    if _completed(own_build, {**os.environ, "UV_HTTP_RETRIES": "0"}).returncode:
        _run(torch, [*install, *torch.requirements])


def _run(torch: Torch, command: list[str]) -> None:
    result = _completed(command)
    if result.returncode:
        lines = [line.strip() for line in result.stderr.strip().splitlines() if line.strip()]
        raise EnvironmentFailed(
            f"torch {torch.version}: {' '.join(lines[-4:]) or f'uv ended with {result.returncode}'}"
        )


def _completed(
    command: list[str], env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    with processes.started(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=env,
    ) as process:
        output, errors = process.communicate()
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def missing_releases(releases: list[Torch], uv: str) -> list[str]:
    """The final releases missing in torches.toml: new minors, and new patches of listed minors."""
    command = [
        uv,
        "tool",
        "run",
        "pip",
        "index",
        "versions",
        "torch",
        "--disable-pip-version-check",
    ]
    result = subprocess.run(command, capture_output=True, text=True)
    line = next(
        (line for line in result.stdout.splitlines() if line.startswith("Available versions:")),
        None,
    )
    if line is None:
        why = (result.stderr.strip().splitlines() or ["no output"])[-1]
        raise EnvironmentFailed(f"the package index did not answer: {why}")
    released = [Version(text.strip()) for text in line.split(":", 1)[1].split(",")]
    listed = {torch.minor: Version(torch.version) for torch in releases}
    newest: dict[str, Version] = {}
    for version in sorted(released):
        if not version.is_prerelease and version >= Version(releases[0].version):
            newest[f"{version.major}.{version.minor}"] = Version(version.public)
    return [
        str(version)
        for minor, version in newest.items()
        if minor not in listed or version > listed[minor]
    ]
