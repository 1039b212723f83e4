"""Plants reproducers that misbehave; weighs commands."""

import os
import subprocess
import sys
from pathlib import Path

from matrix import catalog

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
    "sources": '["https://example.org/1"]',
    "fix": '"upgrade"',
    "affected": '{ cpu = ">=1.13" }',
}
CONTROL = "\n\ndef control(device):\n    return None\n"


def plant(root: Path, id: str, code: str, **header: "str | None") -> Path:
    """Writes a reproducer; header values are TOML, None leaves a key out. `code` without a control() gets a healthy one."""
    values = {key: value for key, value in {**DEFAULTS, **header}.items() if value is not None}
    path = root / f"{id}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = HEADER.format(lines="".join(f"# {key} = {value}\n" for key, value in values.items())) + code
    path.write_text(text + ("" if "def control(" in code else CONTROL))
    return path


def processor_seconds(*arguments: str) -> float:
    """What a command takes of the processor, at best of three: the wall clock belongs to the other tests too. It must not import torch."""
    program = "import sys; from matrix.cli import main; main(standalone_mode=False); assert not {'torch', 'rich'} & set(sys.modules)"
    taken = []
    for _ in range(3):
        before = os.times()
        subprocess.run([sys.executable, "-c", program, *arguments], check=True, capture_output=True, cwd=catalog.ROOT)
        after = os.times()
        taken.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return min(taken)
