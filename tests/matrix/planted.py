"""Plants reproducers that misbehave."""

from pathlib import Path

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
