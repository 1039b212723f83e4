"""Headers against records: both directions, and what mends them; lint and the grid, which read the same records."""

import doctest
import re
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from planted import plant
from test_records import cell, entry

from matrix import catalog, cli, expect, grid, lint, records, torches

MINORS = ["1.13", "2.0", "2.1", "2.2", "2.9", "2.10", "2.11"]
CODE = "def reproduce(device):\n    return 'boom'\n"


def call(*arguments):
    return CliRunner().invoke(cli.main, [str(argument) for argument in arguments])


@given(st.lists(st.sampled_from(["reproduced", "absent"]), min_size=1, max_size=7))
def test_a_specifier_is_true_of_exactly_what_reproduces(verdicts):
    known = dict(zip(MINORS, verdicts))
    found = expect.specifier(known)
    affected = {minor for minor, verdict in known.items() if verdict == "reproduced"}
    if found == "never":
        assert not affected
    else:
        assert {minor for minor in known if SpecifierSet(found).contains(f"{minor}.1")} == affected


@pytest.mark.parametrize(
    ("verdicts", "stated", "specifier"),
    [
        ("RRRRRRR", "", ">=1.13"),
        ("RRRRRRR", ">=1.0", ">=1.0"),
        ("RRRRRAA", "", "<2.10"),
        ("AARRRRR", "", ">=2.1"),
        ("ARRAAAA", "", ">=2.0,<2.2"),
        ("ARARAAA", "", ">=2.0,!=2.1.*,<2.9"),
        ("AAAAAAA", ">=2", "never"),
    ],
)
def test_the_shortest_specifier_is_written(verdicts, stated, specifier):
    known = {minor: {"R": "reproduced", "A": "absent"}[letter] for minor, letter in zip(MINORS, verdicts)}
    assert expect.specifier(known, stated) == specifier


def test_docstrings_show_what_happens():
    assert doctest.testmod(expect) == (0, 3)


@pytest.fixture
def project(root, tmp_path):
    """A reproducer that is fixed in 2.10, with records that say so."""
    plant(root, "amp/one", CODE, affected='{ cpu = "<2.10", cuda = ">=2.0" }')
    folder = tmp_path / "records"
    (one,) = catalog.load(root)
    for minor in MINORS:
        verdict = "reproduced" if minor in MINORS[:5] else "absent"
        cell(f"{minor}.1+cu121", entries={"amp/one": entry(verdict, hash=one.hash)}).save(folder)
    return root, folder


def change(folder, minor, **changed):
    (one,) = [one for one in records.load(folder) if one.minor == minor]
    for found in one.entries.values():
        vars(found).update(changed)
    one.save(folder)


def test_headers_that_agree_are_left_alone(project):
    root, folder = project
    before = (root / "amp/one.py").read_text()
    assert call("--repros", root, "expect", "--from-records", "--records", folder).exit_code == 0
    assert (root / "amp/one.py").read_text() == before


@pytest.mark.parametrize("wrong", ["never", ">=1.13", "<2.9", ">=2.0", "<2.11"])
def test_a_wrong_header_is_red_in_both_directions_and_mended(project, wrong):
    root, folder = project
    path = root / "amp/one.py"
    good = path.read_text()
    path.write_text(good.replace('"<2.10"', f'"{wrong}"'))
    dry = call("--repros", root, "expect", "--records", folder)
    assert dry.exit_code == 1
    assert '+# affected = { cpu = "<2.10", cuda = ">=2.0" }' in dry.output
    assert path.read_text() != good
    found = lint.lint(root, folder, *nowhere(root))
    assert any(
        re.search(r"one.py:11: affected: cpu: .*mend it with: python -m matrix expect --from-records \(writes '<2.10'\)", line)
        for line in found
    )
    assert call("--repros", root, "expect", "--from-records", "--records", folder).exit_code == 0
    assert path.read_text() == good
    assert lint.lint(root, folder, *nowhere(root)) == []


def nowhere(root):
    """ids, fixes and tests that are in order, so that only the findings about records remain."""
    ids = root.parent / "ids.txt"
    ids.write_text("".join(f"{one.id}\n" for one in catalog.load(root)))
    tests = root.parent / "tests"
    tests.mkdir(exist_ok=True)
    (tests / "test_amp.py").touch()
    return ids, root.parent, tests


@pytest.mark.parametrize(("minor", "verdict", "specifier"), [("2.9", "absent", "<2.9"), ("2.11", "reproduced", "!=2.10.*")])
def test_a_record_that_changes_is_red_in_both_directions_and_mended(project, minor, verdict, specifier):
    root, folder = project
    change(folder, minor, verdict=verdict)
    (difference,) = expect.differences(catalog.load(root), records.load(folder))
    assert difference.why == f"'<2.10' but measured torch {minor} {verdict}"
    assert specifier in difference.measured
    assert call("--repros", root, "expect", "--from-records", "--records", folder).exit_code == 0
    assert expect.differences(catalog.load(root), records.load(folder)) == []


@pytest.mark.parametrize("verdict", ["broken", "flaky"])
def test_what_no_header_can_state_is_red_and_nothing_is_rewritten(project, verdict):
    root, folder = project
    change(folder, "2.2", verdict=verdict)
    before = (root / "amp/one.py").read_text()
    result = call("--repros", root, "expect", "--from-records", "--records", folder)
    assert result.exit_code == 1
    assert f"torch 2.2: {verdict}: no header can state that" in result.output
    assert (root / "amp/one.py").read_text() == before


def test_stale_and_unavailable_records_state_nothing(project):
    root, folder = project
    change(folder, "2.2", verdict="absent", hash="old")
    change(folder, "2.1", verdict="unavailable")
    assert expect.differences(catalog.load(root), records.load(folder)) == []


def test_lint_names_stale_orphaned_and_unreadable_records_with_file_and_line(project):
    root, folder = project
    change(folder, "2.2", hash="old")
    cell("2.12.1", entries={"amp/gone": entry()}).save(folder)
    found = lint.lint(root, folder, *nowhere(root))
    assert len(found) == 2
    assert re.search(r"torch-2.2.1\+cu121.json:\d+: amp/one: stale: .*record --torch 2.2 --device cpu --only amp/one", found[0])
    assert re.search(r"torch-2.12.1.json:\d+: amp/gone: no such reproducer", found[1])
    file, line = found[1].split(":")[:2]
    assert '"amp/gone"' in Path(file).read_text().splitlines()[int(line) - 1]
    (folder / "cpu_x.json").write_text('{"device": "cpu"')
    assert "cpu_x.json:1: not JSON" in lint.lint(root, folder, *nowhere(root))[0]


def test_lint_holds_ids_for_ever_and_looks_for_fixes_and_tests(project):
    root, folder = project
    ids, fixes, tests = nowhere(root)
    ids.write_text("amp/renamed\n")
    (tests / "test_amp.py").unlink()
    plant(root, "amp/one", CODE, affected='{ cpu = "<2.10", cuda = ">=2.0" }', fix='"amp.cure"')
    (fixes / "amp.py").write_text('__all__ = ["other"]\n')
    found = lint.lint(root, folder, ids, fixes, tests)
    assert [line.split(": ", 1)[1] for line in found] == [
        "amp/renamed has no file any more; a retired reproducer keeps its file",
        "amp/one is not in ids.txt; add it there, for ever",
        "fix: amp.py has no 'cure' in its __all__",
        "missing: the family 'amp' has no tests",
    ]
    assert found[2].split(":")[1] == "10"


def test_lint_reports_a_bad_axis_and_bad_headers(project, tmp_path):
    root, folder = project
    plant(root, "amp/two", CODE, kind='"slient"')
    axis = tmp_path / "torches.toml"
    axis.write_text("")
    found = lint.lint(root, folder, axis=axis)
    assert "no [[torch]] entry" in found[0]
    assert "two.py:7: kind: 'slient'" in found[1]


def test_the_project_itself_has_no_findings():
    assert lint.lint() == []


AXIS = [torches.Torch(f"{minor}.1", ">=3.8") for minor in [*MINORS, "2.12"]]


def row(page, name):
    (line,) = [line for line in page.splitlines() if line.startswith(f"| [{name}]")]
    return [part.strip() for part in line.strip("|").split("|")]


def test_the_grid_tells_its_states_apart(project):
    root, folder = project
    plant(root, "amp/two", CODE, affected='{ cpu = ">=1.13" }', stand_in='{ cpu = "x" }')
    change(folder, "1.13", hash="old")
    change(folder, "2.0", verdict="broken")
    change(folder, "2.1", verdict="flaky")
    change(folder, "2.2", verdict="unavailable")
    cell("2.9.9", entries={"amp/one": entry("absent", hash=catalog.load(root)[0].hash)}).save(folder)
    page = grid.page(catalog.load(root), AXIS, records.load(folder))
    assert row(page, "one") == ["[one](../repros/amp/one.py)", "cpu", "s", "**B**", "**F**", "x", "**M**", "·", "·", "?", "`<2.10`"]
    assert row(page, "two")[1:3] == ["cpu\\*", "?"]
    (cuda,) = [line for line in page.splitlines() if line.startswith("|  | cuda |")]
    assert cuda.count("?") == 8
    assert all(f"{sign} {name}" in page or name == "not applicable" for name, sign in grid.SIGNS.items())


def test_the_summary_counts_cells_and_dates_the_oldest(project):
    root, folder = project
    change(folder, "2.0", verdict="broken")
    change(folder, "2.2", verdict="unavailable", date="2025-05-05")
    summary = grid.summary(catalog.load(root), AXIS, records.load(folder))
    assert "1 reproducers, torch 1.13 to 2.12. Of 6 cells that were run, 5 gave a clear\nverdict (83.3 %), and 1 headers differ" in summary
    assert "Oldest measurement: 2025-05-05; newest: 2026-01-01." in summary
    assert re.search(r"\| cpu \| 3 \| 2 \| 1 \| 1 \| 1 \|", summary), summary


def test_nothing_measured_is_no_rate(root):
    plant(root, "amp/one", CODE)
    assert "(nothing measured yet)" in grid.summary(catalog.load(root), AXIS, [])


def test_the_block_is_put_between_its_markers_and_nowhere_else():
    text = f"# title\n\n{grid.START}\nold\n{grid.END}\n\nrest\n"
    assert grid.insert(text, "new\n") == f"# title\n\n{grid.START}\nnew\n{grid.END}\n\nrest\n"
    assert grid.insert(grid.insert(text, "new\n"), "new\n") == grid.insert(text, "new\n")
    for bad in ("", grid.START, f"{grid.END} {grid.START}", text + grid.START):
        with pytest.raises(ValueError, match="expected"):
            grid.insert(bad, "new\n")


def test_the_projects_own_grid_is_what_the_records_say():
    result = call("grid", "--check")
    assert result.exit_code == 0, result.output


def test_dates_of_records_are_iso(project):
    for one in records.load():
        for found in one.entries.values():
            assert date.fromisoformat(found.date)
