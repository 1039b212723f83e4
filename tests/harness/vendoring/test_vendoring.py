"""Tests copies in other projects: nothing is lost, and a damaged copy affects no other copy."""

import os
import re
import stat
import subprocess
import sys
import threading
import time
import tracemalloc
from pathlib import Path

import click
import filelock
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matrix import catalog
from matrix.vendoring import copies, making, merging, originals, writing
from tests.harness.helpers import AT_ONCE, call, relative_cost

linux = pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
FAMILIES = originals.families()


def contents(folder):
    """Maps each file, except the lock, to its bytes."""
    return {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "lock"
    }


def know(origin, text):
    """Adds a text of a file to the list of the test's upstream."""
    with originals.TEXTS.open("a") as file:
        file.write(f"{origin} {originals.digest(text)}\n")


@pytest.fixture
def upstream(tmp_path, monkeypatch):
    """A temporary upstream: upstream("amp", text) publishes a text."""
    folder = tmp_path / "upstream/reference_fixes"
    folder.mkdir(parents=True)
    (tmp_path / "upstream/tests/fixes").mkdir(parents=True)
    monkeypatch.setattr(originals, "ROOT", tmp_path / "upstream")
    monkeypatch.setattr(originals, "TEXTS", tmp_path / "upstream/fix_texts.txt")

    def publish(family, text):
        (folder / f"{family}.py").write_text(text)
        know(f"reference_fixes/{family}.py", text)

    publish("amp", "one\ntwo\nthree\nfour\nfive\n")
    publish("loss", "a\nb\nc\n")
    return publish


@pytest.fixture
def folder(tmp_path, upstream):
    """Copies of both families."""
    target = tmp_path / "acme/_vendor"
    making.vendor(["amp", "loss"], target)
    return target


def edit(path, old, new):
    text = path.read_bytes().decode()
    assert old in text
    path.write_bytes(text.replace(old, new).encode())


def states(folder):
    return {copy.path.name: copy.state for copy in copies.read(folder)[0]}


def test_what_a_newer_torch_does_itself_is_said(tmp_path, upstream):
    upstream(
        "amp",
        'def old():\n    """Does.\n\n    Not needed from torch 2.3 on: its own does the same.\n    """\n\n\n'
        'def new():\n    """Not needed by all."""\n',
    )
    making.vendor(["amp"], tmp_path / "v")
    done = call("vendored", tmp_path / "v")
    lines = done.output.splitlines()
    assert lines[1:] == ["  old() is not needed from torch 2.3 on: its own does the same."]
    assert done.exit_code == 0
    (tmp_path / "v/amp.py").write_text((tmp_path / "v/amp.py").read_text() + "def broken(:\n")
    assert len(call("vendored", tmp_path / "v").output.splitlines()) == 1


def test_a_copy_is_a_short_header_and_the_file():
    text = originals.upstream("reference_fixes/amp.py")
    head = copies.render_header("reference_fixes/amp.py", text).splitlines()
    assert head[0] == f"# Vendored from torch-repros {originals.version()}: reference_fixes/amp.py"
    assert "SPDX-License-Identifier: BSD-3-Clause" in head[1]
    assert head[2].endswith(originals.digest(text))
    assert text == (catalog.ROOT / "reference_fixes/amp.py").read_text()


@pytest.mark.parametrize("family", FAMILIES)
def test_the_projects_own_fixes_can_be_vendored(tmp_path, family):
    assert call("vendor", family, "--into", tmp_path / "v").exit_code == 0
    done = call("vendored", tmp_path / "v")
    assert (done.exit_code, "unchanged" in done.output) == (0, True)
    assert (
        (tmp_path / f"v/{family}.py")
        .read_text()
        .endswith((catalog.ROOT / f"reference_fixes/{family}.py").read_text())
    )


@pytest.mark.parametrize(
    ("mine", "theirs", "state", "status"),
    [
        (0, 0, "unchanged", 0),
        (1, 0, "you edited", 4),
        (0, 1, "upstream moved on", 8),
        (1, 1, "both", 12),
    ],
)
def test_four_states_are_told_apart_with_an_exit_status_each(
    folder, upstream, mine, theirs, state, status
):
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
    making.vendor(["amp"], folder)
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


@pytest.mark.parametrize(
    "text", ["", "print('mine')\n", "# Vendored from torch-repros 0.1.0: reference_fixes/amp.py\n"]
)
def test_a_file_that_is_not_a_copy_is_never_overwritten(tmp_path, upstream, text):
    target = tmp_path / "v"
    target.mkdir()
    (target / "amp.py").write_text(text)
    done = call("vendor", "loss", "amp", "--into", target)
    assert done.exit_code == 1
    assert "amp.py: exists and is not a vendored copy" in done.output
    assert (target / "amp.py").read_text() == text
    assert not (target / "loss.py").exists()


def test_a_deleted_header_is_noticed(folder):
    (folder / "amp.py").write_text("".join((folder / "amp.py").read_text().splitlines(True)[3:]))
    done = call("vendored", folder)
    assert done.exit_code == 1
    assert (
        "amp.py: the torch-repros header (its first three lines) is missing or damaged"
        in done.output
    )


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
    assert (folder / copies.KEPT / "amp.py.1.before").read_bytes() == before
    assert states(folder) == {"amp.py": "you edited", "loss.py": "unchanged"}
    assert "nothing to merge" in call("vendored", folder, "--update").output


def test_conflicts_are_marked_as_git_marks_them_and_reported(folder, upstream):
    edit(folder / "amp.py", "two", "mine")
    upstream("amp", "one\ntheirs\nthree\nfour\nfive\n")
    done = call("vendored", folder, "--update")
    assert done.exit_code == 1
    assert "amp.py: merged, 1 conflict to resolve by hand" in done.output
    text = (folder / "amp.py").read_text()
    assert "one\n<<<<<<< yours\nmine\n=======\ntheirs\n>>>>>>> torch-repros " in text


@settings(deadline=None)  # the test writes files
@given(st.integers(5, 30), st.sets(st.integers(0, 29)), st.sets(st.integers(0, 29)))
def test_edits_that_do_not_touch_are_both_in_the_merge(tmp_path_factory, count, mine, theirs):
    base = [f"line {number}\n" for number in range(count)]
    mine = {number for number in mine if number < count}
    theirs = {
        number
        for number in theirs
        if number < count and not {number - 1, number, number + 1} & mine
    }
    changed = [
        [f"{who} {line}" if n in numbers else line for n, line in enumerate(base)]
        for who, numbers in (("m", mine), ("t", theirs))
    ]
    both = [m if n in mine else t for n, (m, t) in enumerate(zip(*changed))]
    with pytest.MonkeyPatch.context() as patch:
        root = tmp_path_factory.mktemp("merge")
        patch.setattr(originals, "ROOT", root)
        patch.setattr(originals, "TEXTS", root / "fix_texts.txt")
        (root / "reference_fixes").mkdir()
        origin = root / "reference_fixes/amp.py"
        origin.write_text("".join(base))
        know("reference_fixes/amp.py", "".join(base))
        (copy,) = making.vendor(["amp"], root / "v")
        copy.write_text("".join(copy.read_text().splitlines(True)[:3] + changed[0]))
        origin.write_text("".join(changed[1]))
        assert not merging.update(root / "v").problems
        assert copy.read_text().splitlines(True)[3:] == both


def test_a_version_that_no_longer_exists_is_merged_from_the_text_kept_beside_the_copy(
    folder, upstream
):
    edit(folder / "amp.py", "two", "two, edited")
    edit(folder / "amp.py", "torch-repros " + originals.version(), "torch-repros 0.0.1")
    for generation in ("x\n", "y\n", "one\ntwo\nthree\nfour\nfive\nsix\n"):
        upstream("amp", generation)
    assert call("vendored", folder, "--update").exit_code == 0
    assert (folder / "amp.py").read_text().endswith("one\ntwo, edited\nthree\nfour\nfive\nsix\n")


def test_where_that_text_was_deleted_it_says_so_and_the_copy_is_left_alone(folder, upstream):
    edit(folder / "amp.py", "two", "two, edited")
    upstream("amp", "x\n")
    for kept in (folder / copies.KEPT).glob("*.orig"):
        kept.unlink()
    before = (folder / "amp.py").read_bytes()
    done = call("vendored", folder, "--update")
    assert done.exit_code == 1
    assert "compare by hand" in done.output
    assert (folder / "amp.py").read_bytes() == before


def test_a_fix_that_upstream_dropped_is_said_to_be_gone(folder):
    (originals.ROOT / "reference_fixes/amp.py").unlink()
    done = call("vendored", folder)
    assert done.exit_code == 8
    assert "amp.py: removed upstream" in done.output


@pytest.mark.parametrize("name", ["amp.py", copies.KEPT])
def test_a_link_out_of_the_folder_is_not_followed(tmp_path, upstream, name):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious.py").write_text(
        copies.render_header("reference_fixes/amp.py", "") if name == "amp.py" else ""
    )
    target = tmp_path / "v"
    target.mkdir()
    (target / name).symlink_to(outside / "precious.py" if name == "amp.py" else outside)
    before = contents(outside)
    done = call("vendor", "amp", "--into", target)
    assert done.exit_code == 1
    assert "is a symbolic link and might point outside" in done.output
    assert contents(outside) == before


def test_a_linked_folder_of_tests_is_not_followed(tmp_path, upstream):
    test = originals.ROOT / "tests/fixes/test_amp.py"
    for path in (test, originals.ROOT / originals.CONFTEST):
        path.write_text("one\n")
        know(path.relative_to(originals.ROOT).as_posix(), "one\n")
    making.vendor(["amp"], tmp_path / "elsewhere", tests=True)
    (tmp_path / "v").mkdir()
    (tmp_path / "v/tests").symlink_to(tmp_path / "elsewhere/tests")
    test.write_text("one\ntwo\n")
    before = contents(tmp_path / "elsewhere")
    problem = f"{tmp_path / 'v/tests'} is a symbolic link and might point outside"
    for arguments in (
        ("vendor", "amp", "--tests", "--into", tmp_path / "v"),
        ("vendored", tmp_path / "v", "--update"),
    ):
        done = call(*arguments)
        assert (done.exit_code, problem in done.output) == (1, True)
        assert contents(tmp_path / "elsewhere") == before


@pytest.mark.parametrize("name", ["../amp", "/etc/passwd", "amp.py", "", "apm"])
def test_only_names_of_families_are_taken(tmp_path, name):
    done = call("vendor", name, "--into", tmp_path / "v")
    assert done.exit_code == 1
    assert f"no reference fix {name!r}; there are amp, attention" in done.output
    assert not (tmp_path / "v").exists()


def test_a_folder_that_is_a_file_or_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("precious")
    assert call("vendor", "amp", "--into", tmp_path / "file").exit_code == 2
    assert call("vendored", tmp_path / "file").exit_code == 2
    assert (tmp_path / "file").read_text() == "precious"
    done = call("vendor", "amp", "--into", tmp_path / "file/below")
    assert done.exit_code == 1
    assert "Not a directory; nothing was written" in done.output


def test_an_empty_name_is_not_taken_for_the_folder_one_is_in(tmp_path, upstream, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = contents(tmp_path)
    done = call("vendor", "amp", "--into", "")
    assert done.exit_code == 2
    assert "the name is empty" in done.output
    assert call("vendored", "").exit_code == 2
    assert contents(tmp_path) == before


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


def test_a_folder_that_may_not_be_looked_into_is_refused(folder, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "is_symlink", refuse)
    done = call("vendor", "amp", "--into", folder)
    monkeypatch.undo()
    assert done.exit_code == 1
    assert f"nothing was written\n{folder / 'amp.py'}: Permission denied\n" in done.output


def test_a_folder_without_copies_says_how_to_make_some(tmp_path):
    done = call("vendored", tmp_path)
    assert done.exit_code == 1
    assert "no vendored files here" in done.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("failing", ["write_bytes", "replace"])
@pytest.mark.parametrize("number", range(1, 6))
def test_a_write_that_fails_in_the_middle_takes_everything_back(
    folder, upstream, monkeypatch, failing, number
):
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
from matrix.vendoring import merging, originals

originals.ROOT = Path({upstream!r})
originals.TEXTS = originals.ROOT / "fix_texts.txt"
real, left = os.replace, [{number}]

def replace(*arguments):
    left[0] -= 1
    if left[0] < 0:
        os._exit(9)
    return real(*arguments)

os.replace = replace
merging.update(Path({folder!r}))
"""


@pytest.mark.parametrize("number", range(6))
def test_killed_halfway_each_file_is_whole_and_the_next_call_finishes(folder, upstream, number):
    edit(folder / "amp.py", "two", "two, edited")
    upstream("amp", "zero\none\ntwo\nthree\nfour\nfive\n")
    upstream("loss", "a\nb\nc\nd\n")
    old = {name: (folder / name).read_bytes() for name in ("amp.py", "loss.py")}
    code = KILLED.format(upstream=str(originals.ROOT), folder=str(folder), number=number)
    assert subprocess.run([sys.executable, "-c", code], cwd=catalog.ROOT).returncode == 9
    new = MERGED
    assert {path.name for path in folder.iterdir()} == {"amp.py", "loss.py", copies.KEPT}
    kept = folder / copies.KEPT
    for name in old:
        raw = (folder / name).read_bytes()
        assert raw == old[name] or raw.endswith(new[name])
        sha = re.search(rb"[0-9a-f]{64}", raw)[0].decode()
        assert (kept / f"{sha}.orig").is_file()  # the original that the header names
        if raw != old[name]:
            assert (kept / f"{name}.1.before").read_bytes() == old[name]
    assert call("vendored", folder, "--update").exit_code == 0
    assert all((folder / name).read_bytes().endswith(new[name]) for name in new)
    assert states(folder) == {"amp.py": "you edited", "loss.py": "unchanged"}
    assert not (folder / copies.KEPT / writing.SCRATCH).exists()


def test_what_a_killed_run_left_is_never_taken_for_a_file_to_restore(folder, upstream, monkeypatch):
    upstream("rnn", "r\n")
    scratch = folder / copies.KEPT / writing.SCRATCH
    scratch.mkdir()
    for number in range(9):
        (scratch / f"{number}.old").write_text("stale\n")
    before = contents(folder)
    real = os.replace

    def fail(new, path):
        if Path(path).name == "rnn.py":
            raise OSError(28, "No space left on device")
        real(new, path)

    monkeypatch.setattr(os, "replace", fail)
    assert call("vendor", "rnn", "--into", folder).exit_code == 1
    after = contents(folder)
    assert b"stale\n" not in after.values()
    assert after == {path: raw for path, raw in before.items() if raw != b"stale\n"}


# --- a damaged copy affects no other copy ---


@pytest.fixture
def moved(folder, upstream):
    """Copies: amp.py was changed by you and by upstream, loss.py only by upstream."""
    edit(folder / "amp.py", "two", "two, edited")
    upstream("amp", "zero\none\ntwo\nthree\nfour\nfive\n")
    upstream("loss", "a\nb\nc\nd\n")
    return folder


MERGED = {"amp.py": b"\nzero\none\ntwo, edited\nthree\nfour\nfive\n", "loss.py": b"\na\nb\nc\nd\n"}


def assert_updated(folder, *names):
    for name in names:
        assert (folder / name).read_bytes().endswith(MERGED[name]), name


def assert_amp_is_a_problem_and_loss_is_updated(folder, problem):
    """Checks `vendored` and `vendored --update`; the damaged file does not change."""
    before = (folder / "amp.py").read_bytes()
    done = call("vendored", folder)
    assert done.exit_code == 1
    assert f"Error: {folder / 'amp.py'}: " in done.output
    assert problem in done.output
    assert "loss.py: upstream moved on" in done.output
    done = call("vendored", folder, "--update")
    assert done.exit_code == 1
    assert problem in done.output
    assert "loss.py: merged\nUpdated 1 file; the previous version is in " in done.output
    assert (folder / "amp.py").read_bytes() == before
    assert_updated(folder, "loss.py")


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda raw: raw.replace(b"three", b"dr\xe9i"), "amp.py: not UTF-8 (byte "),
        (lambda raw: bytes(range(256)), "header (its first three lines) is missing or damaged"),
        (lambda raw: raw.decode().encode("utf-16"), "is missing or damaged"),
        (lambda raw: raw.replace(b"# sha256 of", b"# sha256 for"), "is missing or damaged"),
        (lambda raw: b"# mine\n" * 30 + raw, "is missing or damaged"),
    ],
    ids=["Latin-1", "binary", "UTF-16", "damaged header", "header far below"],
)
def test_a_damaged_copy_is_named_and_the_others_are_updated(moved, damage, problem):
    path = moved / "amp.py"
    path.write_bytes(damage(path.read_bytes()))
    assert_amp_is_a_problem_and_loss_is_updated(moved, problem)


@pytest.mark.parametrize(
    "damage", [Path.unlink, lambda kept: kept.write_text("formatted\n")], ids=["missing", "changed"]
)
def test_a_lost_base_is_a_problem_of_one_copy_alone(moved, damage):
    sha = next(copy.sha for copy in copies.read(moved)[0] if copy.path.name == "amp.py")
    damage(moved / copies.KEPT / f"{sha}.orig")
    assert_amp_is_a_problem_and_loss_is_updated(
        moved, f"is missing or damaged: restore .torch-repros/{sha}.orig"
    )


def test_a_base_that_was_lost_is_kept_again_while_it_is_still_known(folder, upstream):
    edit(folder / "amp.py", "two", "two, edited")
    for kept in (folder / copies.KEPT).glob("*.orig"):
        kept.unlink()
    assert call("vendored", folder, "--update").output == "nothing to merge\n"
    upstream("amp", "zero\none\ntwo\nthree\nfour\nfive\n")
    assert call("vendored", folder, "--update").exit_code == 0
    assert_updated(folder, "amp.py")


def test_a_copy_that_became_a_directory_is_named_and_the_others_are_updated(moved):
    (moved / "amp.py").unlink()
    (moved / "amp.py").mkdir()
    done = call("vendored", moved, "--update")
    assert done.exit_code == 1
    assert "amp.py: cannot be read: not a file" in done.output
    assert_updated(moved, "loss.py")


def test_a_copy_that_cannot_be_read_is_named_and_the_others_are_updated(moved, monkeypatch):
    real = Path.open

    def refuse(path, *arguments, **options):
        if path.name == "amp.py":
            raise PermissionError(13, "Permission denied")
        return real(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", refuse)
    done = call("vendored", moved, "--update")
    monkeypatch.undo()
    assert done.exit_code == 1
    assert "amp.py: cannot be read: Permission denied" in done.output
    assert_updated(moved, "loss.py")


def test_a_copy_that_is_a_link_is_named_and_the_others_are_updated(moved, tmp_path):
    outside = tmp_path / "outside.py"
    (moved / "amp.py").rename(outside)
    before = outside.read_bytes()
    (moved / "amp.py").symlink_to(outside)
    done = call("vendored", moved, "--update")
    assert done.exit_code == 1
    assert "amp.py is a symbolic link and might point outside" in done.output
    assert outside.read_bytes() == before
    assert_updated(moved, "loss.py")


def test_neighbours_of_every_kind_are_none_of_its_business(moved):
    (moved / "latin.py").write_bytes("# -*- coding: latin-1 -*-\n# caf\xe9\n".encode("latin-1"))
    (moved / "binary.py").write_bytes(bytes(range(256)))
    (moved / "pkg.py").mkdir()
    (moved / "dangling.py").symlink_to(moved / "nowhere")
    (moved / "rnn.py").write_text("print('mine')\n")
    os.mkfifo(moved / "pipe.py")
    assert call("vendored", moved).exit_code == 12
    assert call("vendored", moved, "--update").exit_code == 0
    assert_updated(moved, "amp.py", "loss.py")


def test_neighbours_are_not_read_whole(moved):
    (moved / "large.py").write_bytes(b"# data\n" * (1 << 20))
    copies.read(moved)
    tracemalloc.start()
    copies.read(moved)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 << 20


@pytest.mark.parametrize(
    "above",
    [
        "\ufeff",
        "# -*- coding: utf-8 -*-\n",
        "\n\n",
        "\ufeff#!/usr/bin/env python\n# Copyright Acme\n\n",
    ],
)
def test_what_others_put_above_the_header_does_not_hide_it_and_is_kept(moved, upstream, above):
    path = moved / "amp.py"
    path.write_bytes(above.encode() + path.read_bytes())
    assert states(moved)["amp.py"] == "both"
    assert call("vendored", moved, "--update").exit_code == 0
    assert_updated(moved, "amp.py")
    assert path.read_bytes().startswith(above.encode() + b"# Vendored from torch-repros ")
    assert states(moved)["amp.py"] == "you edited"


def test_vendoring_again_keeps_what_is_above_the_header(folder, upstream):
    path = folder / "amp.py"
    path.write_bytes(b"# -*- coding: utf-8 -*-\n" + path.read_bytes())
    upstream("amp", "new\n")
    making.vendor(["amp"], folder)
    assert re.fullmatch(
        r"# -\*- coding: utf-8 -\*-\n# Vendored .*\n# .*\n# sha256 .*\nnew\n", path.read_text()
    )


@pytest.fixture
def newer(folder, upstream):
    """A copy of amp.py from a later revision with the same version."""
    text = copies.render_header("reference_fixes/amp.py", "later\n") + "later\n"
    (folder / "amp.py").write_text(text)
    upstream("loss", "a\nb\nc\nd\n")
    return folder


@pytest.mark.parametrize("edited", [False, True])
@pytest.mark.parametrize("gone", [False, True])
def test_an_older_checkout_leaves_a_newer_copy_alone(newer, edited, gone):
    if edited:
        edit(newer / "amp.py", "\nlater\n", "\nlater, edited\n")
    if gone:  # this revision does not have the file yet
        (originals.ROOT / "reference_fixes/amp.py").unlink()
    before = (newer / "amp.py").read_bytes()
    version = originals.version()
    problem = f"amp.py: is from torch-repros {version}, whose text {version} does not know: update"
    done = call("vendored", newer)
    assert done.exit_code == 1
    assert problem in done.output
    assert "amp.py: newer than this tool" in done.output
    done = call("vendored", newer, "--update")
    assert done.exit_code == 1
    assert problem in done.output
    assert_updated(newer, "loss.py")
    assert (newer / "amp.py").read_bytes() == before


def test_an_older_checkout_does_not_vendor_over_a_newer_copy(newer):
    before = contents(newer)
    done = call("vendor", "amp", "--into", newer)
    assert done.exit_code == 1
    assert "nothing was written" in done.output
    assert "update the tool" in done.output
    assert contents(newer) == before


@pytest.mark.parametrize("version", ["999.0", "main", "0.1.0", "0.1.0+g0123456789"])
def test_the_text_and_not_the_version_says_which_of_two_is_older(moved, version):
    edit(moved / "amp.py", "torch-repros " + originals.version(), "torch-repros " + version)
    assert call("vendored", moved, "--update").exit_code == 0
    assert_updated(moved, "amp.py")


def test_vendoring_the_same_text_again_changes_nothing(folder):
    edit(folder / "amp.py", "torch-repros " + originals.version(), "torch-repros 0.0.1")
    before = contents(folder)
    making.vendor(["amp", "loss"], folder)
    assert contents(folder) == before


# --- files of the user ---


def test_a_refusal_leaves_nothing_behind(tmp_path, upstream):
    (tmp_path / "v").mkdir()
    (tmp_path / "v/loss.py").write_text("mine\n")
    assert call("vendor", "loss", "--into", tmp_path / "v").exit_code == 1
    assert [path.name for path in tmp_path.joinpath("v").iterdir()] == ["loss.py"]
    assert call("vendored", tmp_path / "v", "--update").exit_code == 1
    assert [path.name for path in tmp_path.joinpath("v").iterdir()] == ["loss.py"]


def test_a_file_where_a_folder_has_to_be_is_named(tmp_path, upstream):
    for name in ("v", "w"):
        (tmp_path / name).mkdir()
    (tmp_path / "v/tests").touch()
    (originals.ROOT / "tests/fixes/test_amp.py").touch()
    (originals.ROOT / originals.CONFTEST).touch()
    done = call("vendor", "amp", "--tests", "--into", tmp_path / "v")
    assert (done.exit_code, f"{tmp_path / 'v/tests'}: is not a folder" in done.output) == (1, True)
    assert [path.name for path in tmp_path.joinpath("v").iterdir()] == ["tests"]
    (tmp_path / "w" / copies.KEPT).touch()
    done = call("vendor", "amp", "--into", tmp_path / "w")
    assert done.exit_code == 1
    assert f"{tmp_path / 'w' / copies.KEPT}: File exists; nothing was written" in done.output


def test_your_own_file_is_never_taken_for_a_damaged_copy(tmp_path, upstream):
    (tmp_path / "v").mkdir()
    (tmp_path / "v/loss.py").write_text("mine\n")
    making.vendor(["amp"], tmp_path / "v")
    assert call("vendor", "loss", "--into", tmp_path / "v").exit_code == 1
    for options in ((), ("--update",)):
        done = call("vendored", tmp_path / "v", *options)
        assert (done.exit_code, "loss.py" in done.output) == (0, False)
    assert (tmp_path / "v/loss.py").read_text() == "mine\n"


def test_a_copy_that_you_made_your_own_can_be_taken_off_the_record(folder):
    (folder / "amp.py").write_text("mine now\n")
    assert call("vendored", folder).exit_code == 1
    assert call("vendored", folder, "--update").exit_code == 1
    listed = folder / copies.KEPT / copies.COPIES
    edit(listed, "amp.py\n", "")
    assert call("vendored", folder).exit_code == 0
    assert call("vendored", folder, "--update").exit_code == 0
    assert listed.read_text() == "loss.py\n"


def test_a_deleted_copy_is_no_problem(folder):
    (folder / "amp.py").unlink()
    done = call("vendored", folder)
    assert (done.exit_code, done.output.count("\n")) == (0, 1)
    assert call("vendored", folder, "--update").exit_code == 0
    (folder / "amp.py").write_text("mine, much later\n")
    assert call("vendored", folder).exit_code == 0


def test_a_copy_of_another_file_is_not_replaced(folder, upstream):
    upstream("rnn", "r\n")
    (folder / "amp.py").rename(folder / "rnn.py")
    done = call("vendor", "rnn", "--into", folder)
    assert done.exit_code == 1
    assert (
        "rnn.py: exists and is a copy of reference_fixes/amp.py, not of reference_fixes/rnn.py"
        in done.output
    )


@linux
@pytest.mark.parametrize("name", [b"amp\xff.py", b"am\np.py", b"am\rp.py", "am\u2028p.py".encode()])
def test_a_copy_of_any_name_is_updated(moved, name):
    path = moved / os.fsdecode(name)
    (moved / "amp.py").rename(path)
    (moved / "p.py").write_text("mine\n")
    assert call("vendored", moved).exit_code == 12
    assert call("vendored", moved, "--update").exit_code == 0
    assert path.read_bytes().endswith(MERGED["amp.py"])
    listed = (moved / copies.KEPT / copies.COPIES).read_bytes()
    assert listed == (b"" if b"\n" in name else name + b"\n") + b"loss.py\n"
    assert call("vendored", moved).exit_code == 4
    path.write_bytes(b"lost its header\n")
    assert call("vendored", moved).exit_code == (0 if b"\n" in name else 1)


@linux
def test_a_name_that_cannot_be_printed_is_printed_all_the_same(moved):
    (moved / "amp.py").rename(moved / os.fsdecode(b"amp\xff.py"))
    for options in ((), ("--diff",), ("--update",)):
        command = [sys.executable, "-m", "matrix", "vendored", str(moved), *options]
        done = subprocess.run(command, cwd=catalog.ROOT, capture_output=True)
        assert b"Traceback" not in done.stderr
        assert b"amp" in done.stdout + done.stderr


# --- kept files ---


def test_a_formatter_of_the_whole_project_does_not_stop_a_merge(folder, upstream):
    edit(folder / "amp.py", "two", "two, edited")
    for path in folder.rglob("*"):
        if path.suffix in {".py", ".pyi", ".toml", ".json", ".md", ".yaml"}:
            path.write_text(path.read_text().rstrip("\n") + "\n# formatted\n")
    upstream("amp", "zero\none\ntwo\nthree\nfour\nfive\n")
    done = call("vendored", folder, "--update")
    assert done.exit_code == 0, done.output
    assert (
        (folder / "amp.py")
        .read_text()
        .endswith("zero\none\ntwo, edited\nthree\nfour\nfive\n# formatted\n")
    )


def test_a_base_under_its_old_name_is_read_and_kept_under_the_new_one(moved):
    kept = moved / copies.KEPT
    bases = list(kept.glob("*.orig"))
    for base in bases:
        base.rename(base.with_suffix(".py"))
    (kept / copies.COPIES).unlink()
    assert call("vendored", moved, "--update").exit_code == 0
    assert_updated(moved, "amp.py", "loss.py")
    assert all(base.is_file() for base in bases)
    assert (kept / copies.COPIES).read_text() == "amp.py\nloss.py\n"


def test_git_leaves_the_line_ends_of_the_kept_texts_alone(folder):
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    base = next((folder / copies.KEPT).glob("*.orig")).relative_to(folder).as_posix()
    done = subprocess.run(
        ["git", "check-attr", "text", base], cwd=folder, check=True, capture_output=True, text=True
    )
    assert done.stdout == f"{base}: text: unset\n"


def test_git_keeps_what_a_merge_needs_whatever_it_ignores_elsewhere(tmp_path, folder):
    (tmp_path / ".gitignore").write_text("*.orig\n*.txt\n")
    (folder / copies.KEPT / writing.SCRATCH).mkdir()
    (folder / copies.KEPT / writing.SCRATCH / "0.new").touch()
    (folder / copies.KEPT / "lock").touch()
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    done = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard", copies.KEPT],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    names = {Path(line).name for line in done.stdout.splitlines()}
    bases = {path.name for path in folder.rglob("*.orig")}
    assert len(bases) == 2
    assert names == bases | {copies.COPIES, ".gitattributes", ".gitignore"}


def test_your_own_settings_for_git_are_kept(folder, upstream):
    for name in (".gitattributes", ".gitignore"):
        (folder / copies.KEPT / name).write_text("# mine\n")
    upstream("amp", "new\n")
    assert call("vendored", folder, "--update").exit_code == 0
    for name in (".gitattributes", ".gitignore"):
        assert (folder / copies.KEPT / name).read_text() == "# mine\n"


@pytest.mark.parametrize("name", ["tests", "sub"])
def test_the_base_is_found_whatever_the_folder_is_called(tmp_path, upstream, name):
    making.vendor(["amp"], tmp_path / "p" / name)
    edit(tmp_path / "p" / name / "amp.py", "two", "two, edited")
    upstream("amp", "zero\none\ntwo\nthree\nfour\nfive\n")
    done = call("vendored", tmp_path / "p" / name, "--update")
    assert done.exit_code == 0, done.output
    assert_updated(tmp_path / "p" / name, "amp.py")


def test_the_base_is_found_two_folders_above(tmp_path, upstream):
    (path,) = making.vendor(["amp"], tmp_path / "p/q/tests")
    (path.parent / copies.KEPT).rename(tmp_path / "p" / copies.KEPT)
    edit(path, "two", "two, edited")
    upstream("amp", "zero\none\ntwo\nthree\nfour\nfive\n")
    assert call("vendored", path.parent, "--update").exit_code == 0
    assert_updated(path.parent, "amp.py")


def test_a_folder_called_tests_inside_another_keeps_its_own_record(folder, upstream):
    making.vendor(["amp"], folder / "tests")
    (folder / "tests/amp.py").write_text("lost its header\n")
    done = call("vendored", folder)
    assert done.exit_code == 1
    assert f"{folder / 'tests/amp.py'}: the torch-repros header" in done.output
    assert f"{folder / 'amp.py'}: unchanged" in done.output


def test_the_folder_of_vendored_tests_can_be_updated_alone(tmp_path, upstream, monkeypatch):
    test = originals.ROOT / "tests/fixes/test_amp.py"
    test.write_text("one\ntwo\nthree\nfour\n")
    know("tests/fixes/test_amp.py", test.read_text())
    (originals.ROOT / originals.CONFTEST).write_text("conftest\n")
    making.vendor(["amp"], tmp_path / "v", tests=True)
    edit(tmp_path / "v/tests/test_amp.py", "four", "four, edited")
    test.write_text("zero\none\ntwo\nthree\nfour\n")
    monkeypatch.chdir(tmp_path / "v/tests")
    assert call("vendored", ".", "--update").exit_code == 0
    assert Path("test_amp.py").read_text().endswith("zero\none\ntwo\nthree\nfour, edited\n")
    assert not Path(copies.KEPT).exists()
    assert (tmp_path / "v/.torch-repros/test_amp.py.1.before").is_file()
    Path("conftest.py").write_text("lost its header\n")
    done = call("vendored", ".")
    assert (done.exit_code, "conftest.py: the torch-repros header" in done.output) == (1, True)
    Path("conftest.py").write_text(
        copies.render_header(originals.CONFTEST, "conftest\n") + "conftest\n"
    )
    monkeypatch.undo()
    assert set(states(tmp_path / "v")) == {"amp.py", "test_amp.py", "conftest.py"}
    assert (
        tmp_path / "v/.torch-repros/copies.txt"
    ).read_text() == "amp.py\ntests/conftest.py\ntests/test_amp.py\n"


def test_a_folder_named_by_its_way_up_is_the_same_folder(tmp_path, upstream):
    making.vendor(["amp"], tmp_path / "v")
    making.vendor(["amp"], tmp_path / "v/sub")
    (tmp_path / "v/amp.py").write_text("lost its header\n")
    assert call("vendored", tmp_path / "v/sub/..").exit_code == 1
    assert call("vendored", tmp_path / "v/sub/../sub", "--update").exit_code == 0
    assert (tmp_path / "v" / copies.KEPT / copies.COPIES).read_text() == "amp.py\n"


def test_a_folder_below_is_never_taken_for_the_one_above(tmp_path, upstream):
    making.vendor(["amp"], tmp_path / "v/sub")
    (tmp_path / "v/sub/amp.py").rename(tmp_path / "v/amp.py")
    assert call("vendored", tmp_path / "v/sub/..", "--update").exit_code == 0
    assert (tmp_path / "v" / copies.KEPT / copies.COPIES).read_text() == "amp.py\n"


# --- conflicts ---


@pytest.fixture
def conflicting(folder, upstream):
    """A copy that contains conflict markers from an update."""
    edit(folder / "amp.py", "two", "mine")
    upstream("amp", "one\ntheirs\nthree\nfour\nfive\n")
    assert call("vendored", folder, "--update").exit_code == 1
    return folder


def test_unresolved_conflicts_fail_until_they_are_resolved(conflicting, upstream):
    path = conflicting / "amp.py"
    upstream("loss", "a\nb\nc\nd\n")
    for theirs in ("one\ntheirs\nthree\nfour\nfive\n", "one\ntheirs, again\nthree\nfour\nfive\n"):
        upstream("amp", theirs)
        before = path.read_bytes()
        done = call("vendored", conflicting)
        assert (done.exit_code, "amp.py: conflicts to resolve (from" in done.output) == (1, True)
        done = call("vendored", conflicting, "--update")
        assert (done.exit_code, "is a conflict marker; resolve the conflict" in done.output) == (
            1,
            True,
        )
        assert path.read_bytes() == before
        assert_updated(conflicting, "loss.py")
    path.write_text(re.sub(r"<{7}.*?={7}\n|>{7}.*?\n", "", path.read_text(), flags=re.S))
    done = call("vendored", conflicting, "--update")
    assert done.exit_code == 0, done.output
    assert path.read_text().endswith("one\ntheirs, again\nthree\nfour\nfive\n")


@pytest.mark.parametrize(
    "marker", ["<<<<<<< yours", "<<<<<<<", "||||||| base", "|||||||", "=======", ">>>>>>> theirs"]
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_half_resolved_conflict_still_fails(folder, marker, end):
    path = folder / "amp.py"
    path.write_bytes(path.read_bytes().replace(b"two\n", f"two\n{marker}{end}".encode()))
    number = path.read_text().splitlines().index(marker) + 1
    done = call("vendored", folder)
    assert done.exit_code == 1
    assert f"amp.py: line {number} is a conflict marker; resolve" in done.output


@pytest.mark.parametrize(
    "text",
    [
        "Example\n=======\n",
        "A title\n=======\n",
        "=======  =======\nshape    dtype\n",
        "    =======\n",
        "========\n",
        ">>> x = 1\n",
    ],
)
def test_a_heading_is_no_conflict(folder, text):
    edit(folder / "amp.py", "two\n", f'"""\n{text}"""\n')
    assert states(folder)["amp.py"] == "you edited"


def test_a_marker_above_the_header_is_one_too(folder):
    path = folder / "amp.py"
    path.write_text("# mine\n<<<<<<< HEAD\n" + path.read_text())
    done = call("vendored", folder)
    assert done.exit_code == 1
    assert "amp.py: line 2 is a conflict marker" in done.output


def test_no_file_of_upstreams_looks_like_a_conflict():
    for path in [*catalog.ROOT.glob("reference_fixes/*.py"), *catalog.TESTS.glob("*.py")]:
        assert not copies.CONFLICT_PATTERN.search(path.read_text()), path


def test_the_text_from_before_an_update_is_never_overwritten(conflicting, upstream):
    path, kept = conflicting / "amp.py", conflicting / copies.KEPT
    path.write_text(re.sub(r"<{7}.*?\n|={7}.*>{7}.*?\n", "", path.read_text(), flags=re.S))
    resolved = path.read_bytes()
    upstream("amp", "one\ntheirs\nthree\nfour\nfive\nsix\n")
    assert call("vendored", conflicting, "--update").exit_code == 0
    assert b"mine" in (kept / "amp.py.1.before").read_bytes()
    assert b"<<<" not in (kept / "amp.py.1.before").read_bytes()
    assert (kept / "amp.py.2.before").read_bytes() == resolved


def test_a_conflict_in_a_last_line_without_an_end_has_whole_markers(folder, upstream):
    path = folder / "amp.py"
    path.write_bytes(path.read_bytes().replace(b"five\n", b"mine"))
    upstream("amp", "one\ntwo\nthree\nfour\ntheirs\n")
    assert call("vendored", folder, "--update").exit_code == 1
    assert "\n<<<<<<< yours\nmine\n=======\ntheirs\n>>>>>>> torch-repros " in path.read_text()


# --- bytes and modes ---


def test_a_single_carriage_return_changes_no_other_line(moved):
    path = moved / "amp.py"
    raw = path.read_bytes().replace(b"three\n", b"three\r\n").replace(b"four\n", b"fo\rur\n")
    path.write_bytes(raw)
    assert call("vendored", moved, "--update").exit_code == 0
    assert path.read_bytes().endswith(b"\nzero\none\ntwo, edited\nthree\r\nfo\rur\nfive\n")


def test_a_single_plain_line_end_changes_no_line_of_a_windows_file(moved):
    path = moved / "amp.py"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n").replace(b"three\r\n", b"three\n"))
    assert call("vendored", moved, "--update").exit_code == 0
    assert path.read_bytes().endswith(b"\r\nzero\r\none\r\ntwo, edited\r\nthree\nfour\r\nfive\r\n")
    assert path.read_bytes().startswith(
        b"# Vendored from torch-repros "
        + originals.version().encode()
        + b": reference_fixes/amp.py\r\n"
    )


def test_mixed_line_ends_are_kept_in_a_long_file_of_blank_lines():
    lines = [line for number in range(3000) for line in (f"line {number}\r\n", "\r\n", "\r\n")]
    lines[4] = "\n"
    before = time.process_time()
    text = writing.with_line_ends_of("".join(lines), "new\n" + "".join(lines).replace("\r", ""))
    assert (
        time.process_time() - before < 1
    )  # many seconds if every blank line were compared with every other
    assert text == "new\r\n" + "".join(lines)


@pytest.mark.parametrize("mode", [0o755, 0o600, 0o444])
def test_an_update_keeps_the_mode_of_the_file(moved, mode):
    (moved / "amp.py").chmod(mode)
    assert call("vendored", moved, "--update").exit_code == 0
    assert_updated(moved, "amp.py")
    assert stat.S_IMODE((moved / "amp.py").stat().st_mode) == mode


# --- headers and upstream files ---


@pytest.mark.parametrize(
    "origin",
    [
        "matrix/cli.py",
        "/etc/hostname.py",
        "../secret.py",
        "reference_fixes/../noxfile.py",
        "tests/fixes/../conftest.py",
        "secret.py",
    ],
)
def test_a_header_may_name_nothing_but_what_is_vendored(moved, origin):
    (originals.ROOT / "secret.py").write_text("secret\n")
    edit(moved / "amp.py", "reference_fixes/amp.py", origin)
    assert_amp_is_a_problem_and_loss_is_updated(
        moved, f"its header names {origin!r}, which is not a file that torch-repros vendors"
    )


def test_a_blank_at_the_end_of_a_header_line_is_no_damage(moved):
    raw = (moved / "amp.py").read_bytes().split(b"\n", 3)
    (moved / "amp.py").write_bytes(b" \n".join(raw[:3]) + b"\t\n" + raw[3])
    assert call("vendored", moved, "--update").exit_code == 0
    assert_updated(moved, "amp.py")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tests/test_amp.py", "tests/fixes/test_amp.py"),
        ("matrix/vendored_conftest.py", "tests/fixes/vendored_conftest.py"),
    ],
)
def test_headers_with_the_old_names_of_tests_follow_the_new_ones(folder, old, new):
    (folder / "tests").mkdir()
    path = folder / "tests/copy.py"
    path.write_text(copies.render_header(old, "one\n") + "one\n")
    know(new, "one\n")
    (originals.ROOT / new).write_text("one\ntwo\n")
    assert states(folder)["copy.py"] == "upstream moved on"
    assert call("vendored", folder, "--update").exit_code == 0
    assert path.read_text() == copies.render_header(new, "one\ntwo\n") + "one\ntwo\n"


def test_a_fix_without_tests_upstream_is_an_error_and_nothing_is_written(tmp_path, upstream):
    (originals.ROOT / originals.CONFTEST).write_text("conftest\n")
    done = call("vendor", "amp", "--tests", "--into", tmp_path / "v")
    assert done.exit_code == 1
    assert "nothing was written: torch-repros " in done.output
    assert "has no tests/fixes/test_amp.py" in done.output
    assert not (tmp_path / "v").exists()


@pytest.mark.parametrize("family", FAMILIES)
def test_every_fix_of_the_project_has_tests_to_vendor(tmp_path, family):
    assert call("vendor", family, "--tests", "--into", tmp_path / "v").exit_code == 0
    for name in (f"test_{family}", "vendored_conftest"):
        copied = tmp_path / "v/tests" / ("conftest.py" if "conftest" in name else f"{name}.py")
        assert copied.read_text().endswith((catalog.TESTS / f"{name}.py").read_text())


def test_the_diff_has_no_control_characters_of_the_files(folder):
    edit(folder / "amp.py", "two", "two \x1b[8m\u202e")
    output = call("vendored", folder, "--diff", color=True).output
    assert r"+two \x1b[8m\u202e" in output


def test_the_diff_is_coloured_on_a_terminal_only(moved):
    plain = call("vendored", moved, "--diff").output
    coloured = call("vendored", moved, "--diff", color=True).output
    assert "\x1b" not in plain
    assert click.style("+two, edited", fg="green") in coloured
    assert click.unstyle(coloured) == plain


# --- simultaneous calls ---


def test_two_at_once_wait_for_each_other(folder, upstream):
    upstream("amp", "new\n")
    held = filelock.FileLock(folder / copies.KEPT / "lock")
    done = []
    with held:
        other = threading.Thread(target=lambda: done.append(making.vendor(["amp"], folder)))
        other.start()
        time.sleep(0.3)
        assert not done
        assert not (folder / "amp.py").read_text().endswith("new\n")
    other.join()
    assert (folder / "amp.py").read_text().endswith("new\n")


def test_many_processes_at_once_leave_one_good_copy(tmp_path):
    command = [sys.executable, "-m", "matrix", "vendor", *FAMILIES, "--into", str(tmp_path / "v")]
    running = [
        subprocess.Popen(command, cwd=catalog.ROOT, stdout=subprocess.DEVNULL) for _ in range(4)
    ]
    assert [process.wait() for process in running] == [0] * 4
    assert set(states(tmp_path / "v").values()) == {"unchanged"}
    assert not list((tmp_path / "v").rglob("*.new")) + list((tmp_path / "v").rglob("*.old"))


@pytest.mark.parametrize("command", [["vendor", "amp", "--into"], ["vendored"]])
def test_it_answers_at_once_without_torch(tmp_path, command):
    making.vendor(["amp"], tmp_path / "v")
    assert relative_cost(*command, str(tmp_path / "v")) < AT_ONCE
