"""Runs reproducers inside the interpreter under test; imports only torch and the standard library.

    python worker.py JOBS fork|fresh     (started by matrix.runner, which speaks JSON lines over stdin and stdout)

It imports torch once and forks a child per run: 10 to 40 ms instead of the 3 to 6 s of a fresh interpreter. Where a fork is
unsafe it starts fresh interpreters instead. A child has a time limit, a memory limit, one thread, a session and a folder
of its own, so that whatever a reproducer does ends with it.
"""

from __future__ import annotations

import sys

if __name__ == "__main__":
    del sys.path[0]  # this folder: nothing in it may be taken for a module of the standard library

import contextlib
import gc
import importlib.util
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

FORK = sys.platform == "linux"  # macOS frameworks and Windows cannot continue in a forked child
POLL = 0.001  # seconds between two looks at the children
STARTUP = 120.0  # seconds that a fresh interpreter has for importing torch


def describe() -> dict[str, Any]:
    """The build under test, as a record states it."""
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


def probe(device: str) -> dict[str, Any]:
    """A device is available when it computed something right, not when it says so.

    Hosted macOS runners answer `mps.is_available() == True` and then cannot allocate 256 bytes.
    Returns {"ok", "reason", "name"}.
    """
    import torch

    try:
        x = torch.arange(64.0).reshape(8, 8)
        there = x.to(device)
        difference = (there @ there.T).cpu() - x @ x.T
    except Exception as error:  # every backend has its own classes for "no"
        return {"ok": False, "reason": f"{type(error).__name__}: {str(error).strip().splitlines()[0]}", "name": None}
    if difference.abs().max() > 1:
        return {"ok": False, "reason": f"an 8x8 product is off by {difference.abs().max():g}", "name": None}
    return {"ok": True, "reason": f"computed an 8x8 product in torch {torch.__version__}", **_about(device)}


def _about(device: str) -> dict[str, Any]:
    import torch

    if device == "cuda":
        major, minor = torch.cuda.get_device_capability()
        return {
            "name": torch.cuda.get_device_name(),
            "capability": f"{major}.{minor}",
            "cudnn": torch.backends.cudnn.version(),
            "driver": _output("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"),
        }
    if device == "mps":
        # A virtual machine's GPU is not the chip's: its verdicts count for less and say so.
        return {
            "name": _output("sysctl", "-n", "machdep.cpu.brand_string"),
            "paravirtual": _output("sysctl", "-n", "kern.hv_vmm_present") == "1",
        }
    return {"name": platform.processor() or platform.machine()}


def _output(*command: str) -> str | None:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=10).stdout.strip() or None
    except (OSError, subprocess.TimeoutExpired):
        return None


# --- in the child ---------------------------------------------------------------------------------------------------


def run_job(job: dict[str, Any], report: str) -> None:
    """Runs one role of one reproducer in this process and writes what happened to the file `report`."""
    import torch

    torch.set_num_threads(1)
    if job["device"] == "cpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""  # a CPU cell means the same on a machine that has a GPU
        _limit_memory(job["memory"])
    Path(f"{report}.begun").touch()  # the time limit counts from here
    before = _resident()
    seen: dict[str, Any] = {}
    started = time.perf_counter()
    try:
        value = probe(job["device"]) if job["role"] == "probe" else getattr(_load(job["path"]), job["role"])(job["device"])
        seen = {"outcome": "returned", "value": value if isinstance(value, (str, dict, type(None))) else repr(value)}
        if not isinstance(value, (str, dict, type(None))):
            seen["outcome"], seen["detail"] = "not text", f"returned {value!r}; expected text or None"
    except SystemExit as error:
        seen = {"outcome": "exit", "detail": f"called sys.exit({error.code!r})"}
    except BaseException as error:
        frames = traceback.extract_tb(error.__traceback__)
        line = next((f.lineno for f in reversed(frames) if f.filename == job["path"]), None)
        text = f"{type(error).__name__}: {error}"
        out_of_memory = isinstance(error, MemoryError) or "can't allocate memory" in str(error)
        limit = f" (its limit is {job['memory']} MiB)" if out_of_memory and job["device"] == "cpu" else ""
        seen = {"outcome": "raised", "detail": f"{text}{f' (line {line})' if line else ''}{limit}"}
    seen["seconds"] = time.perf_counter() - started
    seen["peak_mib"] = max(0.0, _peak() - before)
    scratch = f"{report}.part"
    Path(scratch).write_text(json.dumps(seen), encoding="utf-8")
    os.replace(scratch, report)


def _load(path: str) -> Any:
    spec = importlib.util.spec_from_file_location("reproducer", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["reproducer"] = module  # dataclasses and pickle look their module up by name
    spec.loader.exec_module(module)
    return module


def _limit_memory(mib: int) -> None:
    """Relative to what is mapped now: builds map 0.6 to 4.8 GB at start."""
    if sys.platform != "linux":
        return  # macOS accepts RLIMIT_AS and does not enforce it
    import resource

    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (mapped + mib * 2**20, hard))


def _resident() -> float:
    if sys.platform == "linux":
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20
    return _peak()


def _peak() -> float:
    if sys.platform == "win32":
        return 0.0
    import resource

    unit = 2**20 if sys.platform == "darwin" else 2**10  # macOS counts bytes, Linux kibibytes
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


# --- in the parent --------------------------------------------------------------------------------------------------


class Child:
    """One run: a process in a session and a folder of its own."""

    def __init__(self, job: dict[str, Any], fork: bool) -> None:
        self.job = job
        self.folder = Path(tempfile.mkdtemp(prefix="repro-"))
        self.report, self.output = self.folder / "report.json", self.folder / "output.txt"
        (self.folder / "cwd").mkdir()
        self.started = time.perf_counter()
        self.begun = fork  # a forked child has torch from the start
        self.deadline = self.started + (job["timeout"] if fork else STARTUP)
        self.timed_out = False
        self.process: subprocess.Popen[bytes] | None = None
        if fork:
            self.pid = os.fork()
            if self.pid == 0:
                self._in_child()
        else:
            command = [sys.executable, __file__, "--one", json.dumps(job), str(self.report)]
            with open(self.output, "wb") as output:
                self.process = subprocess.Popen(
                    command, cwd=self.folder / "cwd", stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
                )
            self.pid = self.process.pid

    def _in_child(self) -> None:
        try:
            os.setsid()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.chdir(self.folder / "cwd")
            for number, (path, flags) in enumerate(
                [(os.devnull, os.O_RDONLY), *[(str(self.output), os.O_WRONLY | os.O_CREAT | os.O_APPEND)] * 2]
            ):
                os.dup2(os.open(path, flags, 0o600), number)
            import faulthandler

            faulthandler.enable()
            run_job(self.job, str(self.report))
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(0)  # never the parent's exit handlers; a run that wrote no report says so itself

    def poll(self) -> int | None:
        """The exit code (negative: a signal), or None while it runs."""
        if not self.begun and Path(f"{self.report}.begun").exists():
            self.begun, self.deadline = True, time.perf_counter() + self.job["timeout"]
        if time.perf_counter() > self.deadline and not self.timed_out:
            self.timed_out = True
            self.kill()
        if self.process is not None:
            return self.process.poll()
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid == 0:
            return None
        return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)

    def kill(self) -> None:
        """The child and whatever it started."""
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        elif self.process is not None:
            self.process.kill()

    def result(self, code: int) -> dict[str, Any]:
        """What happened, with the driver's view (`wall`) beside the child's own (`seconds`)."""
        wall = time.perf_counter() - self.started
        self.kill()  # a grandchild may still live
        seen: dict[str, Any] = {"seconds": wall, "peak_mib": None}
        if self.timed_out and not self.report.exists():
            seen.update(outcome="timeout", detail=f"still running after {self.job['timeout']:g} s; killed")
        elif code < 0 and not self.timed_out:
            name = signal.Signals(-code).name
            seen.update(outcome="signal", detail=f"killed by {name}{self._tail()}")
        elif self.report.exists():
            seen = json.loads(self.report.read_text(encoding="utf-8"))
        else:
            seen.update(outcome="no report", detail=f"ended with exit code {code} and no report{self._tail()}")
        shutil.rmtree(self.folder, ignore_errors=True)
        return {**seen, "job": self.job["number"], "wall": wall}

    def _tail(self) -> str:
        """The last frames or lines that it printed: where a segfault happened."""
        text = self.output.read_text(encoding="utf-8", errors="replace") if self.output.exists() else ""
        frames = re.findall(r'File "(.+?)", line (\d+) in (\w+)', text)
        if frames:
            file, line, function = frames[0]
            return f" in {function} ({Path(file).name}:{line})"
        lines = text.strip().splitlines()
        return f": {lines[-1][:200]}" if lines else ""


def _serve(jobs: int, fork: bool) -> None:
    """Says what this build is, probes the devices asked for, then runs the jobs that come back."""
    # The protocol keeps a private copy of stdout: whatever torch prints on import goes to stderr instead.
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # so that the children end with it

    def say(**message: Any) -> None:
        channel.write(json.dumps(message) + "\n")
        channel.flush()

    import torch

    torch.set_num_threads(1)  # before any operation: a parent that ran on many threads hangs its forked children
    with contextlib.suppress(ImportError):
        import torch._dynamo

    import torch.utils.data

    say(event="build", **describe())
    for device in json.loads(sys.stdin.readline()):
        child = Child({"number": device, "role": "probe", "device": device, "timeout": 120, "memory": 4096, "path": ""}, fork)
        while (code := child.poll()) is None:
            time.sleep(POLL)
        seen = child.result(code)
        say(event="device", device=device, **(seen.get("value") or {"ok": False, "reason": seen["detail"], "name": None}))

    gc.collect()
    gc.freeze()  # a collection in a child would otherwise touch, and so copy, every page it shares with its parent
    queue = [json.loads(line) for line in sys.stdin]
    queue.reverse()
    running: list[Child] = []
    driver = os.getppid()
    try:
        while queue or running:
            while queue and len(running) < jobs:
                running.append(Child(queue.pop(), fork))
            for child in list(running):
                if (code := child.poll()) is not None:
                    running.remove(child)
                    say(event="result", **child.result(code))
            if os.getppid() != driver:
                break  # nobody is listening any more
            time.sleep(POLL)
    finally:
        for child in running:
            child.kill()
            shutil.rmtree(child.folder, ignore_errors=True)


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        run_job(json.loads(sys.argv[2]), sys.argv[3])
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)  # as a forked child ends: tearing torch down takes longer than some time limits
    else:
        _serve(jobs=int(sys.argv[1]), fork=FORK and sys.argv[2] == "fork")
