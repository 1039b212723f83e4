"""Measures one device on a machine without a network, where nothing can be installed.

    python tests/trials/device.py pack WHEELS           on a machine with a network
    python3 tests/trials/device.py run cuda WHEELS OUT  offline, in a copy of this repository

The machine without a network, Linux or macOS, needs Python 3.11 or newer with torch and numpy. All
other requirements are in WHEELS, a folder of pure-Python wheels, which are unpacked but not
installed. The parts run one after another, because each part needs exclusive use of the device:

    facts       the machine as torch sees it
    texts       the messages of failures (tests.trials.texts)
    bench       the speed of the fixes (tests.trials.speed)
    tests       the tests of the fixes
    sanitizer   the prefetcher under compute-sanitizer, on CUDA only
    record      every reproducer, five times
    programs    the reproducers against their headers, and run alone as programs

Each part has a time limit, and all parts together have eight minutes, so there may be no time for
the last parts. `run ... programs record=500` runs only these parts, in this order and with these
limits. The part record resumes from the records in OUT or matrix/records. While a part runs and
after it ends, its files are saved in OUT/PART.tar.gz, and its result in OUT/summary.json.
Afterwards, on your own machine, for cuda:

    tar xzf OUT/record.tar.gz && torch-repros merge record/records
    torch-repros headers --write && torch-repros grid
    tar xzf OUT/bench.tar.gz && cp bench/speed-cuda.md docs/
    tar xzf OUT/texts.tar.gz && cp texts/cuda.json tests/trials/texts/

This program needs only the standard library. Exit status: 0 every part succeeded, 1 a part failed,
2 usage error.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # lets a script find matrix/
from matrix.devices import DEVICES  # needs only the standard library

ROOT = Path(__file__).resolve().parents[2]
# The pure-Python requirements in pyproject.toml that the parts import.
PACKED = ("click", "filelock", "hypothesis", "packaging", "pytest", "pytest-xdist", "rich")
ENVIRONMENT = {
    "HYPOTHESIS_PROFILE": "ci",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # plugins on the machine may need another pytest
    "PYTHONDONTWRITEBYTECODE": "1",
}
ENDING = 15.0  # seconds for a part to end after an interrupt
TOTAL = 480.0 - ENDING  # seconds for all parts
KEEPING = 15.0  # seconds between two saves of a running part's files
SHOWN = 15  # lines of a part's output


@dataclass(frozen=True)
class Part:
    name: str
    seconds: float  # time limit
    command: str  # {device}, {python} and {folder}, the part's folder, are filled in
    devices: tuple[str, ...] = DEVICES
    environment: dict[str, str] = field(default_factory=dict)


TESTS = (
    "{python} -m pytest -v -p no:cacheprovider -p xdist.plugin -p _hypothesis_pytestplugin "
    "--device {device} "
)
PARALLEL = "-n auto --dist loadgroup --durations 20 --junit-xml {folder}/junit.xml "
PARTS = (
    Part("facts", 60, "{python} -m torch.utils.collect_env"),
    Part(
        "texts",
        90,
        "{python} -m tests.trials.texts --device {device} --collect --out {folder}/{device}.json",
    ),
    Part(
        "bench",
        120,
        "{python} -m tests.trials.speed --device {device} --rounds 15 "
        "--out {folder}/speed-{device}.md",
    ),
    Part("tests", 120, TESTS + PARALLEL + "tests/fixes"),
    Part(
        "sanitizer",
        90,
        "compute-sanitizer --tool memcheck --track-stream-ordered-races all "
        f"--target-processes all --report-api-errors no --error-exitcode 9 {TESTS} "
        "tests/fixes/test_data_loading.py -k prefetcher",
        devices=("cuda",),
        # The tool detects races between streams only if CUDA itself allocates the memory.
        environment={"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"},
    ),
    Part(
        "record",
        180,
        "{python} -m matrix record --python {python} --device {device} --repeat 5 --source self "
        "--records {folder}/records",
    ),
    Part("programs", 240, TESTS + PARALLEL + "tests/test_repros.py tests/test_programs.py"),
)


@dataclass
class Ended:
    """The result of a part."""

    part: str
    status: int | None  # None if the part was not started
    seconds: float
    why: str = ""  # why it was ended or not started

    @property
    def well(self) -> bool:
        return self.status == 0 and not self.why


STOPPED = "stopped with this program"


def pack(wheels: Path, python_version: str) -> int:
    """Downloads PACKED with their requirements, for any platform. Returns pip's exit status."""
    command = [sys.executable, "-m", "pip", "download", "--only-binary", ":all:"]
    command += ["--python-version", python_version, "--implementation", "py"]
    command += ["--abi", "none", "--platform", "any", "--dest", str(wheels)]
    return subprocess.run([*command, *PACKED]).returncode


def wheels_in(text: str) -> list[Path]:
    wheels = sorted(Path(text).glob("*.whl"))
    if not wheels:
        raise argparse.ArgumentTypeError(
            f"{text}: no wheels in this folder; make it with: device.py pack {text}"
        )
    names = [wheel.name.split("-")[0] for wheel in wheels]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise argparse.ArgumentTypeError(f"{text}: two wheels of {', '.join(twice)}; keep one")
    return wheels


def named(text: str) -> Part:
    """The part named by an argument such as `tests` or `record=500`."""
    name, _, seconds = text.partition("=")
    by_name = {part.name: part for part in PARTS}
    try:
        return replace(by_name[name], seconds=float(seconds or by_name[name].seconds))
    except (KeyError, ValueError):
        raise argparse.ArgumentTypeError(
            f"{text!r}: expected one of {', '.join(by_name)}, or PART=SECONDS"
        ) from None


def run(part: Part, device: str, out: Path, folder: Path, environment: dict[str, str]) -> Ended:
    """Runs a part with its output in its folder, and ends the part at its time limit."""
    names = {"device": device, "python": sys.executable, "folder": str(folder)}
    command = [word.format(**names) for word in shlex.split(part.command)]
    if not shutil.which(command[0]):
        return Ended(part.name, None, 0.0, f"{command[0]} is not installed")
    begun = time.monotonic()
    with open(folder / "output.txt", "wb") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**environment, **part.environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            process_group=0,
        )
        try:
            why = wait(process, part.seconds, lambda: keep(folder, out))
            if why:
                process.send_signal(signal.SIGINT)  # like Ctrl-C, so that finished work is saved
            try:
                process.wait(ENDING)
            except subprocess.TimeoutExpired:
                why += f", killed after {ENDING:g} s more"
        finally:
            # macOS raises an error if all processes have ended
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)  # and its children
            status = process.wait()
    return Ended(part.name, status, time.monotonic() - begun, why)


def wait(process: subprocess.Popen[bytes], seconds: float, keep: Callable[[], object]) -> str:
    """The reason to end the process, or "" if the process ended on its own."""
    end = time.monotonic() + seconds
    try:
        while (left := end - time.monotonic()) > 0:
            try:
                process.wait(min(left, KEEPING))
                return ""
            except subprocess.TimeoutExpired:
                with contextlib.suppress(OSError):  # files may change during the save
                    keep()
    except KeyboardInterrupt:
        return STOPPED
    return f"interrupted after {seconds:g} s"


def keep(folder: Path, out: Path) -> None:
    """Saves the folder as an archive, atomically, because the machine may stop at any time."""
    part = out / f"{folder.name}.part"
    with tarfile.open(part, "w:gz") as file:
        file.add(folder, folder.name)
    part.replace(out / f"{folder.name}.tar.gz")


def note(ended: Ended, out: Path) -> None:
    summary = out / "summary.json"
    noted = json.loads(summary.read_text(encoding="utf-8")) if summary.exists() else []
    noted = [entry for entry in noted if entry["part"] != ended.part] + [asdict(ended)]
    part = out / "summary.part"
    part.write_text(json.dumps(noted, indent=1) + "\n", encoding="utf-8")
    part.replace(summary)


def resume(device: str, folder: Path, out: Path) -> None:
    """Copies earlier records of the device to the folder, from OUT or else from the repository."""
    earlier = out / f"{folder.name}.tar.gz"
    if earlier.exists():
        with tarfile.open(earlier) as archive:
            archive.extraction_filter = getattr(tarfile, "data_filter", None)  # since 3.11.4
            archive.extractall(folder.parent)
        return
    (folder / "records").mkdir()
    for record in (ROOT / "matrix/records").glob(f"{device}_*"):
        shutil.copy(record, folder / "records")


def measure(
    device: str, wheels: list[Path], out: Path, parts: Iterable[Part], total: float = math.inf
) -> list[Ended]:
    out.mkdir(parents=True, exist_ok=True)
    endings: list[Ended] = []
    end = time.monotonic() + total
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        work = Path(name)
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(work / "packages")
        path = [str(work / "packages"), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, **ENVIRONMENT, "PYTHONPATH": os.pathsep.join(path)}
        for part in parts:
            folder = work / part.name
            folder.mkdir()
            if part.name == "record":
                resume(device, folder, out)
            left = end - time.monotonic()
            if left > 0:
                part = replace(part, seconds=min(part.seconds, round(left, 1)))
                ended = run(part, device, out, folder, environment)
                keep(folder, out)
            else:
                ended = Ended(part.name, None, 0.0, "no time was left")
            note(ended, out)
            show(ended, folder)
            endings.append(ended)
            if ended.why.startswith(STOPPED):
                break
    return endings


def show(ended: Ended, folder: Path) -> None:
    print(f"== {ended.part}: status {ended.status}, {ended.seconds:.0f} s {ended.why}", flush=True)
    output = folder / "output.txt"
    if output.exists():
        lines = output.read_text(encoding="utf-8", errors="replace").splitlines()
        print("\n".join(line[-300:] for line in lines[-SHOWN:]), flush=True)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    packing = commands.add_parser("pack", help="download the wheels that the parts need")
    packing.add_argument("wheels", type=Path, metavar="WHEELS")
    packing.add_argument("--python-version", default="3.12", help="the Python of that machine")
    running = commands.add_parser("run", help="run the parts")
    running.add_argument("device", choices=DEVICES)
    running.add_argument("wheels", type=wheels_in, metavar="WHEELS")
    running.add_argument("out", type=Path, metavar="OUT")
    running.add_argument("parts", type=named, nargs="*", metavar="PART[=SECONDS]")
    options = parser.parse_args(arguments)
    if options.command == "pack":
        return pack(options.wheels, options.python_version)
    # A script's background job ignores Ctrl-C, and every part would inherit this.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    parts = options.parts or [part for part in PARTS if options.device in part.devices]
    total = math.inf if options.parts else TOTAL
    endings = measure(options.device, options.wheels, options.out.resolve(), parts, total)
    return 0 if all(ended.well for ended in endings) else 1


if __name__ == "__main__":
    sys.exit(main())
