"""Tests the behavior that all commands share: --help, exit codes, wrong usage."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from matrix import catalog, commands
from matrix.evidence import store
from tests.harness.helpers import RETURNS, call, plant
from tests.harness.recorded import measurement, record

CLONE_ONLY = ("new", "headers", "fixes", "lint", "grid", "site")


@pytest.mark.parametrize("name", sorted(commands.main.places))
def test_every_summary_fits_on_its_line_and_the_help_says_more(name):
    command = commands.main.get_command(None, name)
    summary = command.get_short_help_str(200)
    assert len(summary) <= 50, summary
    assert not summary.endswith("...")
    assert f"  {name} " in call("--help").output
    assert call(name, "--help").exit_code == 0


@pytest.mark.parametrize("name", sorted(commands.main.places))
def test_every_help_has_an_example_and_the_exit_statuses_and_fits_80_columns(name):
    help = call(name, "--help", terminal_width=80).output
    assert f"\n  torch-repros {name} " in help + " " or f"\n  torch-repros {name}\n" in help
    assert "Exit status: 0" in help or (name == "exec" and "Exit status: the program's own" in help)
    assert max(map(len, help.splitlines())) <= (85 if name == "scan" else 80)


def test_a_retired_reproducer_is_in_no_answer(root, tmp_path):
    plant(root, "amp/live", RETURNS.format("boom"), messages='["boom goes the live"]')
    plant(root, "amp/gone", RETURNS.format("boom"), messages='["boom goes it"]', retired='"why"')
    measured = {one.id: measurement(hash=one.hash) for one in catalog.load(root)}
    for release in ("2.4.1", "2.5.1"):
        store.save(record(release, measured), tmp_path / "records")
    for answer in (
        ("list",),
        ("list", "--json"),
        ("search", "planted"),
        ("explain", "RuntimeError: boom goes it. RuntimeError: boom goes the live"),
        ("compare", "2.4", "2.5", "--all", "--records", tmp_path / "records"),
    ):
        output = call("--repros", root, *answer).output
        assert "amp/live" in output, answer
        assert "amp/gone" not in output, answer


def test_the_help_teaches_in_the_order_in_which_one_needs_it():
    sections = dict.fromkeys(section for section, _ in commands.main.places.values())
    assert list(sections) == [
        "Diagnose",
        "Run",
        "Use the fixes",
        "Measure",
        "Maintain (in a clone)",
    ]
    assert max(map(len, call("--help", terminal_width=80).output.splitlines())) <= 80


def test_every_command_that_a_module_defines_is_offered():
    folder = Path(commands.__file__).parent
    modules = [
        importlib.import_module(f"{commands.__name__}.{path.stem}") for path in folder.glob("*.py")
    ]
    defined = {
        value.name
        for module in modules
        for value in vars(module).values()
        if isinstance(value, click.Command)
    }
    assert defined - {commands.main.name} == set(commands.main.places)


def test_no_text_of_the_command_line_names_another_program():
    for name in ("", *commands.main.places):
        assert "python -m matrix" not in call(*filter(None, [name]), "--help").output


@pytest.mark.parametrize("name", CLONE_ONLY)
def test_an_installed_package_says_what_needs_a_clone_and_does_not_offer_it(monkeypatch, name):
    monkeypatch.setattr(commands.options.catalog, "CLONE", False)
    group = commands.options.Sections(name="torch-repros")
    group.add(group.IN_A_CLONE, "checking", name)
    monkeypatch.setattr(commands, "main", group)
    refused = call(name, "--anything")
    assert refused.exit_code == 2
    assert f"`torch-repros {name}` works on the project's own files" in " ".join(
        refused.output.split()
    )
    assert name not in call("--help").output


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("show", "amp/unscale_befor_scale"), "did you mean amp/unscale_before_scale"),
        (("list", "amq"), "did you mean amp"),
        (("list", "zzzzzz"), "`torch-repros list` lists them all"),
        (("show", "amp"), "'amp' is a family; `torch-repros list amp` lists its reproducers"),
        (("run", "repros/amp/unscale_twicee.py"), "did you mean amp/unscale_twice"),
        (("run", "--device", "gpu"), "'gpu' is not one of 'cpu', 'cuda', 'mps'"),
        (("run", "--repaet", "3"), "Did you mean"),
        (("record", "2.44"), "no torch 2.44 in torches.toml; it has 1.13, "),
        (("show", "amp/unscale_twice", "--torch", "two"), "write, for example, 2.4 or 2.4.1"),
        (("lint", "--records", "/no/such/folder"), "Directory '/no/such/folder' does not exist"),
        (("merge", "--records", "/dev/null/x", "."), "--records: /dev/null/x"),
        (("site", "--into", "/dev/null/x"), "--into: /dev/null/x: Not a directory"),
        (("--repros", "/no/such/folder", "list"), "does not exist"),
        (("explian", "x"), "No such command 'explian'; did you mean explain?"),
    ],
)
def test_wrong_use_exits_with_2_and_says_what_was_expected(arguments, text):
    result = call(*arguments)
    assert result.exit_code == 2
    assert text in " ".join(result.output.split())


def test_the_path_of_a_file_or_folder_of_the_catalogue_names_its_reproducers():
    path = catalog.REPROS / "amp/unscale_twice.py"
    for command in ("show", "explain"):
        assert call(command, path).output == call("show", "amp/unscale_twice").output
    assert call("list", path.parent).output == call("list", "amp").output


def test_a_reproducer_that_cannot_be_read_is_told_from_one_that_is_not_there(root):
    plant(root, "planted/one", RETURNS.format("boom"), kind='"slient"')
    plant(root, "planted/two", RETURNS.format("boom"))
    result = call("--repros", root, "run", "planted/one")
    assert result.exit_code == 2
    assert "'slient' is not one of" in result.output
    assert "planted/one cannot be read; the lines above say why" in result.output


def test_no_color_is_honoured(monkeypatch):
    assert "\x1b[" in call("list", color=True).output
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in call("list", color=True).output


def test_what_the_output_s_encoding_lacks_is_escaped():
    command = [sys.executable, "-m", "matrix", "explain"]
    done = subprocess.run(
        command,
        input="cannot pin '│' only dense CPU tensors can be pinned".encode(),
        capture_output=True,
        cwd=catalog.ROOT,
        env={**os.environ, "PYTHONIOENCODING": "cp1252"},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"cannot pin '\\u2502' only" in done.stdout


def test_the_version_is_the_packages():
    assert re.search(r"\d+\.\d+\.\d+", call("--version").output)


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")
@pytest.mark.parametrize(
    ("call", "status", "error"),
    [
        ("{} list >/dev/full", 3, "Error: the output cannot be written: No space left on device\n"),
        ("{} list --json >/dev/full", 3, "Error: the output cannot be written: No space left"),
        ("{} explain xyz 2>/dev/full >/dev/full", 3, ""),
        ("{} list >&-", 3, "Error: standard output is closed\n"),
        ("{} list 2>&-", 0, ""),
        ("{{ {} list; echo $? >&2; }} | head -1", 0, "141\n"),
    ],
)
def test_an_output_that_cannot_be_written_is_one_line_and_a_status(call, status, error):
    if "/dev/full" in call and not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    script = call.format(f'"{sys.executable}" -m matrix')
    done = subprocess.run(script, shell=True, cwd=catalog.ROOT, capture_output=True, text=True)
    assert done.returncode == status
    assert done.stderr.startswith(error)
    assert done.stderr.count("\n") <= 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["list", "--json"],
        ["explain", "--json", "ValueError: Attempting to unscale FP16 gradients."],
        ["explain", "--json", "RuntimeError: element 0 of tensors does not require grad and"],
    ],
)
@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python itself reads TOML from 3.11 on")
def test_the_answers_are_the_same_without_the_compiled_modules(arguments):
    program = "import sys; {}from matrix.commands import main; main()"
    with_and_without = [
        subprocess.run(
            [sys.executable, "-c", program.format(hide), *arguments],
            cwd=catalog.ROOT,
            capture_output=True,
            text=True,
        )
        for hide in ("", "sys.modules |= dict.fromkeys(['ahocorasick_rs', 'rtoml', 'regex']); ")
    ]
    assert with_and_without[0].stdout == with_and_without[1].stdout != ""
    assert with_and_without[0].returncode == with_and_without[1].returncode
