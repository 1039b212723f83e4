"""Tests the completions that a shell offers for the Tab key."""

import os
import shutil
import sys

import click
import pytest
from click.shell_completion import ShellComplete

from matrix import catalog, commands, torches
from matrix.devices import DEVICES
from tests.harness.helpers import RETURNS, in_terminal, plant

TWICE = "amp/unscale_twice"


def offered(*words):
    """The type and value of each completion of the last word."""
    shell = ShellComplete(commands.main, {}, "torch-repros", "_TORCH_REPROS_COMPLETE")
    *arguments, incomplete = words
    return [(one.type, one.value) for one in shell.get_completions(arguments, incomplete)]


def values(*words):
    return [value for _, value in offered(*words)]


@pytest.mark.parametrize(
    "words",
    [
        ("show", "amp/unscale_tw"),
        ("explain", "amp/unscale_tw"),
        ("bisect", "amp/unscale_tw"),
        ("cite", "amp/unscale_tw"),
        ("list", "amp/unscale_tw"),
        ("run", "loss", "amp/unscale_tw"),
        ("run", "--device", "cpu", "amp/unscale_tw"),
        ("record", "--only", "amp/unscale_tw"),
    ],
)
def test_an_id_is_completed(words):
    assert values(*words) == [TWICE]


def test_families_are_offered_where_they_may_be_named_and_ids_with_their_titles():
    assert values("run", "am")[0] == "amp"
    assert "amp" not in values("show", "am")
    shell = ShellComplete(commands.main, {}, "torch-repros", "_TORCH_REPROS_COMPLETE")
    (one,) = [item for item in shell.get_completions(["show"], TWICE) if item.value == TWICE]
    assert one.help == next(one.title for one in catalog.load() if one.id == TWICE)


@pytest.mark.parametrize(
    "words",
    [
        ("show", TWICE, "--torch", ""),
        ("explain", "--torch", ""),
        ("exec", "--torch", ""),
        ("cite", "--torch", ""),
        ("compare", ""),
        ("compare", "2.6", ""),
        ("record", ""),
        ("record", "2.6", ""),
        ("bisect", TWICE, "--good", ""),
        ("bisect", TWICE, "--bad", ""),
    ],
)
def test_a_release_is_completed(words):
    assert values(*words) == [torch.minor for torch in torches.load()]


def test_fixes_and_devices_are_completed():
    assert values("vendor", "") == catalog.fixes()
    assert values("vendor", "amp", "num") == ["numerics"]
    for command in ("run", "record", "bisect", "compare", "cite"):
        assert values(command, "--device", "") == list(DEVICES)


def test_files_are_left_to_the_shell():
    assert offered("explain", "") == [("file", "")]
    assert offered("explain", "crash.l") == [("file", "crash.l")]
    assert offered("show", "repros/amp/un") == [("file", "repros/amp/un")]
    for command in ("run", "record", "cite"):
        assert [kind for kind, _ in offered(command, "--python", "")] == ["file"]


def test_another_folder_of_reproducers_is_completed_from(root):
    plant(root, "planted/one", RETURNS.format("boom"))
    assert values("--repros", str(root), "show", "") == ["planted/one"]


def test_rules_are_completed_after_a_comma_too():
    assert "rnn" in values("scan", "--select", "")
    assert values("scan", "--select", "amp,rnn/predict") == ["amp,rnn/predict_leaves_eval_mode"]
    assert values("scan", "--ignore", "amp/autocast_cache") == []  # this reproducer has no rule


def test_every_argument_that_takes_a_name_completes_it():
    """A new command without completion fails this test."""
    metavars = {"ID", "FAMILY", "VERSION", "OLD", "NEW", "PATH"}
    forgotten = []
    for name in commands.main.places:
        command = commands.main.get_command(None, name)
        for parameter in command.params:
            words = {*(parameter.metavar or "").strip("[].").replace("]", "").split("|")}
            if words & metavars and type(parameter.type) is type(click.STRING):
                forgotten.append(f"{name} {parameter.name}")
    assert forgotten == []


@pytest.mark.skipif(sys.platform != "linux" or not shutil.which("bash"), reason="needs bash")
def test_bash_completes_an_id(tmp_path):
    script = tmp_path / "torch-repros"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m matrix "$@"\n')
    script.chmod(0o755)
    (tmp_path / "inputrc").write_text("set enable-bracketed-paste off\n")
    typed = (
        'eval "$(_TORCH_REPROS_COMPLETE=bash_source torch-repros)"\n'
        "torch-repros show amp/unscale_tw\t | head -2; exit\n"
    )
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    status, output = in_terminal(
        "bash",
        "--norc",
        "-i",
        typed=typed,
        env={"PATH": path, "INPUTRC": str(tmp_path / "inputrc")},
        cwd=catalog.ROOT,
    )
    assert status == 0
    assert f"\n{TWICE}\nCalling unscale_() for each batch" in output, output
