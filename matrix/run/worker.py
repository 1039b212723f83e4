"""Runs reproducers in the interpreter under test; imports only torch and the standard library.

    python worker.py fork|fresh    (started by runner.py; JSON lines over stdin and stdout)

It imports torch once and forks a child per run, which takes 10 to 40 ms; a fresh interpreter takes
3 to 6 s. Where a fork is unsafe or would lose the device, it starts fresh interpreters. It starts
every job at once and keeps no queue: the runner schedules.

A child has a time limit, a memory limit, a limit on the size of a file, one thread, and a session
and a folder of its own; the folder is its temporary folder too. What it starts ends with it: its
process group is killed, after a moment to end by itself, and on Linux daemons as well, because the
worker adopts them. If the worker dies, Linux kills its children (though not theirs).

A child holds no descriptor of the protocol and no token, without which a message does not count,
and it may not open the worker's descriptors or memory through /proc. Not prevented: what root may
do, and what processes of one user may do to each other (kill the worker, write into the folder of
another run). This guards against accidents, not attacks.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    # Nothing in this folder may be taken for a module of the standard library.
    HERE = os.path.dirname(os.path.realpath(__file__))
    sys.path[:] = [path for path in sys.path if not path or os.path.realpath(path) != HERE]

import contextlib
import errno
import faulthandler
import functools
import gc
import importlib.util
import json
import math
import platform
import queue
import random
import re
import select
import shutil
import signal
import subprocess
import sysconfig
import tempfile
import threading
import time
import traceback
from pathlib import Path
from typing import Any

LINUX = sys.platform == "linux"
_exit = os._exit  # a reproducer may replace it, and its process must not go on as a worker
FORK = LINUX  # macOS frameworks and Windows cannot continue in a forked child
POLL = 0.001  # seconds between two looks at the children
TEXT = 20_000  # characters of a text or a detail; the rest is cut
REPORT = 2**20  # bytes of a report that are read
OUTPUT = 64 * 2**10  # bytes of a child's output that are read, from its end
LINGER = 1.0  # seconds that what a child started has for ending after it
FILE = 256 * 2**20  # bytes that a child may write to one file
NEARLY_FULL = 4 * 2**20  # a disk with fewer bytes free counts as full
DISK_FULL = 28  # exit code of a child that could not write its report (ENOSPC's number)

SET_PDEATHSIG, SET_DUMPABLE, SET_CHILD_SUBREAPER = 1, 4, 36  # of Linux's prctl()

try:
    import ctypes

    _libc = ctypes.CDLL(None) if LINUX else None
except ImportError:  # an interpreter that was built without it
    _libc = None


def _prctl(option: int, value: int) -> None:
    if _libc is not None:
        _libc.prctl(option, *map(ctypes.c_ulong, (value, 0, 0, 0)))


def _end_with_parent(parent: int, number: int) -> None:
    """Linux sends this process the signal when its parent dies (or the thread that started it)."""
    _prctl(SET_PDEATHSIG, number)
    if os.getppid() != parent:  # it died before the call
        _exit(1)


# --- what is measured -----------------------------------------------------------------------------


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


def probe(device: str, facts: dict[str, list[str]] | None = None) -> dict[str, Any]:
    """A device counts as available only if it computes a correct result.

    Hosted macOS runners answer `mps.is_available() == True` and then cannot allocate 256 bytes.
    `facts` are commands whose output is kept under their names.
    Returns {"ok", "reason", "name", ...}.
    """
    import torch

    try:
        x = torch.arange(64.0).reshape(8, 8)
        there = x.to(device)
        difference = float(((there @ there.T).cpu() - x @ x.T).abs().max())
    except Exception as error:  # every backend has its own classes for "no"
        why = (str(error).strip() or "no message").splitlines()[0]
        return {"ok": False, "reason": f"{type(error).__name__}: {why}", "name": None}
    if not difference <= 1:  # also NaN
        return {"ok": False, "reason": f"an 8x8 product is off by {difference:g}", "name": None}
    reason = f"computed an 8x8 product in torch {torch.__version__}"
    return {"ok": True, "reason": reason, **_about(device), **_facts(facts or {})}


def _about(device: str) -> dict[str, Any]:
    """What torch knows of the device. Backends share these names, as far as they have them."""
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
    """Its model where the system says so: Python knows no more than the architecture on Linux."""
    with contextlib.suppress(OSError):
        facts = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        if found := re.search(r"^model name\s*:\s*(.+)$", facts, re.M):
            return found[1]
    return platform.processor() or platform.machine()


def _ask(module: Any, function: str) -> Any:
    try:
        return getattr(module, function)()
    except Exception:  # it has none, or the build cannot tell
        return None


def _facts(commands: dict[str, list[str]]) -> dict[str, Any]:
    found: dict[str, Any] = {name: _output(command) for name, command in commands.items()}
    if "virtual" in found:  # a virtual machine's GPU is not the chip's: its verdicts count for less
        found["paravirtual"] = found.pop("virtual") == "1"
    return found


def _output(command: list[str]) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None


# --- in the child ---------------------------------------------------------------------------------


def run_job(job: dict[str, Any], folder: str) -> None:
    """Runs one role of one reproducer in this process; writes what happened to report.json."""
    import torch

    torch.set_num_threads(1)
    _fresh_random_numbers()
    if job["device"] == "cpu":
        # A result for the CPU means the same on a machine that has a GPU.
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
        _limit_memory(job["memory"])
    else:
        # Torch before 2.9 sets it when CUDA starts: not a change that the reproducer makes.
        os.environ.setdefault("CUDA_MODULE_LOADING", "LAZY")
    _limit_files()
    Path(folder, "begun").touch()  # the time limit counts from here
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


# What a role must leave as it was: people run its code in their own process.
STATE = (  # of torch, as far as a release has them
    "initial_seed",  # seeded; drawing random numbers does not change it
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
    except Exception:  # a build without that backend
        return None


def _returned(value: object) -> dict[str, Any]:
    if value is None or isinstance(value, str):
        return {"outcome": "returned", "value": None if value is None else _cut(value)}
    return {"outcome": "not text", "detail": _cut(f"returned {value!r}; expected text or None")}


def _describe(error: BaseException, job: dict[str, Any]) -> str:
    """The exception with its line, and with the limit that it met."""
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
    # Records are published: a path in a message is told from site-packages on.
    text = text.replace(sysconfig.get_path("platlib") + os.sep, "")
    return text if len(text) <= TEXT else f"{text[:TEXT]}... [{len(text)} characters in all]"


def _load(path: str) -> Any:
    spec = importlib.util.spec_from_file_location("reproducer", path)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["reproducer"] = module  # dataclasses and pickle look their module up by name
    # Not by the loader: it leaves a compiled file in repros/, and may take an old one for current.
    exec(compile(Path(path).read_bytes(), path, "exec"), vars(module))
    return module


def _fresh_random_numbers() -> None:
    """As in a new interpreter. A fork seeds Python's own; torch's start from one seed."""
    if "numpy.random" in sys.modules:  # numpy imports it when it is first used: then it is fresh
        sys.modules["numpy.random"].seed()


def _limit_memory(mib: int) -> None:
    """Relative to what is mapped now: builds map 0.6 to 4.8 GB at start."""
    if not LINUX:
        return  # macOS accepts RLIMIT_AS and does not enforce it
    import resource

    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    _limit(resource.RLIMIT_AS, mapped + mib * 2**20)


def _limit_files() -> None:
    if sys.platform == "win32":
        return
    import resource

    _limit(resource.RLIMIT_FSIZE, FILE)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it; a write may go unchecked


def _limit(kind: int, value: int) -> None:
    """Or less, where the machine's own limit is lower."""
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


def _finish(job: dict[str, Any], folder: str) -> None:
    """Runs the job and ends the process, without exit handlers: they can exceed a time limit."""
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
        _exit(code)


# --- in the parent --------------------------------------------------------------------------------


class Channel:
    """The protocol: requests from the runner's pipe, messages to it."""

    def __init__(self, threaded: bool) -> None:
        # Descriptors that only this process has; what torch prints on import goes to stderr.
        self.incoming, self.outgoing = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        self.buffer = b""
        self.chunks: queue.SimpleQueue[bytes] | None = None
        self.hello = json.loads(self._first_line())
        self.token = self.hello.pop("token")
        if threaded:  # Windows cannot wait for a pipe; a process that forks must not have threads
            self.chunks = queue.SimpleQueue()
            threading.Thread(target=self._read, daemon=True).start()

    def _first_line(self) -> bytes:
        while b"\n" not in self.buffer:
            if not (chunk := os.read(self.incoming, 2**16)):
                sys.exit(0)  # the runner has gone
            self.buffer += chunk
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line

    def _read(self) -> None:
        chunk = b"-"
        while chunk:
            chunk = os.read(self.incoming, 2**16)
            assert self.chunks is not None
            self.chunks.put(chunk)

    def requests(self, seconds: float) -> list[dict[str, Any]] | None:
        """Those that arrive within the seconds, or None when the runner has closed its end."""
        chunk: bytes | None = None
        if self.chunks is not None:
            with contextlib.suppress(queue.Empty):
                chunk = self.chunks.get(timeout=seconds)
        elif select.select([self.incoming], [], [], seconds)[0]:
            chunk = os.read(self.incoming, 2**16)
        if chunk == b"":
            return None
        *lines, self.buffer = (self.buffer + (chunk or b"")).split(b"\n")
        return [json.loads(line) for line in lines]

    def say(self, event: str, message: dict[str, Any]) -> None:
        data = (json.dumps({**message, "event": event, "token": self.token}) + "\n").encode()
        while data:
            data = data[os.write(self.outgoing, data) :]

    def abandon(self) -> None:
        """In a forked child, before anything else."""
        os.close(self.incoming)
        os.close(self.outgoing)
        self.token, self.buffer = "", b""


class Child:
    """One run: a process in a session and a folder of its own."""

    def __init__(
        self, job: dict[str, Any], folder: Path, fork: bool, startup: float, channel: Channel
    ) -> None:
        self.job, self.folder = job, folder
        self.output = folder / "output.txt"
        (folder / "cwd").mkdir(parents=True)
        self.started = time.perf_counter()
        self.begun = fork  # a forked child has torch from the start
        self.deadline = self.started + (job["timeout"] if fork else startup)
        self.timed_out = False
        self.code: int | None = None
        self.wall = 0.0
        self.process: subprocess.Popen[bytes] | None = None
        if fork:
            parent = os.getpid()
            self.pid = os.fork()
            if self.pid == 0:
                self._in_child(parent, channel)
        else:
            command = [
                sys.executable,
                __file__,
                "--one",
                json.dumps({**job, "parent": os.getpid()}),
                str(folder),
            ]
            with open(self.output, "wb") as output:
                self.process = subprocess.Popen(
                    command,
                    cwd=folder / "cwd",
                    env={**os.environ, **self._environment()},
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                )
            self.pid = self.process.pid

    def _environment(self) -> dict[str, str]:
        """Nothing that it writes to a temporary folder outlives it."""
        names = ("TMPDIR", "TEMP", "TMP", "TORCHINDUCTOR_CACHE_DIR")
        return dict.fromkeys(names, str(self.folder))

    def _in_child(self, parent: int, channel: Channel) -> None:
        try:
            channel.abandon()
            _end_with_parent(parent, signal.SIGKILL)
            _prctl(SET_DUMPABLE, 1)  # its own /proc and core dumps are what they are in any process
            os.setsid()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.environ.update(self._environment())
            tempfile.tempdir = None  # it remembers the worker's
            os.chdir(self.folder / "cwd")
            output = os.open(self.output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(output, 1)
            os.dup2(output, 2)
            os.close(output)
            _finish(self.job, str(self.folder))
        finally:
            _exit(1)

    def poll(self) -> int | None:
        """The exit code (negative: a signal), or None while it or its group runs."""
        now = time.perf_counter()
        if self.code is None:
            self._poll(now)
        if self.code is not None and (now - self.started > self.wall + LINGER or self._alone()):
            return self.code
        return None

    def _poll(self, now: float) -> None:
        if not self.begun and (self.folder / "begun").exists():
            self.begun, self.deadline = True, now + self.job["timeout"]
        if now > self.deadline:
            self.timed_out = True
            self._kill()  # at each look, until it has ended
        if self.process is not None:
            self.code = self.process.poll()
        else:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid and not os.WIFSTOPPED(status):  # as one is that asked to be traced
                self.code = os.waitstatus_to_exitcode(status)
        self.wall = now - self.started

    def _alone(self) -> bool:
        """Whether all that it started has ended. What has lost its parent is this process's child.

        The resource tracker of multiprocessing removes semaphores and shared memory as it ends.
        """
        if not LINUX:
            return True
        try:
            while os.waitpid(-self.pid, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return True
        return False

    def _kill(self) -> None:
        with contextlib.suppress(OSError):
            os.kill(self.pid, signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)

    def kill(self) -> None:
        """The child and its process group."""
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        if self.code is None:  # one that was stopped before its setsid() leads no group
            self._kill()

    def result(self, code: int) -> dict[str, Any]:
        """What happened, with the worker's view (`wall`) beside the child's own (`seconds`)."""
        self.kill()  # a grandchild may still live
        seen: dict[str, Any] = {"seconds": self.wall, "peak_mib": None}
        report = self._report()
        if self.timed_out and report is None:
            limit = self.job["timeout"] if self.begun else math.ceil(self.deadline - self.started)
            seen.update(outcome="timeout", detail=f"still running after {limit:g} s; killed")
        elif code < 0 and not self.timed_out:
            seen.update(outcome="signal", detail=f"killed by {self._signal(-code)}{self._tail()}")
        elif report is not None:
            seen = report
        else:
            seen.update(outcome="no report", detail=self._no_report(code))
        remove(self.folder)
        return {**seen, "wall": self.wall}

    def _report(self) -> dict[str, Any] | None:
        # The reproducer could write it.
        with contextlib.suppress(OSError, ValueError, RecursionError):
            report = json.loads(_read(self.folder / "report.json", REPORT))
            json.dumps([report])  # one that is nested too deeply to be sent on is none
            return report if isinstance(report, dict) else None
        return None

    def _signal(self, number: int) -> str:
        with contextlib.suppress(ValueError):
            name = signal.Signals(number).name
            return f"{name}: a file grew beyond {FILE // 2**20} MiB" if name == "SIGXFSZ" else name
        return f"signal {number}"

    def _no_report(self, code: int) -> str:
        why = f"ended with exit code {code} and no report"
        scratch = self.folder.parent.parent
        if code == DISK_FULL or shutil.disk_usage(scratch).free < NEARLY_FULL:
            return f"{why}: the disk that holds {scratch} is full"
        return f"{why}{self._tail()}"

    def _tail(self) -> str:
        """The last frames or lines that it printed: where a segfault happened."""
        try:
            text = _read(self.output, OUTPUT, from_end=True).decode(errors="replace")
        except OSError:
            return ""
        frame = re.search(r'File "([^"\n]{1,300})", line (\d{1,9}) in (\w{1,100})', text)
        if frame:
            return f" in {frame[3]} ({Path(frame[1]).name}:{frame[2]})"
        lines = text.strip().splitlines()
        return f": {lines[-1][:200]}" if lines else ""


def _read(path: Path, limit: int, from_end: bool = False) -> bytes:
    """At most `limit` bytes. Follows no link and waits for no pipe that a reproducer left there."""
    flags = (
        os.O_RDONLY
        | getattr(os, "O_NOFOLLOW", 0)
        | getattr(os, "O_NONBLOCK", 0)
        | getattr(os, "O_BINARY", 0)
    )
    descriptor = os.open(path, flags)
    with open(descriptor, "rb") as file:
        if from_end:
            file.seek(max(0, os.fstat(descriptor).st_size - limit))
        return file.read(limit)


def remove(folder: Path) -> None:
    """Removes what a run may have made: folders of any depth and any mode.

    shutil.rmtree recurses, opens a descriptor per level, and keeps a folder that it may not read.
    """
    with contextlib.suppress(OSError):
        if folder.is_symlink():
            folder.unlink()
        folder.chmod(0o700)
    waiting, moved = [str(folder)], 0
    while waiting:
        path = waiting.pop()
        with contextlib.suppress(OSError):
            for entry in list(os.scandir(path)):
                with contextlib.suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        os.chmod(entry.path, 0o700)  # else it cannot be moved
                        moved += 1
                        os.rename(entry.path, f"{folder}/{moved}.removed")
                        waiting.append(f"{folder}/{moved}.removed")
                    else:
                        os.unlink(entry.path)
            os.rmdir(path)
    with contextlib.suppress(OSError):
        folder.rmdir()


class Orphans:
    """Processes that a run left behind; Linux makes them the worker's children.

    Which run one belongs to is not known, so it is killed when all that were under way as it was
    found have ended.
    """

    def __init__(self) -> None:
        self.suspects: dict[int, set[int]] = {}  # orphan -> the children one of which left it

    def collect(self, ended: Child, running: list[Child]) -> None:
        """Finds what the run left, and kills what belongs to no run that is still under way."""
        known = {child.pid for child in running}
        self._find(ended.pid, known, known)
        for suspects in self.suspects.values():
            suspects.discard(ended.pid)
        self._kill(known)

    def end(self) -> None:
        """Kills all, children included."""
        self._find(0, set(), set())
        for suspects in self.suspects.values():
            suspects.clear()
        self._kill(set())

    def _find(self, since: int, suspects: set[int], known: set[int]) -> None:
        for pid in _children(since) - known - self.suspects.keys():
            self.suspects[pid] = {child for child in suspects if child < pid}  # it is younger

    def _kill(self, known: set[int]) -> None:
        while alone := [pid for pid, suspects in self.suspects.items() if not suspects]:
            for pid in alone:
                with contextlib.suppress(OSError):
                    if os.waitpid(pid, os.WNOHANG)[0] == 0:  # else it has ended: no longer its pid
                        os.kill(pid, signal.SIGKILL)
                        os.waitpid(pid, 0)
                del self.suspects[pid]
            self._find(min(alone), set(), known)  # an orphan's children become orphans


def _children(since: int) -> set[int]:
    """The processes whose parent is this one and whose number is at least `since`, on Linux."""
    if not LINUX:
        return set()
    found = set()
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) >= since:
            with contextlib.suppress(OSError):  # it has ended meanwhile
                with open(f"/proc/{name}/stat", "rb") as stat:
                    parent = stat.read().rpartition(b")")[2].split()[1]
                if int(parent) == os.getpid():
                    found.add(int(name))
    return found


def cuda_is_lost_in_a_fork() -> bool:
    """Whether CUDA cannot start in a child because the import of torch has asked for its devices.

    Torch 2.3 asks CUDA itself where NVML does not answer.
    """
    import torch

    lost = getattr(getattr(torch, "cuda", None), "_is_in_bad_fork", bool)
    if (pid := os.fork()) == 0:
        _exit(int(lost()))
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0


class Server:
    """Starts what the runner asks for and reports what became of it, until the runner has gone."""

    def __init__(self, fork: bool, runner: int) -> None:
        self.fork, self.runner = fork, runner
        self.channel = Channel(threaded=not fork)
        hello = self.channel.hello
        self.scratch, self.startup = Path(hello["scratch"]), hello["startup"]
        self.running: list[Child] = []
        self.orphans = Orphans()

    def start(self) -> None:
        """Imports torch and reports the build."""
        import torch

        # Before any operation: a parent that ran on many threads hangs its forked children.
        torch.set_num_threads(1)
        with contextlib.suppress(ImportError):
            import torch._dynamo

        import torch.utils.data

        gc.collect()
        gc.freeze()  # a collection in a child would touch, and so copy, every page that it shares
        self.scratch.mkdir(mode=0o700, exist_ok=True)
        self.channel.say("build", describe())

    def serve(self) -> None:
        while (requests := self.channel.requests(POLL if self.running else 0.1)) is not None:
            for job in requests:
                self._begin(job)
            for child in list(self.running):
                if (code := child.poll()) is not None:
                    self._report(child, code)
            if os.getppid() != self.runner:
                return  # nobody is listening any more

    def _forks(self, device: str) -> bool:
        return self.fork and (device == "cpu" or not self.lost)

    @functools.cached_property
    def lost(self) -> bool:
        return cuda_is_lost_in_a_fork()

    def _begin(self, job: dict[str, Any]) -> None:
        folder, fork = self.scratch / str(job["job"]), self._forks(job["device"])
        try:
            self.running.append(Child(job, folder, fork, self.startup, self.channel))
        except OSError as error:
            full = error.errno == errno.ENOSPC
            why = f"the disk that holds {self.scratch.parent} is full" if full else str(error)
            seen = {"outcome": "no report", "detail": f"could not start: {why}", "wall": 0.0}
            self.channel.say("result", {**seen, "job": job["job"]})

    def _report(self, child: Child, code: int) -> None:
        self.running.remove(child)
        seen = child.result(code)
        self.orphans.collect(child, self.running)
        self.channel.say("result", {**seen, "job": child.job["job"]})

    def stop(self) -> None:
        for child in self.running:
            child.kill()
        self.orphans.end()
        remove(self.scratch)


def _work(server: Server) -> int:
    """Serves to the end; returns the exit code."""
    try:
        if hasattr(signal, "alarm"):
            # For an import that never returns, with no runner to end it.
            signal.alarm(math.ceil(server.startup))
        server.start()
        if hasattr(signal, "alarm"):
            signal.alarm(0)
        server.serve()
    except BrokenPipeError:
        pass  # the runner has gone
    except Exception:
        traceback.print_exc()  # the runner shows its last line
        return 1
    return 0


def _serve(fork: bool) -> None:
    def leave(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        sys.exit(0)

    runner = os.getppid()
    signal.signal(signal.SIGTERM, leave)
    _end_with_parent(runner, signal.SIGTERM)
    _prctl(SET_DUMPABLE, 0)  # its /proc/PID/fd and memory are closed to other processes of the user
    _prctl(SET_CHILD_SUBREAPER, 1)
    server = Server(fork, runner)
    code = 0
    try:
        try:
            code = _work(server)
        finally:
            # The end is not interrupted: it can begin just before the signal arrives.
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
    except SystemExit:
        pass
    try:
        server.stop()
        sys.stderr.flush()
    finally:
        _exit(code)  # tearing torch down takes seconds


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        one = json.loads(sys.argv[2])
        if LINUX:
            _end_with_parent(one["parent"], signal.SIGKILL)
        _finish(one, sys.argv[3])
    else:
        _serve(fork=FORK and sys.argv[1] == "fork")
