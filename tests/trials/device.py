"""Measures one device on a machine that has no network and where nothing can be installed.

    python tests/trials/device.py pack WHEELS           where there is a network
    python3 tests/trials/device.py run cuda WHEELS OUT  there, in a copy of this repository

That machine needs Python 3.11 or newer with torch and numpy. What else the parts need travels in
WHEELS, a folder of wheels in pure Python, which are unpacked and not installed. The parts run one
after another, as they need the device to themselves:

    facts       what torch knows of the machine
    texts       what failures print (tests.trials.texts)
    bench       how fast the fixes are (tests.trials.speed)
    sanitizer   the prefetcher's copies under compute-sanitizer, on CUDA
    tests       the fixes and the reproducers against their headers
    record      every reproducer, five times; resumes what matrix/records has

Each part has a time limit; all together stay under eight minutes. `run ... record=500` runs only
that part, with another limit. As a part ends, cut off or not, what it wrote lies in OUT/PART.tar.gz
and how it ended in OUT/summary.json. Afterwards, at home:

    torch-repros merge OUT/records && torch-repros headers --write && torch-repros grid
    copy the table to docs/speed-DEVICE.md, the texts to tests/trials/texts/DEVICE.json

It imports the standard library only. Exit status: 0 every part ended well, 1 one did not, 2 usage
error.
"""

from __future__ import annotations

import argparse
import contextlib
import json
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
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Of the requirements in pyproject.toml, those that the parts import and that are pure Python.
PACKED = ("click", "filelock", "hypothesis", "packaging", "pytest", "pytest-xdist", "rich")
# Plugins that lie about there were made for another pytest.
ENVIRONMENT = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}
ENDING = 15.0  # seconds that a part has for ending after an interrupt
SHOWN = 15  # lines of a part's output


@dataclass(frozen=True)
class Part:
    name: str
    seconds: float  # its limit
    command: str  # {device}, {python} and {folder}, its own, are filled in


TESTS = "{python} -m pytest -q -p no:cacheprovider -p xdist.plugin -p _hypothesis_pytestplugin"
PARTS = (
    Part("facts", 30, "{python} -m torch.utils.collect_env"),
    Part(
        "texts",
        45,
        "{python} -m tests.trials.texts --device {device} --collect --out {folder}/{device}.json",
    ),
    Part(
        "bench",
        90,
        "{python} -m tests.trials.speed --device {device} --out {folder}/speed-{device}.md",
    ),
    Part(
        "sanitizer",
        45,
        "compute-sanitizer --tool memcheck --track-stream-ordered-races all "
        f"--target-processes all --error-exitcode 9 {TESTS} --device {{device}} "
        "tests/fixes/test_data_loading.py -k prefetcher",
    ),
    Part(
        "tests",
        110,
        f"{TESTS} -n auto --dist loadgroup --device {{device}} --durations 20 "
        "--junit-xml {folder}/junit.xml tests/fixes tests/test_repros.py tests/test_programs.py",
    ),
    Part(
        "record",
        150,
        "{python} -m matrix record --python {python} --device {device} --repeat 5 --source self "
        "--records {folder}/records",
    ),
)


@dataclass
class Ended:
    """How a part ended."""

    part: str
    status: int | None  # None: it was not started
    seconds: float
    why: str = ""

    @property
    def well(self) -> bool:
        return self.status == 0


def pack(wheels: Path, python_version: str) -> int:
    """Downloads PACKED and what they need, for any platform. Returns pip's exit status."""
    command = [sys.executable, "-m", "pip", "download", "--only-binary", ":all:"]
    command += ["--python-version", python_version, "--implementation", "py"]
    command += ["--abi", "none", "--platform", "any", "--dest", str(wheels)]
    return subprocess.run([*command, *PACKED]).returncode


def unpack(wheels: Path, folder: Path) -> None:
    found = sorted(wheels.glob("*.whl"))
    if not found:
        sys.exit(f"{wheels}: no wheels in this folder; make it with: device.py pack {wheels}")
    for wheel in found:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)


def chosen(texts: list[str]) -> list[Part]:
    """The parts named, such as `tests` or `record=500`; all of them where none is named."""
    by_name = {part.name: part for part in PARTS}
    parts = []
    for text in texts or by_name:
        name, _, seconds = text.partition("=")
        try:
            part = by_name[name]
            parts.append(Part(name, float(seconds or part.seconds), part.command))
        except (KeyError, ValueError):
            sys.exit(f"{text!r}: expected one of {', '.join(by_name)}, or PART=SECONDS")
    return parts


def run(part: Part, device: str, folder: Path, environment: dict[str, str]) -> Ended:
    """Runs a part in its folder, which gets the output too, and ends it at its limit."""
    names = {"device": device, "python": sys.executable, "folder": str(folder)}
    command = [word.format(**names) for word in shlex.split(part.command)]
    if not shutil.which(command[0]):
        return Ended(part.name, None, 0.0, f"{command[0]} is not installed")
    begun = time.monotonic()
    why = ""
    with open(folder / "output.txt", "wb") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            process.wait(part.seconds)
        except subprocess.TimeoutExpired:
            why = f"interrupted after {part.seconds:g} s"
            process.send_signal(signal.SIGINT)  # as by Ctrl-C: what is done is kept
        try:
            process.wait(ENDING)
        except subprocess.TimeoutExpired:
            why += f", killed after {ENDING:g} s more"
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # and what it started
        status = process.wait()
    return Ended(part.name, status, time.monotonic() - begun, why)


def keep(ended: Ended, folder: Path, out: Path, endings: list[Ended]) -> None:
    """Whole files only: the machine may be taken away at any moment."""
    archive = out / f"{ended.part}.tar.gz"
    part = archive.with_suffix(".part")
    with tarfile.open(part, "w:gz") as file:
        file.add(folder, ended.part)
    part.replace(archive)
    endings.append(ended)
    summary = out / "summary.json"
    part.write_text(json.dumps([asdict(one) for one in endings], indent=1) + "\n", encoding="utf-8")
    part.replace(summary)


def measure(device: str, wheels: Path, out: Path, parts: list[Part]) -> list[Ended]:
    out.mkdir(parents=True, exist_ok=True)
    endings: list[Ended] = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        work = Path(name)
        unpack(wheels, work / "packages")
        environment = {**os.environ, **ENVIRONMENT, "PYTHONPATH": str(work / "packages")}
        for part in parts:
            folder = work / part.name
            folder.mkdir()
            if part.name == "record":
                shutil.copytree(
                    ROOT / "matrix/records",
                    folder / "records",
                    ignore=lambda _, names: [n for n in names if not n.startswith(f"{device}_")],
                )
            ended = run(part, device, folder, environment)
            keep(ended, folder, out, endings)
            show(ended, folder)
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
    packing.add_argument("--python-version", default="3.12", help="that the machine has")
    running = commands.add_parser("run", help="run the parts")
    running.add_argument("device", metavar="DEVICE", help="cpu, cuda or mps")
    running.add_argument("wheels", type=Path, metavar="WHEELS")
    running.add_argument("out", type=Path, metavar="OUT")
    running.add_argument("parts", nargs="*", metavar="PART[=SECONDS]")
    given = parser.parse_args(arguments)
    if given.command == "pack":
        return pack(given.wheels, given.python_version)
    # A script's background job ignores Ctrl-C, and so would every part.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    endings = measure(given.device, given.wheels, given.out.resolve(), chosen(given.parts))
    return 0 if all(ended.well for ended in endings) else 1


if __name__ == "__main__":
    sys.exit(main())
