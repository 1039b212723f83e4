"""Everything that can be checked without running a reproducer.

Each problem is one line: file, line, what is wrong.
"""

from __future__ import annotations

import ast
import glob
from pathlib import Path

from . import catalog, causes, toml, torches
from .answers import explain
from .catalog import Reproducer
from .evidence import headers, records
from .evidence.records import Record
from .evidence.states import States

IDS = catalog.PACKAGE / "ids.txt"
NAMES = catalog.PACKAGE / "fixes.txt"


def lint(
    repros: Path = catalog.REPROS,
    folder: Path = records.RECORDS,
    ids: Path = IDS,
    fixes: Path = catalog.FIXES,
    tests: Path = catalog.TESTS,
    releases: Path = torches.TORCHES,
    names: Path = NAMES,
) -> list[str]:
    """All problems; empty when everything is in order."""
    problems = []
    try:
        torches.load(releases)
    except torches.TorchesError as error:
        problems.append(str(error))
    problems += _misplaced(repros)
    reproducers, unreadable = catalog.read(repros)
    problems += unreadable
    if unreadable:  # the rest would only repeat that they are missing
        return problems
    problems += _python(reproducers)
    problems += _ids(reproducers, ids)
    problems += _fixes(reproducers, fixes, tests)
    problems += _names(fixes, names)
    problems += _records(reproducers, folder)
    problems += explain.problems(reproducers)
    if repros == catalog.REPROS:
        try:
            problems += causes.problems(reproducers)
        except toml.TOMLDecodeError as error:
            problems.append(f"{causes.CAUSES}:1: not TOML: {error}")
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


def _names(fixes: Path, names: Path) -> list[str]:
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


def _records(reproducers: list[Reproducer], folder: Path) -> list[str]:
    measured, problems = records.read_all(folder)
    for record in measured:
        problems += _measurements(record, reproducers, record.path(folder))
    return problems + _differences(reproducers, measured)


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
