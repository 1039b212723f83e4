"""A hostile afternoon on vendored copies: nothing is ever lost."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from planted import processor_seconds

from matrix import catalog, cli

pytest.importorskip("merge3", reason="`pip install -e .` brings it; a machine with torch and pytest alone does without vendoring")
from matrix import vendor

FAMILIES = vendor.families()


def call(*arguments):
    return CliRunner().invoke(cli.main, [str(argument) for argument in arguments])


def contents(folder):
    """Every file but the lock, with its bytes."""
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != "lock"}


@pytest.fixture
def upstream(tmp_path, monkeypatch):
    """An upstream of our own: upstream("amp", text) publishes."""
    folder = tmp_path / "upstream/reference_fixes"
    folder.mkdir(parents=True)
    monkeypatch.setattr(vendor, "ROOT", tmp_path / "upstream")

    def publish(family, text):
        (folder / f"{family}.py").write_text(text)

    publish("amp", "one\ntwo\nthree\nfour\nfive\n")
    publish("loss", "a\nb\nc\n")
    return publish


@pytest.fixture
def folder(tmp_path, upstream):
    """Copies of both families."""
    target = tmp_path / "acme/_vendor"
    vendor.vendor(["amp", "loss"], target)
    return target


def edit(path, old, new):
    text = path.read_bytes().decode()
    assert old in text
    path.write_bytes(text.replace(old, new).encode())


def states(folder):
    return {copy.path.name: copy.state for copy in vendor.copies(folder)}


def test_a_copy_is_a_short_header_and_the_file():
    from matrix import __version__

    text = vendor.upstream("reference_fixes/amp.py")
    head = vendor.header("reference_fixes/amp.py", text).splitlines()
    assert head[0] == f"# Vendored from torch-repros {__version__}: reference_fixes/amp.py"
    assert "SPDX-License-Identifier: BSD-3-Clause" in head[1]
    assert head[2].endswith(vendor.digest(text))
    assert text == (catalog.ROOT / "reference_fixes/amp.py").read_text()


@pytest.mark.parametrize("family", FAMILIES)
def test_the_projects_own_fixes_can_be_vendored(tmp_path, family):
    assert call("vendor", family, "--into", tmp_path / "v").exit_code == 0
    done = call("vendored", tmp_path / "v")
    assert (done.exit_code, "unchanged" in done.output) == (0, True)
    assert (tmp_path / f"v/{family}.py").read_text().endswith((catalog.ROOT / f"reference_fixes/{family}.py").read_text())


@pytest.mark.parametrize(
    ("mine", "theirs", "state", "status"),
    [(0, 0, "unchanged", 0), (1, 0, "you edited", 4), (0, 1, "upstream moved on", 8), (1, 1, "both", 12)],
)
def test_four_states_are_told_apart_with_an_exit_status_each(folder, upstream, mine, theirs, state, status):
    if mine:
        edit(folder / "amp.py", "two", "two, edited")
    if theirs:
        upstream("amp", "one\ntwo\nthree\nfour\nfive, moved\n")
    done = call("vendored", folder)
    assert done.exit_code == status
    assert states(folder) == {"amp.py": state, "loss.py": "unchanged"}
    assert f"amp.py: {state} (from torch-repros " in done.output


def test_the_diff_shows_your_edits_and_upstreams_apart(folder, upstream):
    edit(folder / "amp.py", "two", "two, edited")
    upstream("amp", "one\ntwo\nthree\nfour\nfive, moved\n")
    output = call("vendored", folder, "--diff").output
    yours, theirs = output.split("--- upstream's")
    assert "+two, edited" in yours
    assert "moved" not in yours
    assert "+five, moved" in theirs
    assert "edited" not in theirs.split("loss.py")[0]


def test_vendoring_again_brings_an_unedited_copy_up_to_date(folder, upstream):
    upstream("amp", "new\n")
    vendor.vendor(["amp"], folder)
    assert states(folder) == {"amp.py": "unchanged", "loss.py": "unchanged"}
    assert (folder / "amp.py").read_text().endswith("\nnew\n")


def test_an_edited_file_is_never_overwritten_and_nothing_else_is_written_either(folder, upstream):
    edit(folder / "loss.py", "\nb\n", "\nb, edited\n")
    upstream("amp", "new\n")
    before = contents(folder)
    done = call("vendor", "amp", "loss", "--into", folder)
    assert done.exit_code == 1
    assert "loss.py: you edited it; `torch-repros vendored --update` merges" in done.output
    assert contents(folder) == before


@pytest.mark.parametrize("text", ["", "print('mine')\n", "# Vendored from torch-repros 0.1.0: reference_fixes/amp.py\n"])
def test_a_file_that_is_not_a_copy_is_never_overwritten(tmp_path, upstream, text):
    target = tmp_path / "v"
    target.mkdir()
    (target / "amp.py").write_text(text)
    done = call("vendor", "loss", "amp", "--into", target)
    assert done.exit_code == 1
    assert "amp.py: not a copy of ours" in done.output
    assert (target / "amp.py").read_text() == text
    assert not (target / "loss.py").exists()


def test_a_deleted_header_is_noticed(folder):
    (folder / "amp.py").write_text("".join((folder / "amp.py").read_text().splitlines(True)[3:]))
    done = call("vendored", folder)
    assert done.exit_code == 1
    assert "amp.py: has no header of torch-repros (any more)" in done.output


def test_windows_line_ends_are_no_edit_and_are_kept_by_an_update(folder, upstream):
    path = folder / "amp.py"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert states(folder)["amp.py"] == "unchanged"
    edit(path, "two", "two, edited")
    upstream("amp", "one\ntwo\nthree\nfour\nfive, moved\n")
    assert call("vendored", folder, "--update").exit_code == 0
    raw = path.read_bytes()
    assert raw.count(b"\n") == raw.count(b"\r\n") > 5
    assert b"two, edited\r\nthree\r\nfour\r\nfive, moved\r\n" in raw
    assert states(folder)["amp.py"] == "you edited"


def test_an_update_merges_both_sides_and_keeps_the_text_from_before(folder, upstream):
    edit(folder / "amp.py", "two", "two, edited")
    upstream("amp", "zero\none\ntwo\nthree\nfour\nfive\n")
    before = (folder / "amp.py").read_bytes()
    done = call("vendored", folder, "--update")
    assert done.exit_code == 0, done.output
    assert (folder / "amp.py").read_text().endswith("zero\none\ntwo, edited\nthree\nfour\nfive\n")
    assert (folder / vendor.KEPT / "amp.py.before").read_bytes() == before
    assert states(folder) == {"amp.py": "you edited", "loss.py": "unchanged"}
    assert "nothing to merge" in call("vendored", folder, "--update").output


def test_conflicts_are_marked_as_git_marks_them_and_reported(folder, upstream):
    edit(folder / "amp.py", "two", "mine")
    upstream("amp", "one\ntheirs\nthree\nfour\nfive\n")
    done = call("vendored", folder, "--update")
    assert done.exit_code == 1
    assert "amp.py: merged, 1 conflicts to resolve by hand" in done.output
    text = (folder / "amp.py").read_text()
    assert "one\n<<<<<<< yours\nmine\n=======\ntheirs\n>>>>>>> torch-repros " in text


@given(st.integers(5, 30), st.sets(st.integers(0, 29)), st.sets(st.integers(0, 29)))
def test_edits_that_do_not_touch_are_both_in_the_merge(tmp_path_factory, count, mine, theirs):
    base = [f"line {number}\n" for number in range(count)]
    mine = {number for number in mine if number < count}
    theirs = {number for number in theirs if number < count and not {number - 1, number, number + 1} & mine}
    changed = [[f"{who} {line}" if n in numbers else line for n, line in enumerate(base)] for who, numbers in (("m", mine), ("t", theirs))]
    both = [m if n in mine else t for n, (m, t) in enumerate(zip(*changed))]
    with pytest.MonkeyPatch.context() as patch:
        root = tmp_path_factory.mktemp("merge")
        patch.setattr(vendor, "ROOT", root)
        (root / "reference_fixes").mkdir()
        origin = root / "reference_fixes/amp.py"
        origin.write_text("".join(base))
        (copy,) = vendor.vendor(["amp"], root / "v")
        copy.write_text("".join(copy.read_text().splitlines(True)[:3] + changed[0]))
        origin.write_text("".join(changed[1]))
        vendor.update(root / "v")
        assert copy.read_text().splitlines(True)[3:] == both


def test_a_version_that_no_longer_exists_is_merged_from_the_text_kept_beside_the_copy(folder, upstream):
    edit(folder / "amp.py", "two", "two, edited")
    edit(folder / "amp.py", "torch-repros " + vendor.__version__, "torch-repros 0.0.1")
    for generation in ("x\n", "y\n", "one\ntwo\nthree\nfour\nfive\nsix\n"):
        upstream("amp", generation)
    assert call("vendored", folder, "--update").exit_code == 0
    assert (folder / "amp.py").read_text().endswith("one\ntwo, edited\nthree\nfour\nfive\nsix\n")


def test_where_that_text_was_deleted_it_says_so_and_changes_nothing(folder, upstream):
    edit(folder / "amp.py", "two", "two, edited")
    upstream("amp", "x\n")
    for kept in (folder / vendor.KEPT).glob("*.py"):
        kept.unlink()
    before = contents(folder)
    done = call("vendored", folder, "--update")
    assert done.exit_code == 1
    assert "compare by hand" in done.output
    assert contents(folder) == before


def test_a_fix_that_upstream_dropped_is_said_to_be_gone(folder):
    (vendor.ROOT / "reference_fixes/amp.py").unlink()
    done = call("vendored", folder)
    assert done.exit_code == 8
    assert "amp.py: gone upstream" in done.output


@pytest.mark.parametrize("name", ["amp.py", vendor.KEPT])
def test_a_link_out_of_the_folder_is_not_followed(tmp_path, upstream, name):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious.py").write_text(vendor.header("reference_fixes/amp.py", "") if name == "amp.py" else "")
    target = tmp_path / "v"
    target.mkdir()
    (target / name).symlink_to(outside / "precious.py" if name == "amp.py" else outside)
    before = contents(outside)
    done = call("vendor", "amp", "--into", target)
    assert done.exit_code == 1
    assert "is a link: it could lead out of" in done.output
    assert contents(outside) == before


@pytest.mark.parametrize("name", ["../amp", "/etc/passwd", "amp.py", "", "apm"])
def test_only_names_of_families_are_taken(tmp_path, name):
    done = call("vendor", name, "--into", tmp_path / "v")
    assert done.exit_code == 1
    assert f"no reference fix {name!r}; there are amp, data_loading" in done.output
    assert not (tmp_path / "v").exists()


def test_a_folder_that_is_a_file_or_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("precious")
    assert call("vendor", "amp", "--into", tmp_path / "file").exit_code == 2
    assert call("vendored", tmp_path / "file").exit_code == 2
    assert (tmp_path / "file").read_text() == "precious"
    done = call("vendor", "amp", "--into", tmp_path / "file/below")
    assert done.exit_code == 1
    assert "Not a directory; nothing was written" in done.output


def test_a_read_only_folder_is_refused_and_left_alone(folder, upstream, monkeypatch):
    upstream("amp", "new\n")
    before = contents(folder)

    def refuse(*arguments):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "write_bytes", refuse)
    done = call("vendor", "amp", "--into", folder)
    monkeypatch.undo()
    assert done.exit_code == 1
    assert "Permission denied; nothing was written" in done.output
    assert contents(folder) == before


def test_a_folder_without_copies_says_how_to_make_some(tmp_path):
    done = call("vendored", tmp_path)
    assert done.exit_code == 1
    assert "no vendored files here" in done.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("failing", ["write_bytes", "replace"])
@pytest.mark.parametrize("number", range(1, 6))
def test_a_write_that_fails_in_the_middle_takes_everything_back(folder, upstream, monkeypatch, failing, number):
    edit(folder / "amp.py", "two", "two, edited")
    upstream("amp", "zero\none\ntwo\nthree\nfour\nfive\n")
    upstream("loss", "a\nb\nc\nd\n")
    before = contents(folder)
    real, calls = {"write_bytes": Path.write_bytes, "replace": os.replace}[failing], []

    def full(*arguments):
        calls.append(arguments)
        if len(calls) == number:
            raise OSError(28, "No space left on device")
        return real(*arguments)

    monkeypatch.setattr(Path if failing == "write_bytes" else os, failing, full)
    done = call("vendored", folder, "--update")
    monkeypatch.undo()
    assert done.exit_code == 1
    assert "No space left on device; nothing was written" in done.output
    assert contents(folder) == before


KILLED = """
import os, sys
from pathlib import Path
from matrix import vendor

vendor.ROOT = Path({upstream!r})
real, left = os.replace, [{number}]

def replace(*arguments):
    left[0] -= 1
    if left[0] < 0:
        os._exit(9)
    return real(*arguments)

os.replace = replace
vendor.update(Path({folder!r}))
"""


@pytest.mark.parametrize("number", range(6))
def test_killed_halfway_each_file_is_whole_and_the_next_call_finishes(folder, upstream, number):
    edit(folder / "amp.py", "two", "two, edited")
    upstream("amp", "zero\none\ntwo\nthree\nfour\nfive\n")
    upstream("loss", "a\nb\nc\nd\n")
    old = {name: (folder / name).read_bytes() for name in ("amp.py", "loss.py")}
    code = KILLED.format(upstream=str(vendor.ROOT), folder=str(folder), number=number)
    assert subprocess.run([sys.executable, "-c", code], cwd=catalog.ROOT).returncode == 9
    new = {"amp.py": b"zero\none\ntwo, edited\nthree\nfour\nfive\n", "loss.py": b"\na\nb\nc\nd\n"}
    for name in old:
        raw = (folder / name).read_bytes()
        assert raw == old[name] or raw.endswith(new[name])
    assert call("vendored", folder, "--update").exit_code == 0
    assert all((folder / name).read_bytes().endswith(new[name]) for name in new)
    assert states(folder) == {"amp.py": "you edited", "loss.py": "unchanged"}


def test_vendored_tests_run_on_the_copies_and_notice_a_broken_promise(tmp_path):
    target = tmp_path / "src/acme/_vendor"
    done = call("vendor", "loss", "--tests", "--into", target)
    assert done.exit_code == 0
    assert call("vendored", target).output.count(": unchanged") == 3
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "src/acme/_vendor/tests"]
    assert subprocess.run(command, cwd=tmp_path).returncode == 0
    edit(target / "loss.py", "if selected == 0:", "if False:")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert "FAILED src/acme/_vendor/tests/test_loss.py::test_masked_mean" in done.stdout
    assert call("vendored", target).exit_code == 4


def test_two_at_once_wait_for_each_other(folder, upstream):
    import filelock

    upstream("amp", "new\n")
    held = filelock.FileLock(folder / vendor.KEPT / "lock")
    done = []
    with held:
        other = threading.Thread(target=lambda: done.append(vendor.vendor(["amp"], folder)))
        other.start()
        time.sleep(0.3)
        assert not done
        assert not (folder / "amp.py").read_text().endswith("new\n")
    other.join()
    assert (folder / "amp.py").read_text().endswith("new\n")


def test_many_processes_at_once_leave_one_good_copy(tmp_path):
    command = [sys.executable, "-m", "matrix", "vendor", *FAMILIES, "--into", str(tmp_path / "v")]
    running = [subprocess.Popen(command, cwd=catalog.ROOT, stdout=subprocess.DEVNULL) for _ in range(4)]
    assert [process.wait() for process in running] == [0] * 4
    assert set(states(tmp_path / "v").values()) == {"unchanged"}
    assert not list((tmp_path / "v").rglob("*.new")) + list((tmp_path / "v").rglob("*.old"))


@pytest.mark.parametrize("command", [["vendor", "amp", "--into"], ["vendored"]])
def test_it_answers_at_once_without_torch(tmp_path, command):
    vendor.vendor(["amp"], tmp_path / "v")
    assert processor_seconds(*command, str(tmp_path / "v")) < 0.3
