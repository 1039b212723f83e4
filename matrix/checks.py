"""All checks that do not run a reproducer.

Each problem is reported on one line, with the file, the line number and a description.
"""

from __future__ import annotations

import ast
import contextlib
import glob
import hashlib
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

from . import advice, catalog, causes, devices, torches
from .catalog import Reproducer
from .diagnose import checklists
from .evidence import grid, headers, records
from .evidence.schema import Record
from .evidence.states import States
from .explain import explain, search
from .scan import scanning
from .vendoring import originals

# Other files that must name every device except the CPU: the file, a pattern, and the meaning of
# its absence.
PLACES_OF_DEVICES = (
    ("reference_fixes/amp.py", r'kind not in \([^)]*"{name}"', "choose_precision() refuses it"),
    ("reference_fixes/checkpoints.py", r'states\["{name}"\] =', "its random state is not saved"),
    ("reference_fixes/memory.py", r"\b{name}\.empty_cache\(\)", "its cache is never emptied"),
    ("README.md", r"nox -s tests-{name}`", "nothing says how to run the tests on it"),
    ("README.md", r"For [^.]*\b{NAME}\b[^.]* headers rely on", "nothing says what headers rely on"),
)
WORKFLOW = ".github/workflows/matrix.yml"

IDS = catalog.PACKAGE / "ids.txt"
NAMES = catalog.PACKAGE / "fixes.txt"
RULES = catalog.PACKAGE / "scan" / "rules"
CACHE = catalog.ROOT / ".lint_cache" / "in_order.txt"
CASES = catalog.ROOT / "tests" / "harness" / "scan"  # test cases for the rules

# The last lines of every reproducer. `git bisect run` treats exit status 125 as "cannot tell".
MAIN = """\
if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in ({roles}):
            seen.append(role(device))
            print(f"{{role.__name__}}: {{seen[-1] or 'no symptom'}}")
    except Exception as error:
        print(f"{{role.__name__}}: cannot tell: {{error!r}}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
"""


def lint(
    repros: Path = catalog.REPROS,
    folder: Path = catalog.RECORDS,
    ids: Path = IDS,
    fixes: Path = catalog.FIXES,
    tests: Path = catalog.TESTS,
    releases: Path = torches.TORCHES,
    names: Path = NAMES,
    page: Path = catalog.ROOT / grid.PAGE,
    cache: Path | None = None,
) -> list[str]:
    """Returns all problems.

    `cache` is a file that lists the reproducers without problems. With it, the next call of the
    same code checks only files that have changed since.
    """
    problems = []
    torches_listed = []
    try:
        torches_listed = torches.load(releases)
    except torches.TorchesError as error:
        problems.append(str(error))
    problems += _misplaced(repros)
    reproducers, unreadable = catalog.read(repros)
    problems += unreadable
    if unreadable:  # the other checks would only report these files as missing
        return problems
    problems += _files(reproducers, cache)
    problems += _changes(reproducers, torches_listed)
    problems += _ids(reproducers, ids)
    problems += _fixes(reproducers, fixes, tests)
    problems += _public_names(fixes, names)
    problems += originals.problems() if fixes == catalog.FIXES else []
    measured, wrong = records.read_all(folder)
    problems += wrong
    for record in measured:
        problems += _measurements(record, reproducers, record.path(folder))
    problems += _unmeasured(reproducers, measured)
    problems += _differences(reproducers, measured)
    problems += _releases(torches_listed, measured, releases, page)
    problems += advice.message_problems(reproducers, measured)
    if repros == catalog.REPROS:
        problems += _files_of_rules(reproducers)
        problems += search.problems({reproducer.id for reproducer in reproducers})
        problems += device_problems(devices.ROWS)
        listed = set(causes.NAMES.read_text(encoding="utf-8").split())
        problems += causes.problems(reproducers, listed) or explain.problems_of_groups()
        problems += checklists.problems({each.id for each in reproducers if each.is_current})
    return problems


def device_problems(rows: Iterable[devices.Device], root: Path = catalog.ROOT) -> list[str]:
    """Missing entries for the devices in other files, each reported at the line that names CUDA."""
    problems = []
    for row in rows:
        places = [] if row.name == "cpu" else list(PLACES_OF_DEVICES)
        if not row.is_hosted:  # without this input, .github/plan.jq plans no job
            places.append((WORKFLOW, r"^      {name}-runner:$", "no input names its runner"))
        for file, pattern, problem in places:
            text = (root / file).read_text(encoding="utf-8")
            match, cuda_match = (
                re.search(pattern.format(name=name, NAME=name.upper()), text, re.M)
                for name in (row.name, "cuda")
            )
            if not match:
                line = text.count("\n", 0, cuda_match.end()) + 1 if cuda_match else 1
                problems.append(f"{root / file}:{line}: device {row.name!r}: {problem}")
    return problems


def _misplaced(repros: Path) -> list[str]:
    return [
        f"{repros / name}:1: not at <family>/<name>.py: nothing reads or runs it"
        for name in sorted(glob.glob("**/*.py", root_dir=repros, recursive=True))
        if len(Path(name).parts) != 2
    ]


def _files(reproducers: list[Reproducer], cache: Path | None) -> list[str]:
    """The problems that depend only on the reproducer's file and on this program."""
    clean = set[str]()
    if cache:
        with contextlib.suppress(OSError, UnicodeDecodeError):
            clean = set(cache.read_text(encoding="utf-8").split())
    program = hashlib.sha256(sys.version.encode())  # what is Python depends on it
    for path in sorted(catalog.PACKAGE.rglob("*.py")):
        program.update(f"\n{path}\n".encode() + hashlib.sha256(path.read_bytes()).digest())
    version = program.hexdigest()
    problems, in_order = [], set[str]()
    for reproducer in reproducers:
        text = "\n".join((version, reproducer.id, reproducer.source))
        digest = hashlib.sha256(text.encode()).hexdigest()
        found = [] if digest in clean else _in_file(reproducer)
        problems += found
        if not found:
            in_order.add(digest)
    if cache and in_order != clean:
        with contextlib.suppress(OSError):  # a read-only project
            cache.parent.mkdir(exist_ok=True)
            cache.write_text("".join(f"{digest}\n" for digest in sorted(in_order)))
    return problems


def _in_file(reproducer: Reproducer) -> list[str]:
    return [
        *_python(reproducer),
        *_ending(reproducer),
        *_snippet(reproducer),
        *_citations(reproducer),
        *advice.line_problems(reproducer),
        *explain.problems(reproducer),
        *_rule(reproducer),
    ]


def _python(reproducer: Reproducer) -> list[str]:
    is_python = reproducer.tree.body
    return [] if is_python else [f"{reproducer.path}:1: is not Python: it cannot be parsed"]


def _ending(reproducer: Reproducer) -> list[str]:
    """Reports a file that does not end with MAIN, which `git bisect` relies on."""
    main = MAIN.format(roles=", ".join(reproducer.roles))
    if reproducer.source.endswith(f"\n\n\n{main}"):
        return []
    start = reproducer.source.find("\nif __name__ == ")
    line = reproducer.source.count("\n", 0, start) + 2 if start >= 0 else 1
    return [f"{reproducer.path}:{line}: the end of the file is not this:\n{main}"]


def _snippet(reproducer: Reproducer) -> list[str]:
    """Reports operations in `wrong` that do not occur in the reproducer's code.

    The checks of `right` in advice.py are stricter, and tests/test_repros.py checks which lines are
    executed.
    """
    where = f"{reproducer.path}:{reproducer.line_of('wrong')}: wrong"
    try:
        missing = not_run(reproducer, reproducer.tree) if reproducer.tree.body else []
    except SyntaxError as error:
        return [f"{where}: not Python: {error.msg} on line {error.lineno}"]
    problems = [f"{where}: {what} is not in the code that is run" for what in missing]
    if reproducer.wrong.strip() == "pass":
        problems.append(f"{where}: it does nothing")
    if reproducer.right and reproducer.right.strip() == reproducer.wrong.strip():
        problems.append(
            f"{reproducer.path}:{reproducer.line_of('right')}: right: the same as wrong"
        )
    return problems


def _citations(reproducer: Reproducer) -> list[str]:
    """Reports issues that the docstring cites but the header does not link to."""
    links = {*reproducer.reports, *reproducer.documents, reproducer.fixing_change}
    return [
        f"{reproducer.path}:1: {name}#{number} is not among reports, documents, fixed_by"
        for name, number in re.findall(r"([\w./-]+)#(\d+)", reproducer.doc)
        if not any(re.search(rf"/{number}\b", link) for link in links)
    ]


def _rule(reproducer: Reproducer) -> list[str]:
    """Reports a rule that is missing, fails, misses `wrong` lines, or finds `right` lines."""
    where = f"{reproducer.path}:{reproducer.line_of('rule')}: rule"
    file = RULES / f"{reproducer.id}.py"
    for rule in scanning.rules([reproducer]):
        if unfilled := _not_filled_in(file):
            return unfilled
        try:
            scanning.function(rule.id)
        except Exception as error:  # the file can raise any
            if not file.is_file():
                return [f"{where}: {file} is missing"]
            line = error.lineno if isinstance(error, SyntaxError) else 1
            return [f"{file}:{line}: {type(error).__name__}: {error}"]
        try:
            wrong, right = (
                scanning.scan_text(textwrap.dedent(lines.strip("\n")), [rule])
                for lines in (reproducer.wrong, reproducer.right)
            )
        except scanning.RuleError as error:
            return [f"{file}:1: {error}"]
        except SyntaxError:
            return []  # _snippet() or advice.py reports it
        if not wrong:
            return [f"{where}: it does not find the `wrong` lines"]
        if right:
            return [f"{where}: it finds something in the `right` lines: {right[0].what}"]
    return []


def _files_of_rules(reproducers: list[Reproducer]) -> list[str]:
    """Reports rules without test cases, and rule files whose reproducer's header has no `rule`."""
    problems = []
    ruled = {reproducer.id: reproducer for reproducer in catalog.ruled(reproducers)}
    for name in sorted(glob.glob("*/*.py", root_dir=RULES)):
        id = name.removesuffix(".py")
        if Path(name).stem not in ("shared", "__init__") and id not in ruled:
            problem = f"the header of repros/{name} has no `rule`, or there is no such file"
            problems.append(f"{RULES / name}:1: {problem}")
    for id, reproducer in ruled.items() if CASES.is_dir() else ():
        cases = CASES / f"{id}.py"
        if cases.is_file():
            problems += _not_filled_in(cases)
        elif not cases.with_suffix("").is_dir():
            problems.append(f"{cases}:1: missing: the rule of {reproducer.path} has no cases")
    return problems


def _not_filled_in(path: Path) -> list[str]:
    """Reports each line of a new file that its author still has to write."""
    if not path.is_file():
        return []  # _rule() reports the missing file
    unfilled = catalog.not_filled_in(path.read_text(encoding="utf-8"))
    return [f"{path}:{number}: not filled in: {line.strip()}" for number, line in unfilled]


def not_run(reproducer: Reproducer, code: ast.Module) -> list[str]:
    """The calls, attributes, arguments and operators in `wrong` that the code does not contain."""
    used = _uses(ast.Module(code.body[:-1], []))  # excludes MAIN at the end
    return sorted(_does(ast.parse(reproducer.wrong)) - used)


def _does(tree: ast.AST) -> set[str]:
    """The calls, attributes, arguments and operators in the code."""
    nodes = list(ast.walk(tree))
    called = {_name(node.func) for node in nodes if isinstance(node, ast.Call)} - {""}
    does = {f"{name}()" for name in called}
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr not in called:
            does.add(f".{node.attr}")
        elif isinstance(node, ast.keyword) and node.arg:
            does.add(f"{node.arg}=")
            value = getattr(node.value, "value", None)
            if isinstance(value, (bool, str)) and value not in devices.DEVICES:
                does.add(repr(value))
        elif isinstance(node, (ast.BinOp, ast.AugAssign)):
            does.add(_operator(node))
    return does


def _uses(tree: ast.AST) -> set[str]:
    """Everything that _does() may return for equivalent code.

    A function may be passed instead of called, and an argument may have been a variable.
    """
    uses = set()
    for node in ast.walk(tree):
        for name in (_name(node), getattr(node, "name", None)):
            uses |= {f"{part}{end}" for part in (name or "").split(".") for end in ("()", "=")}
            uses |= {f".{part}" for part in (name or "").split(".")}
        if isinstance(node, (ast.arg, ast.keyword)):
            uses.add(f"{node.arg}=")
        elif isinstance(node, ast.ImportFrom):
            uses |= {f".{part}" for part in (node.module or "").split(".")}
        elif isinstance(node, ast.Constant):
            uses.add(repr(node.value))
        elif isinstance(node, (ast.BinOp, ast.AugAssign)):
            uses.add(_operator(node))
    return uses


def _name(node: ast.AST) -> str:
    return getattr(node, "attr", getattr(node, "id", ""))


def _operator(node: ast.BinOp | ast.AugAssign) -> str:
    return f"operator {type(node.op).__name__}{'=' * isinstance(node, ast.AugAssign)}"


def _changes(reproducers: list[Reproducer], releases: list[torches.Torch]) -> list[str]:
    """Reports headers that lack `fixed_by` if the newest release is unaffected, or vice versa."""
    if not releases:
        return []
    problems = []
    for reproducer in reproducers:
        specifiers = [value for value in reproducer.affected.values() if value != "never"]
        ended = [
            value for value in specifiers if not torches.satisfies(releases[-1].version, value)
        ]
        if ended and not reproducer.fixed_by:
            where = f"{reproducer.path}:{reproducer.line_of('affected')}"
            problems.append(
                f"{where}: affected: ends with {ended[0]!r}; `fixed_by` must name the change"
            )
        if reproducer.fixed_by and not ended:
            where = f"{reproducer.path}:{reproducer.line_of('fixed_by')}"
            problems.append(f"{where}: fixed_by: torch {releases[-1].minor} is still affected")
    return problems


def _ids(reproducers: list[Reproducer], ids: Path) -> list[str]:
    """Reports ids without a file, and unlisted ids. Ids are permanent, because people cite them."""
    listed = {id: number for number, id in enumerate(ids.read_text(encoding="utf-8").split(), 1)}
    now = {reproducer.id for reproducer in reproducers}
    lost = [
        f"{ids}:{line}: {id} no longer has a file; a retired reproducer keeps its file"
        for id, line in listed.items()
        if id not in now
    ]
    new = [
        f"{reproducer.path}:1: {reproducer.id} is not in {ids.name}; add it"
        for reproducer in reproducers
        if reproducer.id not in listed
    ]
    return lost + new


def _fixes(reproducers: list[Reproducer], fixes: Path, tests: Path) -> list[str]:
    problems = []
    public: dict[str, set[str]] = {}
    new_names: dict[str, str] = {}  # "module.old" -> new
    unreadable = set()
    for fix in catalog.fixes(fixes):
        path, test = fixes / f"{fix}.py", tests / f"test_{fix}.py"
        try:
            public[fix] = _all(path)
            new_names |= {f"{fix}.{old}": new for old, new in _aliases(path, public[fix])}
        except (SyntaxError, ValueError) as error:
            line = error.lineno if isinstance(error, SyntaxError) else 1
            problems.append(f"{path}:{line}: its __all__ cannot be read: {error}")
            unreadable.add(fix)
        if not test.is_file():
            problems.append(f"{test}:1: missing: the fix {fix!r} has no tests")
    for reproducer in reproducers:
        module, function = reproducer.fix_module, reproducer.fix_function
        if module and module not in unreadable and function not in public.get(module, ()):
            where = f"{reproducer.path}:{reproducer.line_of('fix')}"
            problems.append(f"{where}: fix: {module}.py has no {function!r} in its __all__")
        elif new := new_names.get(reproducer.fix):
            where = f"{reproducer.path}:{reproducer.line_of('fix')}"
            problems.append(f"{where}: fix: {function!r} is an old name of {new!r}")
    return problems


def _all(path: Path) -> set[str]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            return set(ast.literal_eval(node.value))  # type: ignore[attr-defined]
    return set()


def _aliases(path: Path, public: set[str]) -> Iterator[tuple[str, str]]:
    """(old name, new name) of each renamed function, which `OLD = NEW` keeps public."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            yield from ((name, node.value.id) for name in names if name in public)


def _public_names(fixes: Path, names: Path) -> list[str]:
    """Reports removed or unlisted public names. Projects that vendor a fix import these names."""
    listed = {name: number for number, name in enumerate(names.read_text("utf-8").split(), 1)}
    files = [fixes / f"{fix}.py" for fix in catalog.fixes(fixes)]
    try:
        public = {f"{file.stem}.{name}": file for file in files for name in _all(file)}
    except (SyntaxError, ValueError):
        return []  # _fixes() reports it
    lost = [
        f"{names}:{line}: {name} is no longer public; keep it as an alias for one minor version, "
        "then delete this line"
        for name, line in listed.items()
        if name not in public
    ]
    new = [
        f"{file}:1: {name} is not in {names.name}; add it"
        for name, file in sorted(public.items())
        if name not in listed
    ]
    return lost + new


def _releases(
    torches_listed: list[torches.Torch], measured: list[Record], releases: Path, page: Path
) -> list[str]:
    """Reports releases in torches.toml that have no records or no column in the grid."""
    recorded = {record.minor for record in measured}
    header = page.read_text(encoding="utf-8").partition("| affected |")[0]
    problems = []
    for torch in torches_listed:
        where = f"{releases}:{torches.line_of(releases, torch)}: torch {torch.minor} is not"
        if torch.minor not in recorded:
            problems.append(f"{where} measured; run: torch-repros record {torch.minor}")
        if f"| {torch.minor} " not in header:
            problems.append(f"{where} in {page.name}; run: torch-repros grid")
    return problems


def _measurements(record: Record, reproducers: list[Reproducer], path: Path) -> list[str]:
    """Reports measurements of reproducers that do not exist or whose code has since changed."""
    by_id = {reproducer.id: reproducer for reproducer in reproducers}
    unusable = {
        id: "no such reproducer; delete this measurement or bring the file back"
        for id in record.measurements
        if id not in by_id
    }
    for id, measurement in record.measurements.items():
        if id in by_id and measurement.is_stale(by_id[id]):
            again = f"torch-repros record {record.minor} --device {record.device} --only {id}"
            stale = f"stale: its code has changed since {measurement.date}"
            unusable[id] = f"{stale}; measure it again: {again}"
    return [f"{path}:{records.line_of(path, id)}: {id}: {why}" for id, why in unusable.items()]


def _unmeasured(reproducers: list[Reproducer], measured: list[Record]) -> list[str]:
    """Reports reproducers for the CPU, which everyone has, without a measurement on it."""
    ids = {id for record in measured if record.device == "cpu" for id in record.measurements}
    return [
        f"{reproducer.path}:{reproducer.line_of('affected')}: affected: no record measures it; "
        f"run: torch-repros record --only {reproducer.id}"
        for reproducer in reproducers
        if reproducer.is_current and "cpu" in reproducer.affected and reproducer.id not in ids
    ]


def _differences(reproducers: list[Reproducer], measured: list[Record]) -> list[str]:
    problems = []
    for difference in headers.differences(reproducers, States(measured)):
        reproducer = difference.reproducer
        where = f"{reproducer.path}:{reproducer.line_of('affected')}: affected: {difference.device}"
        todo = (
            f"to fix, run: torch-repros headers --write (writes {difference.measured!r})"
            if difference.measured
            else "investigate: this record is inconclusive"
        )
        problems.append(f"{where}: {difference.why}; {todo}")
    return problems
