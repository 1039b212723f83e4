import json

from matrix import catalog, commands, devices
from matrix.commands import options
from tests.harness.helpers import AT_ONCE, RETURNS, call, plant, relative_cost


def test_list_names_every_reproducer_with_its_title_and_a_retired_one_when_it_is_named():
    result = call("list")
    assert result.exit_code == 0
    for reproducer in catalog.load():
        assert (reproducer.title in result.output) != bool(reproducer.retired)
        if reproducer.retired:
            assert f"{reproducer.title}  [retired]" in call("list", reproducer.id).output


def test_list_as_json_has_every_key_of_the_header_and_every_verdict():
    listed = json.loads(call("list", "amp", "--json").output)
    assert {item["id"] for item in listed} == {
        one.id for one in catalog.load() if one.family == "amp"
    }
    (one,) = [item for item in listed if item["id"] == "amp/autocast_cache_under_no_grad"]
    assert set(one) == {"id", "verdicts", *catalog.HEADER_KEYS}
    assert set(one["verdicts"]) == {"cpu", "cuda"}
    cells = one["verdicts"]["cpu"]
    assert (cells["2.10"]["verdict"], cells["2.11"]["verdict"]) == ("reproduced", "absent")
    assert cells["2.10"]["date"] >= "2026"
    assert one["verdicts"]["cuda"]["2.10"] in (
        {"verdict": "unknown", "expected": "reproduced", "date": ""},
        {**cells["2.10"], "date": one["verdicts"]["cuda"]["2.10"]["date"]},  # once measured on CUDA
    )
    assert one["affected"] == {"cpu": "<2.11", "cuda": "<2.11"}


def test_the_devices_are_listed_for_scripts():
    listed = json.loads(call("list", "--devices", "--json").output)
    assert [row["name"] for row in listed] == list(devices.DEVICES)
    assert all(row["runner"] for row in listed)


def test_list_is_quick_and_never_imports_torch():
    assert relative_cost("list") < AT_ONCE


def test_show_has_everything_about_one_reproducer():
    output = call("show", "memory/retry_inside_except").output
    for part in (
        "empty_cache() in the block frees none",
        "cuda",
        "free_memory() of reference_fixes/memory.py",
        "def popular_fix",
    ):
        assert part in output
    assert "stand-in: a meta tensor" in call("show", "data_loading/pin_device_tensor").output


def test_show_and_explain_print_the_same_of_an_id():
    id = "amp/autocast_cache_under_no_grad"
    assert call("show", id).output == call("explain", id).output


def test_a_bad_file_is_named_and_the_others_are_listed(root):
    plant(root, "planted/one", RETURNS.format("boom"), kind="4")
    plant(root, "planted/two", RETURNS.format("boom"))
    result = call("--repros", root, "list")
    assert result.exit_code == 0
    assert "one.py:7: kind: 4 is not a string" in result.output
    assert "planted/two" in result.output
    assert call("--repros", root, "search", "planted").exit_code == 0


def test_a_bad_value_is_named_by_the_commands_that_use_it(root):
    plant(root, "planted/one", RETURNS.format("boom"), messages="['a(b']")
    plant(root, "planted/two", RETURNS.format("boom"))
    assert "planted/one" in call("--repros", root, "list").output
    for command in (("search", "planted"), ("explain", "boom boom"), ("show", "planted/two")):
        assert "one.py:14: messages: 'a(b' is not a" in call("--repros", root, *command).output


def test_a_bad_file_is_named_once_however_often_the_reproducers_are_asked_for(root, capsys):
    plant(root, "planted/one", RETURNS.format("boom"), kind='"slient"')
    plant(root, "planted/two", RETURNS.format("boom"))
    with commands.main.make_context("torch-repros", ["--repros", str(root), "list"]) as context:
        context.obj = options.State(root)
        options.load()
        assert len(options.problems()) == 1
    assert capsys.readouterr().err.count("left out: ") == 1


def test_a_retired_reproducer_is_marked(root):
    plant(root, "planted/one", RETURNS.format("boom"), retired='"never was a bug"')
    assert "planted  [retired]" in call("--repros", root, "list", "planted").output


def test_a_folder_of_bad_files_alone_is_an_error(root):
    plant(root, "planted/one", RETURNS.format("boom"), kind="4")
    result = call("--repros", root, "list")
    assert result.exit_code == 1
    assert "no reproducer can be read" in result.output
