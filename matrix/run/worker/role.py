"""Runs a role of a reproducer in a separate process."""

from __future__ import annotations

import errno
import faulthandler
import gc
import importlib.util
import json
import os
import random
import signal
import sys
import sysconfig
import time
import traceback
from pathlib import Path
from typing import Any

from .build import probe
from .system import LINUX, exit_now

TEXT = 20_000  # maximum characters of a text or a detail; the rest is cut off
FILE = 256 * 2**20  # maximum number of bytes that a child may write to a file
DISK_FULL = 28  # exit code of a child that could not write its report (the number of ENOSPC)


def run_job(job: dict[str, Any], folder: str) -> None:
    """Runs a role of a reproducer in this process, and writes the outcome to report.json."""
    import torch

    torch.set_num_threads(1)
    _fresh_random_numbers()
    if job["device"] == "cpu":
        # A result for the CPU must be the same on a machine with a GPU.
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
        _limit_memory(job["memory"])
    else:
        # Before 2.9, torch itself sets this variable when CUDA starts.
        os.environ.setdefault("CUDA_MODULE_LOADING", "LAZY")
    _limit_files()
    Path(folder, "begun").touch()  # starts the time limit
    state, before = _global_state(), _resident()
    started = time.perf_counter()
    try:
        if job["role"] == "probe":
            seen: dict[str, Any] = {"outcome": "returned"}
            seen["value"] = probe(job["device"], job["facts"])
        else:
            seen = _returned(getattr(_load(job["path"]), job["role"])(job["device"]))
            now = _global_state()
            if changed := [name for name, value in state.items() if now[name] != value]:
                seen = {"outcome": "left", "detail": f"left changed: {', '.join(changed)}"}
    except SystemExit as error:
        seen = {"outcome": "exit", "detail": _cut(f"called sys.exit({error.code!r})")}
    except BaseException as error:
        seen = {"outcome": "raised", "detail": _describe(error, job)}
    seen["seconds"] = time.perf_counter() - started
    seen["peak_mib"] = max(0.0, _peak() - before)
    part = Path(folder, "report.part")
    part.write_text(json.dumps(seen), encoding="utf-8")
    os.replace(part, Path(folder, "report.json"))


# A role must not change this state, because users run the code in their own processes.
STATE = (  # functions of torch; some releases lack some of them
    "initial_seed",  # changes only when torch is seeded
    "get_default_dtype",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "is_anomaly_enabled",
    "is_autocast_enabled",
    "is_autocast_cpu_enabled",
    "are_deterministic_algorithms_enabled",
    "is_deterministic_algorithms_warn_only_enabled",
    "is_warn_always_enabled",
    "get_float32_matmul_precision",
    "get_num_threads",
    "utils.deterministic.fill_uninitialized_memory",
    "backends.cudnn.enabled",
    "backends.cudnn.benchmark",
    "backends.cudnn.deterministic",
    "backends.cudnn.allow_tf32",
    "backends.mkldnn.enabled",
    "multiprocessing.get_sharing_strategy",
)


def _global_state() -> dict[str, str]:
    import torch

    state = {f"torch.{name}": repr(_state_of(torch, name)) for name in STATE}
    state["the default device of torch"] = str(torch.empty(0).device)
    state["the random state of Python"] = str(hash(random.getstate()))
    if "numpy.random" in sys.modules:
        state["the random state of NumPy"] = repr(sys.modules["numpy.random"].get_state())
    state["os.environ"] = repr(sorted(os.environ.items()))
    state["the working directory"] = os.getcwd()
    state["files in the working directory"] = repr(sorted(os.listdir()))
    state["gc.isenabled()"] = repr(gc.isenabled())
    if sys.platform != "win32":
        import resource

        state["the memory limit"] = repr(resource.getrlimit(resource.RLIMIT_AS))
    return state


def _state_of(torch: Any, name: str) -> object:
    value = torch
    for part in name.split("."):
        value = getattr(value, part, None)
    try:
        return value() if callable(value) else value
    except Exception:  # the build may lack that backend
        return None


def _returned(value: object) -> dict[str, Any]:
    if value is None or isinstance(value, str):
        return {"outcome": "returned", "value": None if value is None else _cut(value)}
    return {"outcome": "not text", "detail": _cut(f"returned {value!r}; expected text or None")}


def _describe(error: BaseException, job: dict[str, Any]) -> str:
    """Describes the exception with its line and, if the memory limit was reached, the limit."""
    frames = traceback.extract_tb(error.__traceback__)
    line = next((frame.lineno for frame in reversed(frames) if frame.filename == job["path"]), None)
    text = _cut(f"{type(error).__name__}: {error}")
    if line:
        text += f" (line {line})"
    if job["device"] == "cpu" and (
        isinstance(error, MemoryError) or "can't allocate memory" in str(error)
    ):
        text += f" (its limit is {job['memory']} MiB)"
    return text


def _cut(text: str) -> str:
    # Records are published, so paths in messages start below site-packages.
    text = text.replace(sysconfig.get_path("platlib") + os.sep, "")
    return text if len(text) <= TEXT else f"{text[:TEXT]}... [{len(text)} characters in all]"


def _load(path: str) -> Any:
    spec = importlib.util.spec_from_file_location("reproducer", path)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["reproducer"] = module  # dataclasses and pickle look up the module by name
    # The import system would leave a compiled file in repros/, and might use an outdated one.
    exec(compile(Path(path).read_bytes(), path, "exec"), vars(module))
    return module


def _fresh_random_numbers() -> None:
    """Seeds numpy as in a new interpreter. Forking seeds Python's own generator, and torch's
    generator always starts from the same seed.
    """
    if "numpy.random" in sys.modules:  # otherwise, the first use imports it with a fresh seed
        sys.modules["numpy.random"].seed()


def _limit_memory(mib: int) -> None:
    """Limits memory relative to current mappings, because builds map 0.6 to 4.8 GB at startup."""
    if not LINUX:
        return  # macOS accepts RLIMIT_AS but does not enforce it
    import resource

    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    _limit(resource.RLIMIT_AS, mapped + mib * 2**20)


def _limit_files() -> None:
    if sys.platform == "win32":
        return
    import resource

    _limit(resource.RLIMIT_FSIZE, FILE)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it; not all writes are checked


def _limit(kind: int, value: int) -> None:
    """Sets a limit, or the machine's own limit if that is lower."""
    import resource

    hard = resource.getrlimit(kind)[1]
    resource.setrlimit(kind, (value if hard < 0 else min(value, hard), hard))


def _resident() -> float:
    if LINUX:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGESIZE") / 2**20
    return _peak()


def _peak() -> float:
    if sys.platform == "win32":
        return 0.0
    import resource

    unit = 2**20 if sys.platform == "darwin" else 2**10  # macOS counts bytes, Linux kibibytes
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def finish(job: dict[str, Any], folder: str) -> None:
    """Runs the job, then exits without running exit handlers, which could exceed the time limit."""
    code = 1
    try:
        faulthandler.enable()
        run_job(job, folder)
        sys.stdout.flush()
        sys.stderr.flush()
        code = 0
    except OSError as error:
        code = DISK_FULL if error.errno == errno.ENOSPC else 1
        traceback.print_exc()
    except BaseException:
        traceback.print_exc()
    finally:
        exit_now(code)
