import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from matrix import catalog, causes, checks, devices
from matrix.evidence import store
from matrix.scan import rules, scanning
from tests.harness.helpers import RETURNS, call, plant
from tests.harness.recorded import measurement, record

RELEASE = '[[torch]]\nversion = "{}"\npython = ">=3.10"\n\n'


@pytest.fixture
def project(root, tmp_path):
    """A project without problems, so that each problem comes from a test's own change."""
    plant(
        root,
        "amp/one",
        RETURNS.format("boom"),
        affected='{ cpu = "<2.10" }',
        fix='"amp.fix"',
        use='"from amp import fix"',
        fixed_by='"pytorch#7"',
    )
    folders = {name: tmp_path / name for name in ("records", "fixes", "tests")}
    for folder in folders.values():
        folder.mkdir()
    (folders["fixes"] / "amp.py").write_text('__all__ = ["fix"]\n')
    (folders["tests"] / "test_amp.py").touch()
    ids = tmp_path / "ids.txt"
    ids.write_text("amp/one\n")
    names = tmp_path / "fixes.txt"
    names.write_text("amp.fix\n")
    hash = catalog.load(root)[0].hash
    for version, verdict in (("2.9.1", "reproduced"), ("2.10.0", "absent")):
        held = {"amp/one": measurement(verdict, hash=hash)}
        store.save(record(version, held), folders["records"])
    releases, page = tmp_path / "torches.toml", tmp_path / "grid.md"
    releases.write_text(RELEASE.format("2.9.1") + RELEASE.format("2.10.0"))
    page.write_text("| reproducer | device | 2.9 | 2.10 | affected |\n")

    class Project:
        pass

    Project.repros, Project.ids, Project.names, Project.folders = root, ids, names, folders
    Project.hash, Project.releases = hash, releases
    Project.lint = staticmethod(
        lambda: checks.lint(
            root, folders["records"], ids, folders["fixes"], folders["tests"], releases, names, page
        )
    )
    assert Project.lint() == []
    return Project


def test_a_release_that_is_not_measured_or_not_in_the_grid_is_a_problem_at_its_line(project):
    with project.releases.open("a") as file:
        file.write(RELEASE.format("2.11.0"))
    record, grid = project.lint()
    where = f"{project.releases}:10: torch 2.11 is not"
    assert record == f"{where} measured; run: torch-repros record 2.11"
    assert grid == f"{where} in grid.md; run: torch-repros grid"


def test_a_retired_reproducer_that_keeps_its_rule_is_a_problem(project):
    id = "loss/softmax_before_cross_entropy"
    source = (catalog.REPROS / f"{id}.py").read_text(encoding="utf-8")
    planted = project.repros / f"{id}.py"
    planted.parent.mkdir()
    planted.write_text(source.replace("# rule =", '# retired = "why"\n# rule ='), encoding="utf-8")
    (problem,) = project.lint()
    assert f"{id}.py:" in problem
    assert problem.endswith(
        "retired: `rule` is still in the header; delete the key, the rule and its cases"
    )


FINDS = """\
import ast
from matrix.scan.code import Hit
def {name}(code):
    for call in code.all(ast.Call):
        if call.func.id in {found}:
            yield Hit(call, "it does so")
"""


@pytest.mark.parametrize(
    ("name", "source", "problem"),
    [
        ("is_right", FINDS.replace("{found}", "['reproduce']"), None),
        (
            "finds_too_little",
            FINDS.replace("{found}", "[]"),
            "{path}:15: rule: it does not find the `wrong` lines",
        ),
        (
            "finds_too_much",
            FINDS.replace("{found}", "['reproduce', 'control']"),
            "{path}:15: rule: it finds something in the `right` lines: it does so",
        ),
        ("is_missing", None, "{path}:15: rule: {file} is missing"),
        ("has_no_function", "x = 1\n", "{file}:1: AttributeError: module 'matrix.scan.rules."),
        ("is_not_python", "x = 1\ndef (\n", "{file}:2: SyntaxError: invalid syntax"),
        (
            "imports_nothing",
            "from os import nothing\n",
            "{file}:1: ImportError: cannot import name",
        ),
        (
            "raises",
            "def {name}(code):\n    return code.nothing\n",
            "{file}:1: the rule planted/raises failed: AttributeError: 'Code' object has no",
        ),
    ],
)
def test_a_rule_that_finds_too_little_or_too_much_or_fails_is_a_problem(
    root, tmp_path, monkeypatch, name, source, problem
):
    folder = tmp_path / "rules"
    file = folder / f"planted/{name}.py"
    file.parent.mkdir(parents=True)
    if source is not None:
        file.write_text(source.replace("{name}", name))
    monkeypatch.setattr(rules, "__path__", [*rules.__path__, str(folder)])
    monkeypatch.setattr(checks, "RULES", folder)
    monkeypatch.delitem(sys.modules, "matrix.scan.rules.planted", raising=False)
    scanning.function.cache_clear()
    id = f"planted/{name}"
    path = plant(root, id, RETURNS.format("boom"), right='"control(device)"', rule='"error"')
    problems = checks._rule(catalog.load(root)[0])
    if problem is None:
        assert problems == []
    else:
        (found,) = problems
        assert found.startswith(problem.format(path=path, file=file))


def test_a_reproducer_that_nobody_measured_is_a_problem_with_the_command(project):
    path = plant(project.repros, "amp/two", RETURNS.format("boom"))
    plant(project.repros, "amp/retired", RETURNS.format("boom"), retired='"why"')
    plant(project.repros, "amp/on_a_gpu", RETURNS.format("boom"), affected='{ cuda = ">=1.13" }')
    project.ids.write_text("amp/one amp/two amp/retired amp/on_a_gpu\n")
    assert project.lint() == [
        f"{path}:13: affected: no record measures it; run: torch-repros record --only amp/two"
    ]


def test_a_header_that_uses_the_old_name_of_a_fix_is_a_problem(project):
    fix = project.folders["fixes"] / "amp.py"
    fix.write_text('__all__ = ["fix", "new"]\n\nnew = len\nfix = new  # renamed in 0.3\n')
    project.names.write_text("amp.fix\namp.new\n")
    path = project.repros / "amp/one.py"
    assert project.lint() == [f"{path}:12: fix: 'fix' is an old name of 'new'"]


def test_every_place_that_lacks_a_new_device_is_a_problem():
    assert checks.device_problems(devices.ROWS) == []
    planted = replace(devices.BY_NAME["cuda"], name="xpu", runner="xpu")
    problems = checks.device_problems([*devices.ROWS, planted])
    for problem in problems:
        file, line, device, _ = problem.split(":", 3)
        assert device == " device 'xpu'"
        assert "cuda" in Path(file).read_text("utf-8").splitlines()[int(line) - 1].lower()
    said = [problem.removeprefix(f"{catalog.ROOT}/").split(":") for problem in problems]
    assert [(file, why.strip()) for file, _, _, why in said] == [
        ("reference_fixes/amp.py", "choose_precision() refuses it"),
        ("reference_fixes/checkpoints.py", "its random state is not saved"),
        ("README.md", "nothing says how to run the tests on it"),
        ("README.md", "nothing says what headers rely on"),
        (".github/workflows/matrix.yml", "no input names its runner"),
    ]  # memory.py is not listed, because it already supports xpu


def test_an_id_without_a_file_and_a_file_without_an_id_are_problems(project):
    project.ids.write_text("amp/renamed\n")
    lost, new = project.lint()
    assert lost.endswith(
        "ids.txt:1: amp/renamed no longer has a file; a retired reproducer keeps its file"
    )
    assert new.endswith("one.py:1: amp/one is not in ids.txt; add it")


def test_a_fix_that_is_not_public_is_a_problem_at_its_line(project):
    (project.folders["fixes"] / "amp.py").write_text('__all__ = ["other"]\n')
    project.names.write_text("amp.other\n")
    (problem,) = project.lint()
    assert problem.endswith("amp/one.py:12: fix: amp.py has no 'fix' in its __all__")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (b"x = 1\ndef (\n", "amp.py:2: its __all__ cannot be read: invalid syntax"),
        (b"__all__ = sorted(globals())\n", "amp.py:1: its __all__ cannot be read: malformed"),
        (b"# caf\xe9\n", "amp.py:1: its __all__ cannot be read: 'utf-8' codec"),
    ],
)
def test_a_fix_that_cannot_be_read_is_one_problem(project, source, text):
    (project.folders["fixes"] / "amp.py").write_bytes(source)
    (problem,) = project.lint()
    assert text in problem


def test_a_fix_without_a_file_is_a_problem(project):
    path = project.repros / "amp/one.py"
    path.write_text(path.read_text().replace('"amp.fix"', '"rnn.fix"'))
    _, problem = project.lint()
    assert problem.endswith("one.py:12: fix: rnn.py has no 'fix' in its __all__")


def test_a_file_beside_or_below_the_families_is_a_problem(project):
    (project.repros / "amp/deeper").mkdir()
    for name in ("two.py", "amp/deeper/three.py"):
        (project.repros / name).write_text("")
    deeper, beside = project.lint()
    assert deeper.startswith(f"{project.repros / 'amp/deeper/three.py'}:1: not at <family>/<name>")
    assert beside.startswith(f"{project.repros / 'two.py'}:1: not at <family>/<name>.py")


def test_causes_that_are_not_toml_are_a_problem(monkeypatch, tmp_path, project):
    monkeypatch.setattr(catalog, "REPROS", project.repros)  # lint reads the causes of the catalog
    path = tmp_path / "messages" / "training.toml"
    path.parent.mkdir()
    path.write_text("[[message")
    monkeypatch.setattr(causes, "MESSAGES", path.parent)
    causes.load.cache_clear()
    (problem,) = [problem for problem in project.lint() if problem.startswith(str(path))]
    assert problem.startswith(f"{path}:1: not TOML: ")


def test_a_fix_without_tests_is_a_problem(project):
    (project.folders["tests"] / "test_amp.py").unlink()
    (problem,) = project.lint()
    assert problem.endswith("test_amp.py:1: missing: the fix 'amp' has no tests")


def test_a_body_that_is_no_python_is_a_problem(project):
    plant(project.repros, "amp/two", "def reproduce(device):\n    return (\n")
    project.ids.write_text("amp/one\namp/two\n")
    problem, unmeasured = project.lint()
    assert "no record measures it" in unmeasured
    assert problem.endswith("two.py:1: is not Python: it cannot be parsed")


MAIN = checks.MAIN.format(roles="reproduce, control")


@pytest.mark.parametrize(
    "ending",
    ["", MAIN.splitlines(True)[0] + "    print()\n", MAIN.replace("125", "1"), MAIN + "\n"],
)
def test_a_file_that_ends_in_another_way_is_a_problem_with_the_end_it_should_have(project, ending):
    path = project.repros / "amp/one.py"
    path.write_text(path.read_text().replace(MAIN, ending))
    (problem,) = project.lint()
    assert f"one.py:{27 if 'main' in ending else 1}: the end of the file is not this:" in problem
    assert problem.endswith(MAIN)


def test_the_end_names_the_popular_fix_where_there_is_one(project):
    path = project.repros / "amp/one.py"
    role = "def popular_fix(device):\n    return 'boom'\n\n\nif __name__"
    path.write_text(path.read_text().replace("if __name__", role))
    (problem,) = [line for line in project.lint() if "the end of" in line]
    assert "for role in (reproduce, control, popular_fix):" in problem


@pytest.mark.parametrize(
    ("before", "after", "missing"),
    [
        ("reproduce(device)", "model.fit(x)", ["fit()"]),
        ("reproduce(device)", "a().b(c())", ["a()", "b()", "c()"]),
        ("reproduce(device)", "x = model.data", [".data"]),
        ("reproduce(device)", "x += y * 2", ["operator Add=", "operator Mult"]),
        ("reproduce(device)", "reproduce(strict=False, n=3)", ["False", "n=", "strict="]),
        ("reproduce(device)", "reproduce(device='cuda')", []),
    ],
)
def test_lines_that_do_what_was_never_run_are_a_problem(project, before, after, missing):
    path = project.repros / "amp/one.py"
    path.write_text(path.read_text().replace(before, after, 1))
    reasons = [line.split(": ", 1)[1] for line in project.lint()]
    assert reasons == [f"wrong: {what} is not in the code that is run" for what in missing]


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        ('wrong = "pass"\n', "wrong: it does nothing"),
        (
            'wrong = "control(device)"\n# right = "control(device)"\n# choice = "Take either"\n',
            "right: the same as wrong",
        ),
    ],
)
def test_lines_that_show_nothing_are_a_problem(project, header, problem):
    path = project.repros / "amp/one.py"
    lines = path.read_text().splitlines(True)
    at = next(at for at, line in enumerate(lines) if line.startswith("# wrong"))
    path.write_text("".join([*lines[:at], f"# {header}", *lines[at + 1 :]]))
    assert problem in [line.split(": ", 1)[1] for line in project.lint()]


def test_lines_that_are_no_python_are_a_problem(project):
    path = project.repros / "amp/one.py"
    path.write_text(path.read_text().replace("reproduce(device)", "x = (", 1))
    (problem,) = project.lint()
    assert problem == f"{path}:11: wrong: not Python: '(' was never closed on line 1"


def test_a_number_in_the_docstring_that_the_header_does_not_link_to_is_a_problem(project):
    path = project.repros / "amp/one.py"
    path.write_text(path.read_text().replace("Planted.", "See pytorch#7, project#1, pytorch#12."))
    (problem,) = project.lint()
    assert problem == f"{path}:1: pytorch#12 is not among reports, documents, fixed_by"


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        (
            '# fixed_by = "pytorch#7"\n',
            "",
            "13: affected: ends with '<2.10'; `fixed_by` must name the change",
        ),
        ('cpu = "<2.10"', 'cpu = ">=2.9"', "15: fixed_by: torch 2.10 is still affected"),
        ('cpu = "<2.10"', 'cpu = "never"', "15: fixed_by: torch 2.10 is still affected"),
    ],
)
def test_what_ended_is_fixed_by_a_change_and_what_did_not_is_not(project, before, after, problem):
    path = project.repros / "amp/one.py"
    path.write_text(path.read_text().replace(before, after))
    reported = [line for line in project.lint() if "to fix, run" not in line]
    assert reported == [f"{path}:{problem}"]


def test_a_header_that_differs_is_a_problem_with_the_command_that_fixes_it(project):
    path = project.repros / "amp/one.py"
    path.write_text(path.read_text().replace('"<2.10"', '"never"'))
    *_, problem = project.lint()
    assert re.search(
        r"one.py:13: affected: cpu: 'never' but measured torch 2.9 reproduced; ", problem
    )
    assert problem.endswith("to fix, run: torch-repros headers --write (writes '<2.10')")


def test_a_record_that_is_inconclusive_is_a_problem(project):
    store.save(
        record("2.8.1", {"amp/one": measurement("flaky", hash=project.hash)}),
        project.folders["records"],
    )
    (problem,) = project.lint()
    assert problem.endswith("torch 2.8: flaky; investigate: this record is inconclusive")


def test_stale_orphaned_and_unreadable_measurements_are_problems_at_their_line(project):
    records = project.folders["records"]
    store.save(record("2.8.1", {"amp/one": measurement(hash="1" * 16)}), records)
    store.save(record("2.7.1", {"amp/gone": measurement()}), records)
    (records / "cpu_x.json").write_text('{"device": "cpu"')
    problems = sorted(project.lint(), key=lambda line: (": stale:" in line, "amp/gone" in line))
    unreadable, orphan, stale = problems
    assert "cpu_x.json:1: not JSON" in unreadable
    assert "amp/gone: no such reproducer; delete this measurement or bring the file back" in orphan
    assert re.search(
        r"amp/one: stale: its code has changed since 2026-01-01; measure it again: ", stale
    )
    assert stale.endswith("torch-repros record 2.8 --device cpu --only amp/one")
    for problem, id in ((orphan, "amp/gone"), (stale, "amp/one")):
        file, line = problem.split(":")[:2]
        assert f'"{id}"' in Path(file).read_text().splitlines()[int(line) - 1]


def test_bad_releases_and_bad_headers_are_both_reported(project, tmp_path):
    plant(project.repros, "amp/two", RETURNS.format(1), kind='"slient"')
    releases = tmp_path / "torches.toml"
    releases.write_text("")
    first, second = checks.lint(project.repros, project.folders["records"], releases=releases)
    assert "no [[torch]] entry" in first
    assert "two.py:7: kind: 'slient'" in second


def test_a_public_name_that_was_dropped_and_one_that_is_not_listed_are_problems(project):
    fix = project.folders["fixes"] / "amp.py"
    fix.write_text('__all__ = ["fix", "new"]\n')
    project.names.write_text("amp.fix\namp.old\n")
    lost, new = project.lint()
    assert lost.endswith(
        "fixes.txt:2: amp.old is no longer public; "
        "keep it as an alias for one minor version, then delete this line"
    )
    assert new == f"{fix}:1: amp.new is not in fixes.txt; add it"


def test_lint_counts_its_problems_and_fails(project):
    result = call("--repros", project.repros, "lint", "--records", project.folders["records"])
    assert result.exit_code == 1
    assert re.search(r"^\d+ problems$", result.output, re.M)


def test_only_files_that_changed_are_checked_again(project, tmp_path, monkeypatch):
    cache, checked = tmp_path / "cache" / "in_order.txt", []
    in_file = checks._in_file

    def record_and_check(reproducer):
        checked.append(reproducer.id)
        return in_file(reproducer)

    monkeypatch.setattr(checks, "_in_file", record_and_check)

    def lint():
        checked.clear()
        problems = checks._files(catalog.load(project.repros), cache)
        return list(checked), problems

    assert lint() == (["amp/one"], [])
    assert lint() == ([], [])
    path = project.repros / "amp/one.py"
    in_order = path.read_text()
    path.write_text(in_order.replace('if __name__ == "__main__":', "if True:"))
    for _ in range(2):  # a file with a problem is checked each time
        again, (problem,) = lint()
        assert again == ["amp/one"]
        assert "the end of the file" in problem
    path.write_text(in_order)
    assert lint() == (["amp/one"], [])
    assert lint() == ([], [])
    package = tmp_path / "package"
    package.mkdir()
    monkeypatch.setattr(checks.catalog, "PACKAGE", package)
    assert lint() == (["amp/one"], [])
    (package / "rule.py").write_text("# a program\n")
    assert lint() == (["amp/one"], [])
    (package / "rule.py").rename(package / "renamed.py")
    assert lint() == (["amp/one"], [])
    assert lint() == ([], [])
    monkeypatch.setattr(checks.sys, "version", "a Python with another syntax")
    assert lint() == (["amp/one"], [])


def test_a_cache_that_cannot_be_used_changes_nothing(project, tmp_path):
    for cache in (project.repros, project.ids / "below a file"):  # cannot be read, nor written
        assert checks._files(catalog.load(project.repros), cache) == []
    cache.parent.write_bytes(b"\xff")
    assert checks._files(catalog.load(project.repros), cache.parent) == []
