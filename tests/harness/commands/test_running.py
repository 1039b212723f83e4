import json
import subprocess
import sys

import pytest
from click.testing import CliRunner
from planted import plant, processor_seconds

from matrix import catalog, cli

BOOM = "def reproduce(device):\n    return 'boom'\n"
NOTHING = "def reproduce(device):\n    return None\n"


def call(*arguments):
    return CliRunner().invoke(cli.main, [str(argument) for argument in arguments], prog_name="torch-repros")


def test_list_names_every_reproducer_with_its_kind_versions_and_title():
    result = call("list")
    assert result.exit_code == 0
    for entry in catalog.load():
        assert entry.id in result.output
        assert entry.title in result.output


def test_list_as_json_is_the_headers():
    listed = json.loads(call("list", "amp", "--json").output)
    assert {item["id"] for item in listed} == {entry.id for entry in catalog.load() if entry.family == "amp"}
    (one,) = [item for item in listed if item["id"] == "amp/autocast_cache_under_no_grad"]
    assert one["affected"] == {"cpu": "<2.11", "cuda": "<2.11"}


def test_list_is_quick_and_never_imports_torch():
    assert processor_seconds("list") < 0.3


def test_show_explains_one_reproducer():
    output = call("show", "memory/cycles_exhaust_memory").output
    for part in (
        "empty_cache() frees nothing",
        "cuda  >=1.13",
        "mps   not applicable",
        "release() in reference_fixes/memory.py",
        "def popular_fix",
    ):
        assert part in output
    assert "stand-in: a meta tensor" in call("show", "data_loading/pin_device_tensor").output
    assert "never (a negative control)" in call("show", "rnn/backward_in_eval_mode").output


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("show", "amp/unscale_befor_scale"), "did you mean amp/unscale_before_scale"),
        (("list", "zzzzzz"), "`python -m matrix list` names them all"),
        (("show", "amp"), "'amp' is a family"),
        (("--repros", "/no/such/folder", "list"), "does not exist"),
    ],
)
def test_wrong_use_exits_with_2_and_says_what_was_expected(arguments, text):
    result = call(*arguments)
    assert result.exit_code == 2
    assert text in " ".join(result.output.split())


def test_a_bad_header_stops_with_every_mistake(root):
    plant(root, "planted/one", BOOM, kind='"slient"')
    plant(root, "planted/two", BOOM, fix='"amp"')
    result = call("--repros", root, "list")
    assert result.exit_code == 1
    assert "one.py:7: kind: 'slient'" in result.output
    assert "two.py:10: fix: 'amp'" in result.output


def test_help_teaches():
    assert "python -m matrix run amp --python" in call("--help").output


def test_a_reproducer_run_alone_exits_with_1_when_the_bug_is_there_and_0_when_it_is_not():
    for id, status, text in (
        ("loss/rewrapped_in_a_tensor", 1, "no parameter has a gradient"),
        ("amp/cuda_amp_off_cuda_keeps_the_graph", 0, ""),
    ):
        done = subprocess.run([sys.executable, catalog.REPROS / f"{id}.py"], capture_output=True, text=True)
        assert done.returncode == status
        assert text in done.stderr
