"""The catalog: every file in repros/ and the contents of its header.

Reads the files as text, and never imports torch or a reproducer.
"""

from __future__ import annotations

import ast
import glob
import hashlib
import inspect
import os
import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

from packaging.specifiers import InvalidSpecifier

from . import checked, program, toml
from .checked import Check, Problems, key, string, strings
from .devices import DEVICES
from .torches import satisfies, specifier_set

PACKAGE = Path(__file__).resolve().parent
# False in an installed wheel, where everything is inside the package.
CLONE = (PACKAGE.parent / "noxfile.py").is_file()
ROOT = PACKAGE.parent if CLONE else PACKAGE
REPROS = ROOT / "repros"
FIXES = ROOT / "reference_fixes"
TESTS = ROOT / "tests" / "fixes"
RECORDS = PACKAGE / "records"

KINDS = ("error", "silent", "crash", "hang", "leak", "oom")
ORIGINS = {  # the origin of a failure -> its meaning
    "torch": "a bug of PyTorch",
    "design": "PyTorch works this way by design",
    "usage": "a mistake in the calling code that PyTorch does not catch",
}
LEVELS = {  # the level of a `scan` finding -> its meaning
    "error": "it raises an error, trains incorrectly or measures the wrong thing",
    "warning": "it does so under a condition that occurs in practice",
    "note": "its effect is small, or the code alone does not show whether it occurs",
}
FILL_IN = "FILL IN"  # marks the lines of a new reproducer that its author has to write
UNREPORTED = "unreported"  # the value of `upstream` if nobody has reported the bug to PyTorch
MAX_LINES = 10  # the maximum number of lines in `wrong`, `right` and `use`
# The functions of a reproducer. right() and messages() test the keys with the same names.
ROLES = ("reproduce", "control", "right", "messages", "popular_fix")

MAX_TIMEOUT = 600.0  # seconds
MAX_MEMORY = 16 * 1024  # MiB

_BLOCK = re.compile(r"^# /// script\n((?:#(?: .*)?\n)+?)# ///$", re.M)  # the PEP 723 block
# Finds the docstring, which follows the header in every reproducer, without parsing the code.
_DOCSTRING = re.compile(r'(?:#.*\n|[ \t]*\n)*"""((?:[^"\\]|"(?!""))*)"""[ \t]*(?:\n|\Z)')
_FUNCTION = re.compile(r"^def (\w+)\(device\b", re.M)
_THREAD = re.compile(  # where people report failures; pull requests are not reports
    r"https://(?:github\.com/[\w.-]+/[\w.-]+/(?:issues|discussions)/\d+"
    r"|discuss\.[\w.-]+/t/\S+"
    r"|forums?\.[\w.-]+/\S+"
    r"|(?:[\w-]+\.)?(?:stackoverflow|stackexchange)\.com/questions/\d+\S*"
    r"|huggingface\.co/\S+/discussions/\d+"
    r"|(?:www\.)?reddit\.com/r/\S+)"
)
_CHANGE = re.compile(r"([\w.-]+)#(\d+)")  # "pytorch#165068"
_FIX = re.compile(r"\w+\.\w+")
_UPSTREAM = "https://github.com/pytorch/pytorch/"


class CatalogError(Exception):
    """One line per problem: file, line, key, the value found, the value expected."""


# --- what a header may contain --------------------------------------------------------------------


def _table(value: object) -> str | None:
    if isinstance(value, dict) and not any(map(string, value.values())):
        return None
    return "is not a table of strings"


def _between(low: float, high: float, unit: str, whole: bool = False) -> Check:
    def check(value: object) -> str | None:
        types = int if whole else (int, float)
        if isinstance(value, types) and not isinstance(value, bool) and low <= value <= high:
            return None
        return f"is not a {'whole ' if whole else ''}number of {unit} from {low:g} to {high:g}"

    return check


@dataclass(eq=False, kw_only=True)
class Reproducer:
    """One file of repros/. The fields defined with key() are the keys of its header.

    A key without a default is required. The site's script also reads the keys marked `page`.
    """

    id: str  # "amp/unscale_before_scale": the path without its suffix
    path: Path
    source: str = field(repr=False)

    title: str = key(string, page=True)
    kind: str = key(string, page=True)
    symptom: str = key(string, page=True)  # regex for the text that reproduce() returns
    # regexes for messages that users see, each of them raised by reproduce() or messages() in a run
    messages: tuple[str, ...] = key(strings, page=True, default=())
    # regexes for messages that no run has raised, from other devices, older releases or programs
    elsewhere: tuple[str, ...] = key(strings, default=())
    origin: str = key(string, page=True)  # one of ORIGINS
    # threads about exactly this failure
    reports: tuple[str, ...] = key(strings, default=())
    # pages that state the cause or the fix: documentation, source, the pull request that fixed it
    documents: tuple[str, ...] = key(strings, default=())
    fixed_by: str = key(string, default="")  # "pytorch#165068": the change that fixed the failure
    upstream: str = key(string, default="")  # "unreported" if nobody has reported it to PyTorch
    wrong: str = key(string, page=True)  # a few lines of user code that fail
    # the replacement, using only torch and the standard library, if a few lines are enough
    right: str = key(string, page=True, default="")
    right_requires: str = key(string, page=True, default="")  # the torch versions `right` needs
    # "module.function" of reference_fixes, or "upgrade"; "" if `right` is enough
    fix: str = key(string, page=True, default="")
    use: str = key(string, page=True, default="")  # the lines that call the fix, with its import
    choice: str = key(string, page=True, default="")  # whether to use `right` or the fix, and why
    # the level of the `scan` finding: one of LEVELS; "" if `scan` does not look for this failure
    rule: str = key(string, default="")
    when: str = key(string, default="")  # the condition under which the found code fails
    requires: str = key(string, default="")  # the torch versions with the API
    # device -> the torch versions with the API on this device, if they differ from `requires`
    requires_on: dict[str, str] = key(_table, default_factory=dict)
    affected: dict[str, str] = key(_table)  # device -> PEP 440 specifier of torch, or "never"
    # device -> the substitute that was measured
    stand_in: dict[str, str] = key(_table, default_factory=dict)
    platform: str = key(string, default="")  # the required sys.platform; "" for any
    timeout: float = key(_between(0.001, MAX_TIMEOUT, "seconds"), default=30.0)  # per run
    # MiB that a run may use in addition to `import torch`
    memory: int = key(_between(1, MAX_MEMORY, "MiB", whole=True), default=1024)
    retired: str = key(string, default="")

    @property
    def header(self) -> dict[str, Any]:
        """The keys and values of the header, including the defaults of omitted keys."""
        return {key: value for key, value in asdict(self).items() if key in HEADER_KEYS}

    @property
    def is_current(self) -> bool:
        """True unless the reproducer is retired. A retired reproducer keeps its file and page, but
        it is no longer run, found or listed.
        """
        return not self.retired

    @property
    def family(self) -> str:
        return self.id.split("/")[0]

    @property
    def name(self) -> str:
        return self.id.split("/")[1]

    @cached_property
    def devices(self) -> tuple[str, ...]:
        """The devices that `affected` names, in the order of DEVICES."""
        return tuple(device for device in DEVICES if device in self.affected)

    @property
    def fixing_change(self) -> str:
        """The URL of the pull request that `fixed_by` names, or ""."""
        match = _CHANGE.fullmatch(self.fixed_by)
        return f"https://github.com/pytorch/{match[1]}/pull/{match[2]}" if match else ""

    @property
    def upstream_reports(self) -> list[str]:
        """The reports in PyTorch's own issue tracker."""
        return [link for link in self.reports if link.startswith(f"{_UPSTREAM}issues/")]

    @property
    def fix_module(self) -> str:
        """The module of reference_fixes that contains the fix, or "" if `fix` is "upgrade"."""
        return self.fix.partition(".")[0] if "." in self.fix else ""

    @property
    def fix_function(self) -> str:
        return self.fix.partition(".")[2]

    @property
    def texts(self) -> tuple[str, ...]:
        """The patterns of all messages that users see, whether or not a run raised them."""
        return (*self.messages, *self.elsewhere)

    @cached_property
    def roles(self) -> tuple[str, ...]:
        functions = _FUNCTION.findall(self.source)
        return tuple(role for role in ROLES if role in functions)

    @property
    def tree(self) -> ast.Module:
        """The parsed file, or an empty module if the file is not valid Python."""
        return _tree(self.source)

    @property
    def doc(self) -> str:
        if match := _DOCSTRING.match(self.source):
            return inspect.cleandoc(match[1])
        return ast.get_docstring(self.tree) or ""

    @cached_property
    def body(self) -> str:
        """The source after the header and the docstring."""
        if match := _DOCSTRING.match(self.source):
            return self.source[match.end(1) :].partition("\n")[2].removesuffix("\n")
        lines = self.source.splitlines()
        if ast.get_docstring(self.tree, clean=False) is None:
            return "\n".join(lines)
        return "\n".join(lines[self.tree.body[0].end_lineno :])

    @property
    def code(self) -> str:
        """The body without surrounding blank lines, for pasting into a report."""
        return self.body.strip()

    def function(self, name: str) -> str:
        """The source of the function with this name, or ""."""
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef) and node.name == name:
                return "\n".join(self.source.splitlines()[node.lineno - 1 : node.end_lineno])
        return ""

    def program(self, device: str) -> str:
        """The flat program for this device, as shown in a report."""
        return program.flat(self.code, self.kind, device)

    @cached_property
    def hash(self) -> str:
        """A hash of everything that affects a verdict: kind, symptom, and the code up to the
        `__main__` block.

        Changes to the docstring or to the rest of the header do not change the hash.
        """
        code = self.code.partition("\nif __name__ == ")[0].rstrip("\n")
        return hashlib.sha256(f"{self.kind}\n{self.symptom}\n{code}".encode()).hexdigest()[:16]

    def expects(self, device: str, torch_version: str) -> str:
        """The verdict that the header promises: "reproduced" or "absent"."""
        return promised(self.affected[device], torch_version)

    def needs(self, device: str) -> str:
        """The torch versions with the API on this device, or "" if every release has it."""
        return self.requires_on.get(device, self.requires)

    def unavailable_reason(self, torch_version: str, platform: str, device: str) -> str | None:
        """The reason why this cell cannot be run, or None."""
        if (needs := self.needs(device)) and not satisfies(torch_version, needs):
            return f"needs torch {needs}; this is {torch_version}"
        if self.platform and platform != self.platform:
            return f"needs {self.platform}; this is {platform}"
        return None

    def runs(self, role: str, torch_version: str) -> bool:
        """True if the role is run on this version of torch. `right` may require a newer version."""
        return (
            role != "right"
            or not self.right_requires
            or satisfies(torch_version, self.right_requires)
        )

    def line_of(self, key: str) -> int:
        """The line number of a header key."""
        return _line_of(self.source, key)


HEADER_KEYS = checked.keys(Reproducer)
PAGE_KEYS = [name for name, item in HEADER_KEYS.items() if item.metadata.get("page")]


def promised(specifier: str, torch_version: str) -> str:
    """The verdict that a specifier of `affected` promises for a release."""
    return (
        "reproduced" if specifier != "never" and satisfies(torch_version, specifier) else "absent"
    )


# Caches only one tree, because callers process the reproducers one by one, and ten thousand trees
# would exhaust memory.
@lru_cache(maxsize=1)
def _tree(source: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # users do not need warnings about escapes
            return ast.parse(source)
    except (SyntaxError, ValueError):
        return ast.Module(body=[], type_ignores=[])


# --- reading --------------------------------------------------------------------------------------


def read(repros: Path = REPROS, values: bool = True) -> tuple[list[Reproducer], list[str]]:
    """Returns all readable reproducers, sorted by id, and one line per problem in the other files.

    Without `values`, only the types of the values are checked, which is enough to print a header.
    Compiling the patterns of ten thousand reproducers takes longer than everything else.
    """
    reproducers, problems = [], []
    repros = repros.absolute()
    for name in sorted(glob.glob("*/*.py", root_dir=repros)):
        reproducer, wrong = parse(repros / name, name[:-3].replace(os.sep, "/"), values)
        if reproducer is not None:
            reproducers.append(reproducer)
        problems += wrong
    if not reproducers and not problems:
        problems = [f"{repros}: no reproducers here (expected <family>/<name>.py)"]
    return reproducers, problems


def load(repros: Path = REPROS) -> list[Reproducer]:
    """All reproducers, sorted by id.

    Raises CatalogError, which lists every problem in every file.
    """
    reproducers, problems = read(repros)
    if problems:
        raise CatalogError("\n".join(problems))
    return reproducers


def not_filled_in(source: str) -> list[tuple[int, str]]:
    """Returns (number, line) for each line that the author of a new file still has to write."""
    if FILL_IN not in source:
        return []
    return [(n, line) for n, line in enumerate(source.splitlines(), 1) if FILL_IN in line]


def parse(path: Path, id: str, values: bool = True) -> tuple[Reproducer | None, list[str]]:
    """Returns the reproducer, or None if the file has problems, and one line per problem.

    See read() for `values`.
    """

    def at(line: int, problem: str) -> str:
        return f"{path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}:{line}: {problem}"

    try:
        with open(path, "rb", buffering=0) as file:  # three times as fast as path.read_text()
            source = file.read().decode().replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        why = "not UTF-8" if isinstance(error, UnicodeDecodeError) else error.strerror
        return None, [at(1, f"cannot be read: {why}")]
    if unfilled := not_filled_in(source):
        return None, [at(number, f"not filled in: {line.strip('# ')}") for number, line in unfilled]
    block = _BLOCK.search(source)
    if block is None:
        return None, [at(1, "no header; expected a block '# /// script' ... '# ///' as in PEP 723")]
    first_line = source.count("\n", 0, block.start()) + 1
    try:
        header = toml.loads(("\n" + block[1]).replace("\n# ", "\n").replace("\n#", "\n")[1:])
    except toml.TOMLDecodeError as error:
        return None, [at(first_line, f"the header is not TOML: {error}")]
    table = header.get("tool")
    table = table.get("repro") if isinstance(table, dict) else None
    if not isinstance(table, dict):
        return None, [at(first_line, "the header has no table [tool.repro]")]

    wrong = [
        at(_line_of(source, key, first_line), f"{key}: {text}")
        for key, text in _problems(table, values)
    ]
    wrong += [
        at(1, f"no function {role}(device)")
        for role in ROLES[:2]
        if f"\ndef {role}(device" not in source
    ]
    if wrong:
        return None, wrong
    stated: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in table.items()
    }
    return Reproducer(id=id, path=path, source=source, **stated), []


def _line_of(source: str, key: str, otherwise: int = 1) -> int:
    lines = enumerate(source.splitlines(), 1)
    return next((number for number, line in lines if line.startswith(f"# {key} =")), otherwise)


def _problems(table: dict[str, Any], values: bool) -> Problems:
    """Returns (key, problem) pairs. Values are checked only if all types are correct."""
    problems = checked.problems(Reproducer, table)
    if not {"fix", "right"} & set(table):
        problems.append(("fix", "missing; only lines under `right` may replace it"))
    if problems or not values:
        return problems
    return [
        (key, wrong) for key, check in _VALUES.items() if key in table for wrong in check(table)
    ]


def _kind(table: dict[str, Any]) -> list[str]:
    return [] if table["kind"] in KINDS else [f"{table['kind']!r} is not one of {', '.join(KINDS)}"]


def _not_regexes(patterns: list[str]) -> list[str]:
    wrong = [(pattern, _not_a_regex(pattern)) for pattern in patterns]
    return [f"{pattern!r} is not a regular expression: {why}" for pattern, why in wrong if why]


def _origin(table: dict[str, Any]) -> list[str]:
    origin, reports = table["origin"], table.get("reports")
    if origin not in ORIGINS:
        return [f"{origin!r} is not one of {', '.join(ORIGINS)}"]
    if origin == "torch" and not reports and "upstream" not in table:
        return [f'a bug of PyTorch has `reports`, or upstream = "{UNREPORTED}"']
    if not reports and not table.get("documents") and "upstream" not in table:
        return ["neither `reports` nor `documents` shows this failure"]
    return []


def _reports(table: dict[str, Any]) -> list[str]:
    return [
        f"{link!r} is not a thread in which someone can report a failure; "
        "a pull request or a page belongs in `documents`"
        for link in table["reports"]
        if not _THREAD.fullmatch(link)
    ]


def _documents(table: dict[str, Any]) -> list[str]:
    return [
        f"{link!r} is not a public https:// link"
        for link in table["documents"]
        if not link.startswith("https://")
    ]


def _fixed_by(table: dict[str, Any]) -> list[str]:
    match = _CHANGE.fullmatch(table["fixed_by"])
    return [] if match else [f"{table['fixed_by']!r} is not of the form 'pytorch#165068'"]


def _upstream(table: dict[str, Any]) -> list[str]:
    if table["upstream"] != UNREPORTED:
        return [f"{table['upstream']!r} is not {UNREPORTED!r}"]
    if table["origin"] != "torch":
        return ["only a bug of PyTorch can be unreported there"]
    reports = [link for link in table.get("reports", ()) if link.startswith(_UPSTREAM)]
    return [f"it is reported: {reports[0]}"] if reports else []


def _lines(key: str) -> Callable[[dict[str, Any]], list[str]]:
    def check(table: dict[str, Any]) -> list[str]:
        count = sum(not line.isspace() for line in table[key].splitlines() if line)
        return [f"{count} lines; at most {MAX_LINES}"] if count > MAX_LINES else []

    return check


def _fix(table: dict[str, Any]) -> list[str]:
    if table["fix"] == "upgrade" or _FIX.fullmatch(table["fix"]):
        return []
    return [f"{table['fix']!r} is neither 'module.function' nor 'upgrade'"]


def _rule(table: dict[str, Any]) -> list[str]:
    if table["rule"] not in LEVELS:
        return [f"{table['rule']!r} is not one of {', '.join(LEVELS)}"]
    return []


def _when(table: dict[str, Any]) -> list[str]:
    return [] if "rule" in table else ["without `rule`, this key has no effect"]


def _retired(table: dict[str, Any]) -> list[str]:
    return (
        ["`rule` is still in the header; delete the key, the rule and its cases"]
        if "rule" in table
        else []
    )


def _affected(table: dict[str, Any]) -> list[str]:
    wrong = [] if table["affected"] else [f"empty; name at least one of {', '.join(DEVICES)}"]
    for device, value in table["affected"].items():
        if device not in DEVICES:
            wrong.append(f"{device!r} is not a device; expected {', '.join(DEVICES)}")
        if value != "never" and not _is_specifier(value):
            wrong.append(f"{device} = {value!r} is neither a PEP 440 specifier nor 'never'")
    return wrong


def _requires(table: dict[str, Any]) -> list[str]:
    return (
        []
        if _is_specifier(table["requires"])
        else [f"{table['requires']!r} is not a PEP 440 specifier"]
    )


def _requires_on(table: dict[str, Any]) -> list[str]:
    unknown = [device for device in table["requires_on"] if device not in table["affected"]]
    wrong = [value for value in table["requires_on"].values() if not _is_specifier(value)]
    return [f"{device!r} is not named in affected" for device in unknown] + [
        f"{value!r} is not a PEP 440 specifier" for value in wrong
    ]


def _right_requires(table: dict[str, Any]) -> list[str]:
    if "right" not in table:
        return ["without `right`, this key has no effect"]
    if _is_specifier(table["right_requires"]):
        return []
    return [f"{table['right_requires']!r} is not a PEP 440 specifier"]


def _choice(table: dict[str, Any]) -> list[str]:
    if {"right", "use"} <= set(table):
        return []
    return ["there is nothing to choose unless the header has both `right` and `use`"]


def _stand_in(table: dict[str, Any]) -> list[str]:
    return [
        f"{device!r} is not named in affected"
        for device in table["stand_in"]
        if device not in table["affected"]
    ]


_VALUES: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    "kind": _kind,
    "symptom": lambda table: _not_regexes([table["symptom"]]),
    "messages": lambda table: _not_regexes(table["messages"]),
    "elsewhere": lambda table: _not_regexes(table["elsewhere"]),
    "origin": _origin,
    "reports": _reports,
    "documents": _documents,
    "fixed_by": _fixed_by,
    "upstream": _upstream,
    "wrong": _lines("wrong"),
    "right": _lines("right"),
    "right_requires": _right_requires,
    "fix": _fix,
    "use": _lines("use"),
    "choice": _choice,
    "rule": _rule,
    "when": _when,
    "affected": _affected,
    "requires": _requires,
    "requires_on": _requires_on,
    "stand_in": _stand_in,
    "retired": _retired,
}


# Most patterns are texts with gaps, classes and simple groups, which are certain to be regexes.
# Compiling all of them would take longer than the rest of `explain`.
_CLASS = r"\[\^?(?:0-9|a-z|A-Z|[\w .:,;'\"/()=<>]|\\[.\[\]\\dws'\"()^-])+\]"
_REPEATED = r"(?:\{[01],[1-9]\d{0,2}\}|\{[1-9]\})\??"
_PART = (
    r"(?:[\w ,:;'\"=<>/@#%&~`!-]\??|\||\\[.()\[\]{}*+?|^$\\]\??|\\b"
    rf"|(?:\.|\\[dwsDWS]|{_CLASS})(?:{_REPEATED}|\?)?)"
)
_SIMPLE = re.compile(rf"(?:{_PART}|\(\?[=!]{_PART}*\)|\(\?:{_PART}*\)\??)*")


@cache
def _not_a_regex(pattern: str) -> str | None:
    if _SIMPLE.fullmatch(pattern):
        return None
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return str(error)
    return None


@cache
def _is_specifier(text: str) -> bool:
    try:
        return str(specifier_set(text)) != ""
    except InvalidSpecifier:
        return False


# --- choosing -------------------------------------------------------------------------------------


def ruled(reproducers: Iterable[Reproducer]) -> list[Reproducer]:
    """The reproducers that have a rule for `scan`."""
    return [reproducer for reproducer in reproducers if reproducer.rule and reproducer.is_current]


def families(repros: Path = REPROS) -> list[str]:
    """The folders that contain reproducers."""
    return sorted({path.parent.name for path in repros.glob("*/*.py")})


def fixes(folder: Path = FIXES) -> list[str]:
    """The families that have a reference fix."""
    return sorted(path.stem for path in folder.glob("*.py"))


def select(reproducers: list[Reproducer], names: tuple[str, ...]) -> list[Reproducer]:
    """The reproducers with the given ids or families, in catalog order. Without names, returns all
    reproducers that are not retired.
    """
    if not names:
        return [reproducer for reproducer in reproducers if reproducer.is_current]
    wanted = set(names)
    known = {name for reproducer in reproducers for name in (reproducer.id, reproducer.family)}
    if unknown := [name for name in names if name not in known]:
        raise KeyError(unknown[0])
    return [
        reproducer
        for reproducer in reproducers
        if reproducer.id in wanted or reproducer.family in wanted
    ]
