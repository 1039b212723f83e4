import re

import pytest
from helpers import call, plant
from recorded import measurement, record, source

from matrix import catalog, torches
from matrix.evidence import grid, records
from matrix.evidence.states import States

MINORS = ["1.13", "2.0", "2.1", "2.2", "2.9", "2.10", "2.11", "2.12"]
RELEASES = [torches.Torch(f"{minor}.1", ">=3.8") for minor in MINORS]


def facts(project):
    root, folder = project
    found = records.load(folder)
    return catalog.load(root), RELEASES, found, States(found)


def row(page, name):
    (line,) = [line for line in page.splitlines() if line.startswith(f"| [{name}]")]
    return [part.strip() for part in line.strip("|").split("|")]


def test_the_grid_tells_its_states_apart(project, change):
    root, folder = project
    plant(root, "amp/two", "def reproduce(device):\n    return 1\n", stand_in='{ cpu = "x" }')
    change("1.13", hash="1" * 16)
    change("2.0", verdict="broken")
    change("2.1", verdict="flaky")
    change("2.2", verdict="unavailable")
    hash = catalog.load(root)[0].hash
    record("2.9.9", {"amp/one": measurement("absent", hash=hash)}).save(folder)
    page = grid.markdown(*facts(project))
    signs = ["s", "**B**", "**F**", "x", "**M**", "·", "·", "?"]
    assert row(page, "one") == ["[one](../repros/amp/one.py)", "cpu", *signs, "`<2.10`"]
    assert row(page, "two")[1:3] == ["cpu\\*", "?"]
    (cuda,) = [line for line in page.splitlines() if line.startswith("|  | cuda |")]
    assert cuda.count("?") == 8


def test_every_machine_that_measured_a_record_is_in_the_list(project):
    root, folder = project
    (path,) = folder.glob("*2.9.1*")
    page = grid.markdown(*facts(project))
    line = f"| [cpu, torch 2.9.1+cu121](../matrix/records/{path.name}) | x86_64 | Linux | 3.11.7 | self | 2026-01-01 |"
    assert line in page


def test_a_machine_is_listed_with_its_newest_measurement_and_as_paravirtual(root):
    hardware = source(hardware={"name": "Apple M1", "paravirtual": True})
    held = {
        id: measurement(source=hardware, date=date)
        for id, date in (("amp/one", "2026-01-02"), ("amp/two", "2026-01-01"))
    }
    plant(root, "amp/one", "def reproduce(device):\n    return 1\n")
    found = [record(measurements=held)]
    page = grid.markdown(catalog.load(root), RELEASES, found, States(found))
    assert "| Apple M1 (paravirtual) | Linux | 3.11.7 | self | 2026-01-02 |" in page


def test_a_retired_reproducer_is_not_in_the_grid(root, tmp_path):
    (tmp_path / "README.md").write_text(f"{grid.START}\n{grid.END}\n")
    for name, header in (("one", {}), ("two", {"retired": '"x"'})):
        plant(root, f"amp/{name}", "def reproduce(device):\n    return 1\n", **header)
    page, readme = grid.outputs(tmp_path, catalog.load(root), []).values()
    assert "repros/amp/one.py" in page
    assert "repros/amp/two.py" not in page
    assert "\n1 reproducers, torch" in readme


def test_the_check_writes_nothing_and_fails_until_the_files_are_written(tmp_path, monkeypatch):
    readme = tmp_path / "README.md"
    readme.write_text(f"{grid.START}\nold\n{grid.END}\n")
    (tmp_path / "docs").mkdir()
    monkeypatch.setattr(catalog, "ROOT", tmp_path)
    result = call("grid", "--check")
    assert result.exit_code == 1
    assert f"{readme}: out of date; run: torch-repros grid" in result.output
    assert (readme.read_text().count("old"), list((tmp_path / "docs").iterdir())) == (1, [])
    assert call("grid").exit_code == 0
    assert call("grid", "--check").exit_code == 0


def test_the_summary_counts_cells_and_dates_the_oldest(project, change):
    change("2.0", verdict="broken")
    change("2.2", verdict="unavailable", date="2026-01-03")
    summary = grid.summary(*facts(project))
    assert (
        "1 reproducers, torch 1.13 to 2.12. 6 cells\nwere run and 5 gave a clear verdict" in summary
    )
    assert "headers that differ from what was measured: 1." in summary
    assert "Oldest measurement: 2026-01-01; newest: 2026-01-03." in summary
    assert re.search(r"\| cpu \| 3 \| 2 \| 1 \| 1 \| 1 \|", summary), summary


def test_nothing_measured_is_no_rate(root, tmp_path):
    plant(root, "amp/one", "def reproduce(device):\n    return 1\n")
    assert "Nothing has been measured yet." in grid.summary(
        catalog.load(root), RELEASES, [], States([])
    )


def test_the_block_is_put_between_its_markers_and_nowhere_else():
    text = f"# title\n\n{grid.START}\nold\n{grid.END}\n\nrest\n"
    assert grid.insert(text, "new\n") == f"# title\n\n{grid.START}\nnew\n{grid.END}\n\nrest\n"
    assert grid.insert(grid.insert(text, "new\n"), "new\n") == grid.insert(text, "new\n")


@pytest.mark.parametrize(
    "text",
    [
        "",
        grid.START,
        f"{grid.END} {grid.START}",
        f"{grid.START}\n{grid.END}{grid.START}",
        f"{grid.START}\n{grid.END}{grid.END}",
    ],
)
def test_a_readme_without_its_markers_is_refused(text):
    with pytest.raises(ValueError, match="expected"):
        grid.insert(text, "new\n")


def test_the_grid_is_about_the_projects_own_reproducers(project):
    result = call("--repros", project[0], "grid", "--check")
    assert result.exit_code == 2
    assert "cannot be used with --repros" in result.output
