"""The catalog: every file of repros/ and what its header states. Reads text only; never imports torch or a reproducer."""

from __future__ import annotations

import ast
import hashlib
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
REPROS = ROOT / "repros"

DEVICES = ("cpu", "cuda", "mps")
KINDS = ("error", "silent", "crash", "hang", "leak", "oom")
ROLES = ("reproduce", "control", "popular_fix")

_BLOCK = re.compile(r"^# /// script\n((?:#(?: .*)?\n)+?)# ///$", re.M)  # the block of PEP 723
_FUNCTION = re.compile(r"^def (\w+)\(device\b", re.M)

_STR, _LIST, _TABLE, _NUMBER = "a string", "a list of strings", "a table of strings", "a positive number"
_KEYS = {  # every key a header may hold, its type, and whether it must be there
    "title": (_STR, True),
    "kind": (_STR, True),
    "symptom": (_STR, True),
    "messages": (_LIST, False),
    "keywords": (_LIST, False),
    "sources": (_LIST, True),
    "fix": (_STR, True),
    "affected": (_TABLE, True),
    "requires": (_STR, False),
    "stand_in": (_TABLE, False),
    "platform": (_STR, False),
    "timeout": (_NUMBER, False),
    "memory": (_NUMBER, False),
    "retired": (_STR, False),
}


class CatalogError(Exception):
    """One line per mistake: file, line, key, what was found, what was expected."""


@dataclass(frozen=True)
class Reproducer:
    id: str  # "amp/unscale_before_scale": the path without its ending
    path: Path
    source: str = field(repr=False)
    title: str
    kind: str
    symptom: str  # regex, matched against what reproduce() returns
    fix: str  # "module.function" of reference_fixes, or "upgrade"
    sources: tuple[str, ...]
    affected: dict[str, str]  # device -> PEP 440 specifier of torch, or "never"
    messages: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()  # words that users say for it, where title and docstring do not have them
    requires: str = ""  # the torch that has the API at all
    stand_in: dict[str, str] = field(default_factory=dict)
    platform: str = ""  # sys.platform it needs, where it needs one
    timeout: float = 30.0  # seconds, per run
    memory: int = 1024  # MiB above what the interpreter holds after `import torch`
    retired: str = ""

    @property
    def family(self) -> str:
        return self.id.split("/")[0]

    @property
    def devices(self) -> list[str]:
        """Those it concerns, in the order of DEVICES."""
        return [device for device in DEVICES if device in self.affected]

    @property
    def roles(self) -> tuple[str, ...]:
        found = _FUNCTION.findall(self.source)
        return tuple(role for role in ROLES if role in found)

    @property
    def doc(self) -> str:
        return ast.get_docstring(ast.parse(self.source)) or ""

    @property
    def body(self) -> str:
        """The source after header and docstring."""
        node = ast.parse(self.source).body[0]
        lines = self.source.splitlines()
        has_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        return "\n".join(lines[node.end_lineno :] if has_docstring else lines)

    @property
    def code(self) -> str:
        """What one would paste into a report: the body without the blank lines around it."""
        return self.body.strip()

    def function(self, name: str) -> str:
        """The source of one of its functions, "" where it has none of that name."""
        for node in ast.parse(self.source).body:
            if isinstance(node, ast.FunctionDef) and node.name == name:
                return ast.get_source_segment(self.source, node) or ""
        return ""

    @property
    def hash(self) -> str:
        """Of what decides a verdict: the code and the symptom. Other words of the header and the docstring may change."""
        return hashlib.sha256(f"{self.kind}\n{self.symptom}\n{self.body}".encode()).hexdigest()[:16]

    def expects(self, device: str, torch_version: str) -> str:
        """The verdict its header promises: "reproduced" or "absent"."""
        specifier = self.affected[device]
        return "reproduced" if specifier != "never" and satisfies(torch_version, specifier) else "absent"

    def unavailable_reason(self, torch_version: str, platform: str) -> str | None:
        """Why this cell cannot be run at all, or None."""
        if self.requires and not satisfies(torch_version, self.requires):
            return f"needs torch {self.requires}; this is {torch_version}"
        if self.platform and platform != self.platform:
            return f"needs {self.platform}; this is {platform}"
        return None


def satisfies(torch_version: str, specifier: str) -> bool:
    """A nightly counts as the release it leads to, and a build's local part ("+cpu") says nothing about age."""
    return SpecifierSet(specifier).contains(Version(torch_version).base_version)


def load(repros: Path = REPROS) -> list[Reproducer]:
    """Every reproducer, sorted by id. One bad header raises CatalogError, which names every mistake in every file."""
    entries, mistakes = [], []
    for path in sorted(repros.glob("*/*.py")):
        entry, wrong = parse(path, path.relative_to(repros).with_suffix("").as_posix())
        entries += [entry] if entry else []
        mistakes += wrong
    if not entries and not mistakes:
        mistakes = [f"{repros}: no reproducers here (expected <family>/<name>.py)"]
    if mistakes:
        raise CatalogError("\n".join(mistakes))
    return entries


def parse(path: Path, id: str) -> tuple[Reproducer | None, list[str]]:
    """The reproducer, or None and its mistakes."""
    source = path.read_text(encoding="utf-8")
    name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    block = _BLOCK.search(source)
    if block is None:
        return None, [f"{name}:1: no header; expected a block '# /// script' ... '# ///' as in PEP 723"]
    first_line = source.count("\n", 0, block.start()) + 1
    try:
        header = tomllib.loads("".join(line[2:] or "\n" for line in block[1].splitlines(keepends=True)))
    except tomllib.TOMLDecodeError as error:
        return None, [f"{name}:{first_line}: the header is not TOML: {error}"]
    table = header.get("tool", {}).get("repro", {})

    lines = source.splitlines()

    def at(key: str) -> int:
        return next((n for n, line in enumerate(lines, 1) if line.startswith(f"# {key} =")), first_line)

    wrong = [f"{name}:{at(key)}: {key}: {message}" for key, message in _mistakes(table)]
    functions = _FUNCTION.findall(source)
    wrong += [f"{name}:1: no function {role}(device)" for role in ROLES[:2] if role not in functions]
    if wrong:
        return None, wrong
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
    return Reproducer(id=id, path=path, source=source, **values), []


def _mistakes(table: dict[str, Any]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for key, (_, required) in _KEYS.items():
        if required and key not in table:
            found.append((key, "missing"))
    for key, value in table.items():
        if key not in _KEYS:
            found.append((key, f"unknown key; expected one of {', '.join(_KEYS)}"))
        elif not _is(value, _KEYS[key][0]):
            found.append((key, f"{value!r} is not {_KEYS[key][0]}"))
    if found:
        return found
    if table["kind"] not in KINDS:
        found.append(("kind", f"{table['kind']!r} is not one of {', '.join(KINDS)}"))
    for key in ("symptom", "messages"):
        value = table.get(key, [])
        for pattern in value if isinstance(value, list) else [value]:
            try:
                re.compile(str(pattern))
            except re.error as error:
                found.append((key, f"{pattern!r} is not a regular expression: {error}"))
    for source in table["sources"]:
        if not source.startswith("https://"):
            found.append(("sources", f"{source!r} is not a public https:// link"))
    if not table["sources"]:
        found.append(("sources", "empty; at least one public report or document"))
    if table["fix"] != "upgrade" and not re.fullmatch(r"\w+\.\w+", str(table["fix"])):
        found.append(("fix", f"{table['fix']!r} is neither 'module.function' nor 'upgrade'"))
    if not table["affected"]:
        found.append(("affected", f"empty; name at least one of {', '.join(DEVICES)}"))
    for device, value in table["affected"].items():
        if device not in DEVICES:
            found.append(("affected", f"{device!r} is not a device; expected {', '.join(DEVICES)}"))
        if value != "never" and not _is_specifier(value):
            found.append(("affected", f"{device} = {value!r} is neither a PEP 440 specifier nor 'never'"))
    if "requires" in table and not _is_specifier(table["requires"]):
        found.append(("requires", f"{table['requires']!r} is not a PEP 440 specifier"))
    for device in table.get("stand_in", {}):
        if device not in table["affected"]:
            found.append(("stand_in", f"{device!r} is not named in affected"))
    return found


def _is(value: object, kind: str) -> bool:
    if kind == _STR:
        return isinstance(value, str) and value.strip() != ""
    if kind == _LIST:
        return isinstance(value, list) and all(_is(item, _STR) for item in value)
    if kind == _TABLE:
        return isinstance(value, dict) and all(_is(item, _STR) for item in value.values())
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0


def _is_specifier(text: object) -> bool:
    try:
        return str(SpecifierSet(str(text))) != ""
    except InvalidSpecifier:
        return False


def select(entries: list[Reproducer], names: tuple[str, ...]) -> list[Reproducer]:
    """The entries whose id or family is named, in catalog order; all but the retired ones when nothing is named."""
    if not names:
        return [entry for entry in entries if not entry.retired]
    unknown = [name for name in names if not any(name in (entry.id, entry.family) for entry in entries)]
    if unknown:
        raise KeyError(unknown[0])
    return [entry for entry in entries if entry.id in names or entry.family in names]
