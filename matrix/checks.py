"""Everything that can be checked without running a reproducer. Each finding is one line: file, line, what is wrong."""

from __future__ import annotations

import ast
from pathlib import Path

from . import catalog, causes, torches
from .evidence import headers, records

IDS = Path(__file__).with_name("ids.txt")
MEND = "mend it with: python -m matrix expect --from-records"


def lint(
    repros: Path = catalog.REPROS,
    folder: Path = records.RECORDS,
    ids: Path = IDS,
    fixes: Path = catalog.ROOT / "reference_fixes",
    tests: Path = catalog.ROOT / "tests",
    axis: Path = torches.TORCHES,
) -> list[str]:
    """All findings; empty when everything is in order."""
    findings: list[str] = []
    try:
        torches.load(axis)
    except torches.TorchesError as error:
        findings.append(str(error))
    try:
        entries = catalog.load(repros)
    except catalog.CatalogError as error:
        return findings + str(error).splitlines()
    findings += _ids(entries, ids)
    findings += _fixes(entries, fixes, tests)
    findings += _records(entries, folder)
    findings += explain.mistakes(entries) if repros == catalog.REPROS else []
    return findings


def _ids(entries: list[catalog.Reproducer], ids: Path) -> list[str]:
    """Ids are for ever: people cite them."""
    ever = {id: number for number, id in enumerate(ids.read_text(encoding="utf-8").split(), 1)}
    now = {entry.id for entry in entries}
    lost = [f"{ids}:{line}: {id} has no file any more; a retired reproducer keeps its file" for id, line in ever.items() if id not in now]
    new = [f"{entry.path}:1: {entry.id} is not in {ids.name}; add it there, for ever" for entry in entries if entry.id not in ever]
    return lost + new


def _fixes(entries: list[catalog.Reproducer], fixes: Path, tests: Path) -> list[str]:
    found = []
    public: dict[str, set[str]] = {}
    for entry in entries:
        module, _, function = entry.fix.partition(".")
        if function and module not in public:
            public[module] = _all(fixes / f"{module}.py")
        if function and function not in public[module]:
            found.append(f"{entry.path}:{line_of(entry, 'fix')}: fix: {module}.py has no {function!r} in its __all__")
    for family in sorted({entry.family for entry in entries}):
        test = tests / f"test_{family}.py"
        if not test.is_file():
            found.append(f"{test}:1: missing: the family {family!r} has no tests")
    return found


def _all(path: Path) -> set[str]:
    if not path.is_file():
        return set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


def _records(entries: list[catalog.Reproducer], folder: Path) -> list[str]:
    try:
        cells = records.load(folder)
    except records.RecordsError as error:
        return str(error).splitlines()
    by_id = {entry.id: entry for entry in entries}
    found = []
    for cell in cells:
        path = folder / cell.name
        for id, measured in cell.entries.items():
            if id not in by_id:
                found.append(f"{path}:{_line(path, id)}: {id}: no such reproducer; delete this entry or bring the file back")
            elif measured.is_stale(by_id[id]):
                again = f"python -m matrix record --torch {cell.minor} --device {cell.device} --only {id}"
                found.append(
                    f"{path}:{_line(path, id)}: {id}: stale: its code has changed since {measured.date}; measure it again: {again}"
                )
    for difference in expect.differences(entries, cells):
        where = f"{difference.entry.path}:{line_of(difference.entry, 'affected')}: affected"
        mend = f"{MEND} (writes {difference.measured!r})" if difference.measured else "look into it: a record like this states nothing"
        found.append(f"{where}: {difference.device}: {difference.why}; {mend}")
    return found


def line_of(entry: catalog.Reproducer, key: str) -> int:
    """The line of a key of the header."""
    return next((number for number, line in enumerate(entry.source.splitlines(), 1) if line.startswith(f"# {key} =")), 1)


def _line(path: Path, id: str) -> int:
    lines = path.read_text(encoding="utf-8").splitlines()
    return next((number for number, line in enumerate(lines, 1) if f'"{id}"' in line), 1)
