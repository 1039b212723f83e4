"""Helpers for the tests of the harness: planted reproducers, and command-line calls."""

import os
import re
import struct
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from click.testing import CliRunner

from matrix import catalog, checks, commands

HEADER = """\
# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
{lines}# ///
\"\"\"Planted.\"\"\"

"""
DEFAULTS = {
    "title": '"planted"',
    "kind": '"error"',
    "symptom": '"boom"',
    "origin": '"usage"',
    "reports": '["https://github.com/someone/project/issues/1"]',
    "wrong": '"reproduce(device)"',
    "fix": '"upgrade"',
    "affected": '{ cpu = ">=1.13" }',
}
RETURNS = "def reproduce(device):\n    return {!r}\n"
CONTROL = "\n\ndef control(device):\n    return None\n"


def plant(root: Path, id: str, code: str, **header: "str | None") -> Path:
    """Writes a reproducer.

    Header values are TOML; None omits a key. Code without a control() gets a passing control().
    """
    values = {key: value for key, value in {**DEFAULTS, **header}.items() if value is not None}
    path = root / f"{id}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = (
        HEADER.format(lines="".join(f"# {key} = {value}\n" for key, value in values.items())) + code
    )
    text += "" if "def control(" in code else CONTROL
    roles = [role for role in catalog.ROLES if f"def {role}(device" in text]
    path.write_text(f"{text.rstrip()}\n\n\n{checks.MAIN.format(roles=', '.join(roles))}")
    return path


AT_ONCE = 8.0  # limit for relative_cost(); explain takes 4, importing torch takes 17


def relative_cost(*arguments: str) -> float:
    """The processor time of a command, relative to starting Python and importing click.

    Compares the best of three alternating runs, because other tests run at the same time.
    """
    command = (
        "import sys; from matrix.commands import main; main(standalone_mode=False);"
        "assert not {'torch', 'rich'} & set(sys.modules)"
    )
    programs = [("import click, packaging.specifiers", []), (command, arguments)]
    runs = [[_processor_seconds(*program) for program in programs] for _ in range(3)]
    start, whole = map(min, zip(*runs))
    return whole / start


def _processor_seconds(program: str, arguments: Iterable[str]) -> float:
    before = os.times()
    subprocess.run(
        [sys.executable, "-c", program, *arguments],
        check=True,
        capture_output=True,
        cwd=catalog.ROOT,
    )
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])  # user and system time of children


def call(*arguments: object, **options: object):
    """Runs the command line in this process."""
    return CliRunner().invoke(
        commands.main,
        [str(argument) for argument in arguments],
        prog_name="torch-repros",
        **options,
    )


def in_terminal(*command: object, columns: int = 80, typed: str = "", **options):
    """The exit status and output of a program in a terminal of this width.

    Omits colors and the text that a progress bar overwrites.
    """
    import fcntl  # not at the top, because Windows lacks fcntl
    import pty
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm", **options.pop("env", {})}
    for name in ("COLUMNS", "LINES", "NO_COLOR"):
        environment.pop(name, None)
    program = subprocess.Popen(
        [str(part) for part in command],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
        start_new_session=True,
        **options,
    )
    os.close(theirs)
    os.write(ours, typed.encode())
    output = b""
    try:
        while part := os.read(ours, 65536):
            output += part
    except OSError:  # raised on Linux once all other processes have closed the terminal
        pass
    os.close(ours)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", output.decode(errors="replace"))
    lines = [line.removesuffix("\r").rpartition("\r")[2] for line in text.split("\n")]
    return program.wait(), "\n".join(lines)
