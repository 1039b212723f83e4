"""Checks the imports between folders, and that each closed set of names is listed only once."""

import ast
import re
import subprocess
import sys

import pytest

from matrix import catalog, devices, verdicts
from matrix.evidence import states

PACKAGE = catalog.PACKAGE
MODULES = sorted(PACKAGE.rglob("*.py"))
GROUND = {"__init__", "catalog", "torches", "devices", "verdicts", "causes", "toml", "program"}
GROUND |= {"checked", "printing"}
# Each group may import the groups before it.
ORDER = [
    "watching",
    "ground",
    "vendoring",
    "evidence",
    "run",
    "diagnose",
    "explain",
    "scan",
    "site",
    "beside",
    "commands",
]
BESIDE = {"advice", "checks", "skeleton"}  # single modules that the commands call


def room(path):
    name = path.relative_to(PACKAGE).parts
    if len(name) > 1:
        return name[0]
    return "ground" if path.stem in GROUND else "beside" if path.stem in BESIDE else "commands"


def imports(path):
    """Yields the line and the target of every import: a file of this package, or another name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.lineno, node.module
        elif isinstance(node, ast.ImportFrom):
            folder = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            for alias in node.names:
                modules = [
                    folder / f"{alias.name}.py",
                    folder / alias.name / "__init__.py",
                    folder.with_suffix(".py"),
                ]
                yield (
                    node.lineno,
                    next((file for file in modules if file.is_file()), folder / "__init__.py"),
                )


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_imports_run_one_way_from_the_commands_to_the_ground(path):
    for line, target in imports(path):
        if not isinstance(target, str):
            assert ORDER.index(room(target)) <= ORDER.index(room(path)), (
                f"{path}:{line}: uses {target}"
            )


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_only_the_worker_imports_torch_and_no_module_names_its_own_package(path):
    for line, target in imports(path):
        top = target.split(".")[0] if isinstance(target, str) else ""
        assert top not in ("matrix", "torch_repros", "tests", "repros", "reference_fixes"), (
            f"{path}:{line}"
        )
        inside = path.parent.name == "worker" or room(path) == "watching"
        assert top != "torch" or inside, f"{path}:{line}: imports torch"


HOSTS = {
    "pytest": ["pytest"],
    "lightning": ["lightning", "pytorch_lightning"],
    "transformers": ["transformers"],
}
WATCHING = [path for path in MODULES if room(path) == "watching"]


@pytest.mark.parametrize("path", WATCHING, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_the_watch_needs_torch_and_the_standard_library_alone(path):
    for line, target in imports(path):
        if isinstance(target, str):
            known = {"torch", *sys.stdlib_module_names, *HOSTS.get(path.stem, ())}
            assert target.split(".")[0] in known, f"{path}:{line}: {target}"
            assert target.split(".")[0] != "torch" or path.stem != "findings", f"{path}:{line}"
        else:
            assert room(target) == "watching", f"{path}:{line}: {target}"


@pytest.mark.parametrize("path", sorted(catalog.FIXES.glob("*.py")), ids=lambda path: path.stem)
def test_a_fix_imports_torch_and_the_standard_library_alone(path):
    import sys

    for line, target in imports(path):
        assert isinstance(target, str), f"{path}:{line}: a relative import"
        assert target.split(".")[0] in {"torch", *sys.stdlib_module_names}, (
            f"{path}:{line}: {target}"
        )


def test_tests_import_their_helpers_by_one_name():
    """A helper with two names is imported twice, and the shorter name may hide a package."""
    folder = catalog.ROOT / "tests/harness"
    helpers = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("test_")}
    assert [
        f"{path}:{line}: {target}"
        for path in (catalog.ROOT / "tests").rglob("test_*.py")
        for line, target in imports(path)
        if target in helpers
    ] == []


CLOSED_SETS = {  # name -> (members, the file that lists them, members that count as a list)
    "devices": (devices.DEVICES, "matrix/devices.py", len(devices.DEVICES)),
    "verdicts": (verdicts.VERDICTS, "matrix/verdicts.py", 4),
    "states": (tuple(states.BY_NAME), "matrix/evidence/states.py", 7),
    "families": (tuple(catalog.families()), None, 4),
    "fixes": (tuple(catalog.fixes()), None, 4),
    "header keys": (tuple(catalog.HEADER_KEYS), "matrix/catalog.py", 8),
}


def tracked(*patterns):
    """The files of the project, including uncommitted files."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    done = subprocess.run(command, cwd=catalog.ROOT, capture_output=True, text=True, check=True)
    return [name for name in done.stdout.splitlines() if (catalog.ROOT / name).is_file()]


def listed(name, members, enough):
    """The lines with at least `enough` members in one literal or on one line."""
    text = (catalog.ROOT / name).read_text(encoding="utf-8")
    if name.endswith(".py"):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.Tuple, ast.List, ast.Set, ast.Dict)):
                parts = node.keys if isinstance(node, ast.Dict) else node.elts
                values = {part.value for part in parts if isinstance(part, ast.Constant)}
                if len(values & set(members)) >= enough:
                    yield node.lineno
    else:
        for number, line in enumerate(text.splitlines(), 1):
            words = set(re.findall(r"[a-z_]+", line))
            if len(words & set(members)) >= enough:
                yield number


@pytest.mark.parametrize("name", CLOSED_SETS)
def test_a_closed_set_of_names_is_stated_in_one_place(name):
    """Contributors who add a member would forget to update a second list."""
    members, home, enough = CLOSED_SETS[name]
    files = tracked("*.py", "*.yml", "*.yaml", "*.js", "*.css", "*.html", "*.toml")
    # tests may list expected names; reproducers and fixes (and changes to them) import nothing
    own = ("tests/harness/", "tests/fixes/", "tests/page/", "tests/trials/changes/", "repros/")
    own += ("reference_fixes/", "matrix/messages/")  # messages name devices in torch's words
    places = [
        f"{file}:{line}"
        for file in files
        if file != home and not file.startswith(own) and not file.endswith((".results.json",))
        for line in listed(file, members, enough)
    ]
    assert places == []


def test_every_tone_has_a_class_on_the_site():
    style = (PACKAGE / "site/templates/style.css").read_text(encoding="utf-8")
    for row in states.ROWS:
        assert row.tone in verdicts.TONES
    for tone in verdicts.TONES:
        assert re.search(rf"\.{tone}\b", style), tone
