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
    return CliRunner().invoke(
        cli.main, [str(argument) for argument in arguments], prog_name="torch-repros"
    )


def test_list_names_every_reproducer_with_its_kind_versions_and_title():
    result = call("list")
    assert result.exit_code == 0
    for entry in catalog.load():
        assert entry.id in result.output
        assert entry.title in result.output


def test_list_as_json_is_the_headers():
    listed = json.loads(call("list", "amp", "--json").output)
    assert {item["id"] for item in listed} == {
        entry.id for entry in catalog.load() if entry.family == "amp"
    }
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
        (("run", "amq"), "did you mean amp"),
        (("list", "zzzzzz"), "`python -m matrix list` names them all"),
        (("show", "amp"), "'amp' is a family"),
        (("run", "--device", "tpu"), "'tpu' is not one of 'cpu', 'cuda', 'mps'"),
        (("run", "--repeat", "0"), "0 is not in the range"),
        (("run", "--timeout", "0"), "0.0 is not in the range"),
        (("run", "amp", "--bisect"), "--bisect needs exactly one ID"),
        (("run", "amp", "--json", "/no/such/folder/out.json"), "no folder /no/such/folder"),
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


def test_run_shows_the_table_writes_json_and_tells_by_its_exit_status(root, tmp_path):
    plant(
        root,
        "planted/fires",
        BOOM + "\n\ndef popular_fix(device):\n    return 'still'\n",
        affected='{ cpu = ">=1.13", mps = ">=1.13" }',
    )
    plant(root, "planted/quiet", NOTHING, affected='{ cpu = "never" }')
    plant(root, "planted/apple", BOOM, title='"only on Apple"', affected='{ mps = ">=1.13" }')
    file = tmp_path / "seen.json"
    result = call("--repros", root, "run", "--json", file, "--repeat", "2")
    assert result.exit_code == 0, result.output
    rows = {
        line.split()[0]: line for line in result.output.splitlines() if line.startswith("planted/")
    }
    assert rows["planted/fires"].split()[1:] == [
        "cpu",
        "reproduced",
        "2/2",
        "does",
        "not",
        "help",
        "boom",
    ]
    assert rows["planted/quiet"].split()[1:] == ["cpu", "absent", "2/2"]
    assert "needs mps" in rows["planted/apple"]
    assert "Everything is as the headers say." in result.output
    seen = json.loads(file.read_text())
    assert {(cell["id"], cell["device"], cell["verdict"]) for cell in seen["results"]} == {
        ("planted/fires", "cpu", "reproduced"),
        ("planted/fires", "mps", "unavailable"),
        ("planted/quiet", "cpu", "absent"),
        ("planted/apple", "mps", "unavailable"),
    }
    assert seen["build"]["torch"]
    assert seen["devices"]["mps"]["reason"]


def test_run_is_red_when_a_cell_differs_from_its_header(root):
    plant(root, "planted/vanished", NOTHING)
    result = call("--repros", root, "run", "--device", "cpu")
    assert result.exit_code == 1
    assert "planted/vanished on cpu: absent, but its header says reproduced" in result.output


def test_a_device_that_was_asked_for_and_cannot_be_used_is_red_with_the_reason(root):
    plant(root, "planted/one", BOOM)
    result = call("--repros", root, "run", "--device", "mps")
    assert result.exit_code == 3
    assert "no usable mps here: " in result.output


def test_an_interpreter_that_cannot_be_used_is_red_with_the_reason(root):
    plant(root, "planted/one", BOOM)
    result = call("--repros", root, "run", "--python", "/no/such/python")
    assert result.exit_code == 3
    assert "Error: cannot start /no/such/python" in result.output


@pytest.mark.parametrize(
    ("code", "header", "status"),
    [
        (BOOM, {}, 1),
        (NOTHING, {}, 0),
        ("def reproduce(device):\n    return 'thud'\n", {}, 125),
        (BOOM, {"requires": '">=99"'}, 125),
    ],
)
def test_bisect_speaks_the_exit_codes_of_git_bisect_run(root, code, header, status):
    plant(root, "planted/one", code, **header)
    assert (
        call("--repros", root, "run", "planted/one", "--device", "cpu", "--bisect").exit_code
        == status
    )


def test_help_teaches():
    assert "python -m matrix run amp --python" in call("--help").output
    assert "0 everything is as the headers say" in " ".join(call("run", "--help").output.split())


def test_a_reproducer_run_alone_exits_with_1_when_the_bug_is_there_and_0_when_it_is_not():
    for id, status, text in (
        ("loss/rewrapped_in_a_tensor", 1, "no parameter has a gradient"),
        ("amp/cuda_amp_off_cuda_keeps_the_graph", 0, ""),
    ):
        done = subprocess.run(
            [sys.executable, catalog.REPROS / f"{id}.py"], capture_output=True, text=True
        )
        assert done.returncode == status
        assert text in done.stderr
