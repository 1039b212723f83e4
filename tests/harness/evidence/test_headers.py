"""Tests the comparison of headers with records: differences in both directions, and their fix."""

import doctest
import errno
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from matrix import catalog
from matrix.evidence import headers, records, store
from matrix.evidence.states import States
from tests.harness.helpers import call
from tests.harness.recorded import measurement, record

MINORS = ["1.13", "2.0", "2.1", "2.2", "2.9", "2.10", "2.11"]


@given(st.lists(st.sampled_from(["reproduced", "absent"]), min_size=1, max_size=7))
def test_a_specifier_is_true_of_exactly_what_reproduces(verdicts):
    known = dict(zip(MINORS, verdicts))
    found = headers.specifier(known)
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
        ("RRRRRAA", ">=1.10", ">=1.10,<2.10"),
        ("RRRRRAA", "<2.11,>= 1.10", ">=1.10,<2.10"),
        ("RRRRRAA", ">=1.13", "<2.10"),
        ("RRRRRAA", ">=2.0", "<2.10"),
        ("RRRRRRR", ">=2.3", ">=1.13"),
        ("ARRRRRR", ">=1.10", ">=2.0"),
    ],
)
def test_the_shortest_specifier_is_written(verdicts, stated, specifier):
    known = {
        minor: {"R": "reproduced", "A": "absent"}[letter] for minor, letter in zip(MINORS, verdicts)
    }
    assert headers.specifier(known, stated) == specifier


def test_the_examples_of_the_docstring_are_right():
    assert doctest.testmod(headers) == (0, 3)


def differences(project):
    root, folder = project
    return headers.differences(catalog.load(root), States(records.load(folder)))


def write(project):
    root, folder = project
    return call("--repros", root, "headers", "--write", "--records", folder)


def test_headers_that_agree_are_left_alone(project):
    root, _ = project
    before = (root / "amp/one.py").read_text()
    assert write(project).exit_code == 0
    assert (root / "amp/one.py").read_text() == before


@pytest.mark.parametrize("wrong", ["never", ">=1.13", "<2.9", ">=2.0", "<2.11"])
def test_a_wrong_header_fails_in_both_directions_and_is_rewritten(project, wrong):
    root, folder = project
    path = root / "amp/one.py"
    good = path.read_text()
    path.write_text(good.replace('"<2.10"', f'"{wrong}"'))
    dry = call("--repros", root, "headers", "--records", folder)
    assert dry.exit_code == 1
    assert '+# affected = { cpu = "<2.10", cuda = ">=2.0" }' in dry.output
    assert path.read_text() != good
    assert write(project).exit_code == 0
    assert path.read_text() == good


@pytest.mark.parametrize(
    "line",
    [
        '# affected = { cpu="never", cuda = ">=2.0" }',
        "# affected = { cpu = 'never', cuda = \">=2.0\" }",
        '# affected = {"cpu" = "never","cuda" = ">=2.0"}',
        '# affected = { cuda = ">=2.0", cpu = "never" } # where cpu = "never" was seen',
        '# affected  =  { cuda = ">=2.0", cpu = "never" }  # { cpu = "x" }',
    ],
)
def test_the_value_alone_is_rewritten(line):
    found = headers.rewrite(f"# a\n{line}\n# b\n", "cpu", "<2.10")
    assert found == f"# a\n{line.replace('never', '<2.10', 1)}\n# b\n"


@pytest.mark.parametrize(
    "source",
    [
        "# affected = {\n#   cpu = 'never',\n# }\n",
        "# [tool.repro.affected]\n# cpu = 'never'\n",
        "# affected = { mps = 'never' }  # cpu = 'never'\n",
        "# affected = { mps = 'cpu = \"x\"' }\n",
    ],
)
def test_a_header_of_another_form_is_refused(source):
    with pytest.raises(ValueError, match="expected affected|cannot put"):
        headers.rewrite(source, "cpu", "<2.10")


def test_rewriting_keeps_line_ends_and_mode(project):
    root, _ = project
    path = root / "amp/one.py"
    good = path.read_bytes().replace(b"\n", b"\r\n")
    path.write_bytes(good.replace(b'"<2.10"', b'"never"'))
    path.chmod(0o755)
    assert write(project).exit_code == 0
    assert path.read_bytes() == good
    assert path.stat().st_mode & 0o777 == 0o755


def test_a_full_disk_leaves_the_header_as_it_was(project, monkeypatch):
    root, _ = project
    path = root / "amp/one.py"
    path.write_text(path.read_text().replace('"<2.10"', '"never"'))
    before = path.read_bytes()

    def full(self, *arguments, **options):
        self.write_bytes(b"#")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    result = write(project)
    assert result.exit_code == 1
    assert f"{path}: not written: No space left on device" in result.output
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == ["one.py"]


def test_two_devices_of_one_header_are_rewritten_together(project):
    root, folder = project
    path = root / "amp/one.py"
    good = path.read_text()
    hash = catalog.load(root)[0].hash
    store.save(record("2.0.1+cu117", {"amp/one": measurement(hash=hash)}, "cuda"), folder)
    store.save(
        record("1.13.1+cu117", {"amp/one": measurement("absent", hash=hash)}, "cuda"), folder
    )
    path.write_text(good.replace('"<2.10"', '"never"').replace('">=2.0"', '"never"'))
    assert write(project).exit_code == 0
    assert path.read_text() == good


@pytest.mark.parametrize(
    ("minor", "verdict", "specifier"),
    [("2.9", "absent", "<2.9"), ("2.11", "reproduced", "!=2.10.*")],
)
def test_a_record_that_changes_fails_in_both_directions(project, change, minor, verdict, specifier):
    change(minor, verdict=verdict)
    (difference,) = differences(project)
    assert difference.why == f"'<2.10' but measured torch {minor} {verdict}"
    assert specifier in difference.measured
    assert write(project).exit_code == 0
    assert differences(project) == []


@pytest.mark.parametrize("verdict", ["broken", "flaky"])
def test_what_no_header_can_state_fails_and_nothing_is_rewritten(project, change, verdict):
    root, _ = project
    change("2.2", verdict=verdict)
    before = (root / "amp/one.py").read_text()
    result = write(project)
    assert result.exit_code == 1
    assert f"torch 2.2: {verdict}" in result.output
    assert "a header cannot express this" in result.output
    assert (root / "amp/one.py").read_text() == before


def test_stale_and_unavailable_records_state_nothing(project, change):
    change("2.2", verdict="absent", hash="1" * 16)
    change("2.1", verdict="unavailable")
    assert differences(project) == []
