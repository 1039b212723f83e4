"""Everything that can be checked without running a reproducer.

Each problem is one line: file, line, what is wrong.
"""

from __future__ import annotations

import ast
import glob
import re
import textwrap
from collections.abc import Iterable
from pathlib import Path

from . import advice, catalog, causes, devices, torches
from .catalog import Reproducer
from .evidence import grid, headers, records
from .evidence.schema import Record
from .evidence.states import States
from .explain import explain, search
from .scan import scanning
from .vendoring import originals

# Where other files name every device but the CPU: file, pattern, what it means if it is missing.
PLACES_OF_DEVICES = (
    ("reference_fixes/amp.py", r'kind not in \([^)]*"{name}"', "choose_precision() refuses it"),
    ("reference_fixes/checkpoints.py", r'states\["{name}"\] =', "its random state is not saved"),
    ("reference_fixes/memory.py", r"\b{name}\.empty_cache\(\)", "its cache is never emptied"),
    ("README.md", r"nox -s tests-{name}`", "no word on how to run the tests on it"),
    ("README.md", r"For [^.]*\b{NAME}\b[^.]* headers rely on", "no word on what headers rely on"),
)
WORKFLOW = ".github/workflows/matrix.yml"

IDS = catalog.PACKAGE / "ids.txt"
NAMES = catalog.PACKAGE / "fixes.txt"
RULES = catalog.PACKAGE / "scan" / "rules"
CASES = catalog.ROOT / "tests" / "harness" / "scan"  # of the rules

# How every reproducer ends. 125 is what `git bisect run` takes for "cannot tell".
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
) -> list[str]:
    """All problems; empty when everything is in order."""
    problems = []
    known = []
    try:
        known = torches.load(releases)
    except torches.TorchesError as error:
        problems.append(str(error))
    problems += _misplaced(repros)
    reproducers, unreadable = catalog.read(repros)
    problems += unreadable
    if unreadable:  # the rest would only repeat that they are missing
        return problems
    problems += _python(reproducers)
    problems += _endings(reproducers)
    problems += _snippets(reproducers)
    problems += _citations(reproducers)
    problems += _changes(reproducers, known)
    problems += _ids(reproducers, ids)
    problems += _fixes(reproducers, fixes, tests)
    problems += _public_names(fixes, names)
    problems += originals.problems() if fixes == catalog.FIXES else []
    measured, wrong = records.read_all(folder)
    problems += wrong
    for record in measured:
        problems += _measurements(record, reproducers, record.path(folder))
    problems += _differences(reproducers, measured)
    problems += _releases(known, measured, releases, page)
    problems += advice.problems(reproducers, measured)
    problems += explain.problems(reproducers)
    problems += _rules(reproducers)
    if repros == catalog.REPROS:
        problems += _files_of_rules(reproducers)
        problems += search.problems({reproducer.id for reproducer in reproducers})
        problems += device_problems(devices.ROWS)
        problems += causes.problems(reproducers)
    return problems


def device_problems(rows: Iterable[devices.Device], root: Path = catalog.ROOT) -> list[str]:
    """What a row of devices.py still lacks in other files, at the line where CUDA has it."""
    problems = []
    for row in rows:
        places = [] if row.name == "cpu" else list(PLACES_OF_DEVICES)
        if not row.is_hosted:  # without the input, .github/plan.jq plans no job
            places.append((WORKFLOW, r"^      {name}-runner:$", "no input names its runner"))
        for file, pattern, problem in places:
            text = (root / file).read_text(encoding="utf-8")
            there, of_cuda = (
                re.search(pattern.format(name=name, NAME=name.upper()), text, re.M)
                for name in (row.name, "cuda")
            )
            if not there:
                line = text.count("\n", 0, of_cuda.end()) + 1 if of_cuda else 1
                problems.append(f"{root / file}:{line}: device {row.name!r}: {problem}")
    return problems


def _misplaced(repros: Path) -> list[str]:
    return [
        f"{repros / name}:1: not at <family>/<name>.py: nothing reads or runs it"
        for name in sorted(glob.glob("**/*.py", root_dir=repros, recursive=True))
        if len(Path(name).parts) != 2
    ]


def _python(reproducers: list[Reproducer]) -> list[str]:
    return [
        f"{one.path}:1: is not Python: it cannot be parsed"
        for one in reproducers
        if not one.tree.body
    ]


def _endings(reproducers: list[Reproducer]) -> list[str]:
    """Each file is a judge for `git bisect run`, and says what it saw in the same way."""
    problems = []
    for one in reproducers:
        main = MAIN.format(roles=", ".join(one.roles))
        if not one.source.endswith(f"\n\n\n{main}"):
            found = one.source.find("\nif __name__ == ")
            line = one.source.count("\n", 0, found) + 2 if found >= 0 else 1
            problems.append(f"{one.path}:{line}: the end of the file is not this:\n{main}")
    return problems


def _snippets(reproducers: list[Reproducer]) -> list[str]:
    """What `wrong` does is in the code that is run; advice.py holds `right` to more.

    tests/test_repros.py asks the same of the lines that ran.
    """
    problems = []
    for one in reproducers:
        where = f"{one.path}:{one.line_of('wrong')}: wrong"
        try:
            missing = not_run(one, one.tree) if one.tree.body else []
        except SyntaxError as error:
            problems.append(f"{where}: not Python: {error.msg} in line {error.lineno}")
            continue
        problems += [f"{where}: {what} is not in the code that is run" for what in missing]
        if one.wrong.strip() == "pass":
            problems.append(f"{where}: it does nothing")
        if one.right and one.right.strip() == one.wrong.strip():
            problems.append(f"{one.path}:{one.line_of('right')}: right: the same as wrong")
    return problems


def _rules(reproducers: list[Reproducer]) -> list[str]:
    """Each rule has a function, which finds the `wrong` lines and nothing in the `right` ones."""
    problems = []
    for rule, one in zip(scanning.rules(reproducers), catalog.ruled(reproducers)):
        where = f"{one.path}:{one.line_of('rule')}: rule"
        if left := _not_filled_in(RULES / f"{one.id}.py"):
            problems += left
            continue
        try:
            found, right = (
                scanning.scan_text(textwrap.dedent(lines.strip("\n")), [rule])
                for lines in (one.wrong, one.right)
            )
        except (ImportError, AttributeError):
            name = one.id.partition("/")[2]
            problems.append(f"{where}: no {name}() in matrix/scan/rules/{one.id}.py")
            continue
        except SyntaxError:
            continue  # which _snippets() names
        if not found:
            problems.append(f"{where}: it does not find the `wrong` lines")
        if right:
            problems.append(f"{where}: it finds something in the `right` lines: {right[0].what}")
    return problems


def _files_of_rules(reproducers: list[Reproducer]) -> list[str]:
    """Each rule has cases, and each file of a rule a header that names its level."""
    problems = []
    ruled = {one.id: one for one in catalog.ruled(reproducers)}
    for name in sorted(glob.glob("*/*.py", root_dir=RULES)):
        id = name.removesuffix(".py")
        if Path(name).stem not in ("shared", "__init__") and id not in ruled:
            problem = f"the header of repros/{name} has no `rule`, or there is no such file"
            problems.append(f"{RULES / name}:1: {problem}")
    for id, one in ruled.items() if CASES.is_dir() else ():
        cases = CASES / f"{id}.py"
        if cases.is_file():
            problems += _not_filled_in(cases)
        elif not cases.with_suffix("").is_dir():
            problems.append(f"{cases}:1: missing: the rule of {one.path} has no cases")
    return problems


def _not_filled_in(path: Path) -> list[str]:
    """The lines of a new file that its author has still to write."""
    if not path.is_file():
        return []  # which _rules() names
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    return [
        f"{path}:{number}: not filled in: {line.strip()}"
        for number, line in lines
        if catalog.FILL_IN in line
    ]


def not_run(one: Reproducer, code: ast.Module) -> list[str]:
    """What the lines under `wrong` do and the code does not."""
    there = _uses(ast.Module(code.body[:-1], []))  # without the end, which is MAIN
    return sorted(_does(ast.parse(one.wrong)) - there)


def _does(tree: ast.AST) -> set[str]:
    """Its calls, attributes, arguments and operators."""
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
    """The same and more: a function may be passed on, and an argument may have been a variable."""
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


def _citations(reproducers: list[Reproducer]) -> list[str]:
    """A number that a docstring cites is one that the header links to."""
    problems = []
    for one in reproducers:
        links = {*one.reports, *one.documents, one.fixing_change}
        for name, number in re.findall(r"([\w./-]+)#(\d+)", one.doc):
            if not any(re.search(rf"/{number}\b", link) for link in links):
                cited = f"{name}#{number}"
                problems.append(f"{one.path}:1: {cited} is not among reports, documents, fixed_by")
    return problems


def _changes(reproducers: list[Reproducer], releases: list[torches.Torch]) -> list[str]:
    """`fixed_by` stands where the newest release is not affected any more, and only there."""
    if not releases:
        return []
    problems = []
    for one in reproducers:
        specifiers = [value for value in one.affected.values() if value != "never"]
        ended = [
            value for value in specifiers if not torches.satisfies(releases[-1].version, value)
        ]
        if ended and not one.fixed_by:
            where = f"{one.path}:{one.line_of('affected')}"
            problems.append(f"{where}: affected: ends with {ended[0]!r}; `fixed_by` says by what")
        if one.fixed_by and not ended:
            where = f"{one.path}:{one.line_of('fixed_by')}"
            problems.append(f"{where}: fixed_by: torch {releases[-1].minor} is still affected")
    return problems


def _ids(reproducers: list[Reproducer], ids: Path) -> list[str]:
    """Ids are permanent: people cite them."""
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
    unreadable = set()
    for fix in catalog.fixes(fixes):
        path, test = fixes / f"{fix}.py", tests / f"test_{fix}.py"
        try:
            public[fix] = _all(path)
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
    return problems


def _all(path: Path) -> set[str]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            return set(ast.literal_eval(node.value))  # type: ignore[attr-defined]
    return set()


def _public_names(fixes: Path, names: Path) -> list[str]:
    """Projects that vendored a fix import its public names: none is dropped without notice."""
    listed = {name: number for number, name in enumerate(names.read_text("utf-8").split(), 1)}
    files = [fixes / f"{fix}.py" for fix in catalog.fixes(fixes)]
    try:
        public = {f"{file.stem}.{name}": file for file in files for name in _all(file)}
    except (SyntaxError, ValueError):
        return []  # a file that cannot be read is a problem of its own
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
    known: list[torches.Torch], measured: list[Record], releases: Path, page: Path
) -> list[str]:
    """What a new entry of torches.toml still lacks."""
    recorded = {record.minor for record in measured}
    header = page.read_text(encoding="utf-8").partition("| affected |")[0]
    problems = []
    for torch in known:
        where = f"{releases}:{torches.line_of(releases, torch)}: torch {torch.minor} is not"
        if torch.minor not in recorded:
            problems.append(f"{where} measured; run: torch-repros record {torch.minor}")
        if f"| {torch.minor} " not in header:
            problems.append(f"{where} in {page.name}; run: torch-repros grid")
    return problems


def _measurements(record: Record, reproducers: list[Reproducer], path: Path) -> list[str]:
    """What of a record is about no reproducer, or about code that has changed."""
    by_id = {reproducer.id: reproducer for reproducer in reproducers}
    unusable = {
        id: "no such reproducer; delete this measurement or bring the file back"
        for id in record.measurements
        if id not in by_id
    }
    for id, one in record.measurements.items():
        if id in by_id and one.is_stale(by_id[id]):
            again = f"torch-repros record {record.minor} --device {record.device} --only {id}"
            stale = f"stale: its code has changed since {one.date}"
            unusable[id] = f"{stale}; measure it again: {again}"
    return [f"{path}:{records.line_of(path, id)}: {id}: {why}" for id, why in unusable.items()]


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
