"""Knows the files that can be copied: their current and earlier texts, and their revision. The file
`fix_texts.txt` lists all current and earlier texts of each file. With this list, a checkout, a
wheel or a cached tool can tell offline whether the text of a copy is older or newer than the tool.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import subprocess
from functools import cache
from pathlib import Path

from .. import __version__, catalog

ROOT = catalog.ROOT
TEXTS = catalog.PACKAGE / "fix_texts.txt"  # one line per text, with the file and its sha256
CONFTEST = "tests/fixes/vendored_conftest.py"
# The files that a header may name, now and before 0.2. No other files are read.
ORIGIN_PATTERN = re.compile(r"reference_fixes/[a-z0-9_]+\.py|tests/fixes/test_[a-z0-9_]+\.py")
OLD_TEST_PATTERN = re.compile(r"tests/(test_[a-z0-9_]+\.py)")
OLD_CONFTEST = "matrix/vendored_conftest.py"


def families() -> list[str]:
    return catalog.fixes(ROOT / "reference_fixes")


def upstream(origin: str) -> str | None:
    """The text of a file in this project, or None if the file does not exist."""
    path = ROOT / origin
    return read_text(path) if path.is_file() else None


def known_origin(name: str) -> str | None:
    """The current name of the project file that a header names, or None."""
    if name in (CONFTEST, OLD_CONFTEST):
        return CONFTEST
    if old := OLD_TEST_PATTERN.fullmatch(name):
        return f"tests/fixes/{old[1]}"
    return name if ORIGIN_PATTERN.fullmatch(name) else None


def read_text(path: Path) -> str:
    return normalised(path.read_bytes().decode("utf-8"))


def normalised(text: str) -> str:
    """The text with \\n as line ends, because line ends in a Windows checkout are not edits."""
    return text.replace("\r\n", "\n")


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# --- revisions ------------------------------------------------------------------------------------


@cache
def version() -> str:
    """This tool's version, with the commit if it runs in a clone or was installed from git."""
    commit = _commit()
    return f"{__version__}+g{commit[:10]}" if commit else __version__


def _commit() -> str:
    if (catalog.ROOT / ".git").exists():
        return _git("rev-parse", "HEAD").decode().strip()
    from importlib import metadata

    with contextlib.suppress(metadata.PackageNotFoundError, ValueError):
        source = metadata.distribution("torch-repros").read_text("direct_url.json")  # PEP 610
        return str(json.loads(source or "{}").get("vcs_info", {}).get("commit_id", ""))
    return ""


def _git(*arguments: str) -> bytes:
    """The output of git, or b"" if git or the repository is missing."""
    command = ["git", "-C", str(catalog.ROOT), *arguments]
    with contextlib.suppress(OSError):
        return subprocess.run(command, capture_output=True).stdout
    return b""


def known() -> set[str]:
    """The sha256 of every text that this revision knows."""
    return {sha for _, sha in _listed()}


def _listed() -> set[tuple[str, str]]:
    """Returns (file, sha256) for each line in the list, except markers of merge conflicts."""
    lines = re.findall(r"^(\S+\.py) ([0-9a-f]{64})$", TEXTS.read_text(encoding="utf-8"), re.M)
    return set(lines)


def _now() -> set[tuple[str, str]]:
    files = [*ROOT.glob("reference_fixes/*.py"), *ROOT.glob("tests/fixes/*.py")]
    names = {path.relative_to(ROOT).as_posix(): path for path in files}
    return {(name, digest(read_text(path))) for name, path in names.items() if known_origin(name)}


def _before() -> set[tuple[str, str]]:
    """Returns (file, sha256) for the texts in all available commits. A shallow clone has few."""
    log = _git("log", "--format=", "--raw", "--no-renames", "--no-abbrev").decode()
    changes = re.findall(r"^:\S+ \S+ \S+ (\S+) [AM]\t(.+)$", log, re.M)
    names = {name for _, name in changes}  # tests/test_repros.py never tested a fix
    origins = {
        blob: origin for blob, name in changes if (origin := known_origin(name)) and origin in names
    }
    texts = set()
    for blob, origin in origins.items():
        text = _git("cat-file", "blob", blob).decode("utf-8", "replace")
        texts.add((origin, digest(normalised(text))))
    return texts


def write_list() -> int:
    """Adds missing texts to the list and returns their number."""
    listed = _listed()
    complete = listed | _before() | _now()
    TEXTS.write_text("".join(f"{name} {sha}\n" for name, sha in sorted(complete)), "utf-8")
    return len(complete - listed)


def problems() -> list[str]:
    """Reports each file whose text is not in the list yet."""
    return [
        f"{ROOT / name}:1: its text is not in {TEXTS.name}; run: torch-repros fixes"
        for name, _ in sorted(_now() - _listed())
    ]
