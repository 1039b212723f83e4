"""Throw-away environments, one torch each, made with uv."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from ..torches import Torch

SMALL_DISK = 15 * 2**30  # bytes free: below, nothing is left in uv's cache either (one torch unpacks to at most 7 GB)


class EnvironmentFailed(Exception):
    """An environment could not be made; nothing of it is left."""


def find_uv() -> str:
    """The uv executable: on the path, or the one that the Python package `uv` brought."""
    beside = Path(sys.executable).parent / ("uv.exe" if os.name == "nt" else "uv")
    found = shutil.which("uv") or (str(beside) if beside.exists() else None)
    if found is None:
        raise EnvironmentFailed("environments are made with uv, which is not here: pip install uv")
    return found


def default_root(uv: str) -> Path:
    """Beside uv's cache: on one file system an environment is made of links and costs a second."""
    cache = subprocess.run([uv, "cache", "dir"], capture_output=True, text=True).stdout.strip()
    return (Path(cache) if cache else Path.home() / ".cache" / "uv").parent / "torch-repros"


@contextlib.contextmanager
def environment(torch: Torch, device: str = "cpu", root: Path | None = None, keep: bool = False) -> Iterator[str]:
    """The interpreter of an environment that has this torch and numpy; removed afterwards unless keep is set.

    Takes PyTorch's own build for the device where its index can be reached, else the default index's, which on Linux is a
    CUDA build of several GB that runs on the CPU as well.
    """
    backend = "auto" if device == "cuda" else "cpu"  # auto: by the driver that is installed
    uv = find_uv()
    root = root or default_root(uv)
    folder = root / f"torch-{torch.version}-{backend}"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    complete = folder / "complete"  # written last: an environment without it was interrupted
    if not complete.exists():
        shutil.rmtree(folder, ignore_errors=True)
        try:
            root.mkdir(parents=True, exist_ok=True)
            _create(uv, torch, folder, python, backend)
            complete.touch()
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise EnvironmentFailed(f"torch {torch.version}: {error.strerror}: {folder}") from None
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
    try:
        yield str(python)
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def _create(uv: str, torch: Torch, folder: Path, python: Path, backend: str) -> None:
    interpreter = torch.interpreter()
    _run(torch, [uv, "venv", "--quiet", "--python", interpreter, str(folder)])
    install = [uv, "pip", "install", "--quiet", "--python", str(python)]
    if shutil.disk_usage(folder).free < SMALL_DISK:
        install.append("--no-cache")
    own_build = [*install, "--torch-backend", backend, *torch.requirements]
    if subprocess.run(own_build, capture_output=True, env={**os.environ, "UV_HTTP_RETRIES": "0"}).returncode:
        _run(torch, [*install, *torch.requirements])


def _run(torch: Torch, command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        lines = [line.strip() for line in done.stderr.strip().splitlines() if line.strip()]
        raise EnvironmentFailed(f"torch {torch.version}: {' '.join(lines[-4:]) or f'uv ended with {done.returncode}'}")
