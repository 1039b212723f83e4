import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from matrix import catalog, devices, verdicts
from matrix.commands import table
from matrix.run.runner import Report
from tests.harness.helpers import RETURNS, call, plant

BOOM, NOTHING = RETURNS.format("boom"), RETURNS.format(None)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("amq",), "did you mean amp"),
        (("--device", "tpu"), "'tpu' is not one of 'cpu', 'cuda', 'mps'"),
        (("--repeat", "0"), "0 is not in the range"),
        (("--timeout", "0"), "0 is not a positive number of seconds up to 600"),
        (("--timeout", "nan"), "nan is not a positive number of seconds up to 600"),
        (("--timeout", "inf"), "inf is not a positive number of seconds up to 600"),
        (("amp", "--git-bisect"), "--git-bisect needs exactly one ID"),
        (
            ("amp", "--json", "/no/such/folder/out.json"),
            "the folder /no/such/folder does not exist",
        ),
    ],
)
def test_wrong_use_exits_with_2_and_names_what_was_expected(arguments, text):
    result = call("run", *arguments)
    assert result.exit_code == 2
    assert text in " ".join(result.output.split())


def test_run_shows_the_table_writes_json_and_exits_with_0(root, tmp_path):
    still = BOOM + "\n\ndef popular_fix(device):\n    return 'still'\n"
    plant(root, "planted/fires", still, affected='{ cpu = ">=1.13", mps = ">=1.13" }')
    plant(root, "planted/quiet", NOTHING, affected='{ cpu = "never" }')
    plant(root, "planted/apple", BOOM, title='"only on Apple"', affected='{ mps = ">=1.13" }')
    file = tmp_path / "seen.json"
    result = call("--repros", root, "run", "-v", "--json", file, "--repeat", "2")
    assert result.exit_code == 0, result.output
    rows = {line.split()[0]: line for line in result.output.splitlines() if "planted/" in line}
    fires = ["cpu", "reproduced", "2/2", "does", "not", "help", "boom"]
    assert rows["planted/fires"].split()[1:] == fires
    assert rows["planted/quiet"].split()[1:] == ["cpu", "absent", "2/2"]
    assert "needs mps" in rows["planted/apple"]
    assert "1 reproduced, 1 absent" in result.output
    assert "All results match the headers." in result.output
    seen = json.loads(file.read_text())
    assert {(cell["id"], cell["device"], cell["verdict"]) for cell in seen["results"]} == {
        ("planted/fires", "cpu", "reproduced"),
        ("planted/fires", "mps", "unavailable"),
        ("planted/quiet", "cpu", "absent"),
        ("planted/apple", "mps", "unavailable"),
    }
    assert seen["build"]["torch"]
    assert seen["devices"]["mps"]["reason"]


def test_run_exits_with_1_when_a_result_differs_from_its_header(root):
    plant(root, "planted/vanished", NOTHING)
    result = call("--repros", root, "run", "--device", "cpu")
    assert result.exit_code == 1
    assert "planted/vanished on cpu: absent, but its header says reproduced" in result.output


def test_run_exits_with_1_when_a_file_was_left_out_and_runs_the_rest(root):
    plant(root, "planted/one", BOOM)
    plant(root, "planted/two", BOOM, kind='"slient"')
    result = call("--repros", root, "run", "-v", "--device", "cpu")
    assert result.exit_code == 1
    assert "two.py:7: kind: 'slient'" in result.output
    assert re.search("planted/one +cpu +reproduced", result.output)


def test_one_bad_return_value_costs_one_row(root, tmp_path):
    plant(root, "planted/dictionary", RETURNS.format({"a": 1}))
    plant(root, "planted/good", BOOM)
    plant(root, "planted/surrogate", RETURNS.format("boom \ud800"))
    file = tmp_path / "seen.json"
    result = call("--repros", root, "run", "-v", "--device", "cpu", "--json", file)
    assert result.exit_code == 1, result.exception
    assert re.search("planted/dictionary +cpu +broken", result.output)
    assert re.search("planted/good +cpu +reproduced", result.output)
    assert re.search(r"planted/surrogate +cpu +reproduced +boom \\ud800", result.output)
    assert len(json.loads(file.read_text())["results"]) == 3


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")
def test_a_file_that_cannot_be_written_costs_no_table(root):
    plant(root, "planted/good", BOOM)
    result = call("--repros", root, "run", "-v", "--device", "cpu", "--json", "/dev/full")
    assert re.search("planted/good +cpu +reproduced", result.output)
    assert result.exit_code == 2
    assert "Error: --json: /dev/full: No space left on device" in result.output


def test_a_terminal_that_knows_ascii_alone_costs_no_table(root):
    plant(root, "planted/good", RETURNS.format("boom \u2603"))
    done = subprocess.run(
        [sys.executable, "-m", "matrix", "--repros", root, "run", "-v", "--device", "cpu"],
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
        capture_output=True,
        encoding="utf-8",  # click treats ASCII as UTF-8
        cwd=catalog.ROOT,
    )
    assert done.returncode == 0, done.stderr
    assert re.search("planted/good +cpu +reproduced +boom \u2603", done.stdout)


def test_a_device_that_was_asked_for_and_cannot_be_used_exits_with_3_and_the_reason(root):
    plant(root, "planted/one", BOOM)
    result = call("--repros", root, "run", "--device", "mps")
    assert result.exit_code == 3
    assert (
        f"Error: {devices.unusable('mps', 'AssertionError: the stub has no mps')}" in result.output
    )


def test_an_interpreter_that_cannot_be_used_exits_with_3_and_the_reason(root):
    plant(root, "planted/one", BOOM)
    for python, text in (("/no/such/python", "cannot start"), ("/bin/echo", "expected a Python")):
        result = call("--repros", root, "run", "--python", python)
        assert result.exit_code == 3
        assert result.output.startswith("Error: ")
        assert text in result.output


@pytest.mark.parametrize(
    ("code", "header", "status"),
    [
        (BOOM, {}, 1),
        (NOTHING, {}, 0),
        (RETURNS.format("thud"), {}, 125),
        (BOOM, {"requires": '">=99"'}, 125),
    ],
)
def test_git_bisect_run_gets_the_exit_codes_that_it_expects(root, code, header, status):
    plant(root, "planted/one", code, **header)
    result = call("--repros", root, "run", "planted/one", "--device", "cpu", "--git-bisect")
    assert result.exit_code == status


def test_ctrl_c_shows_what_was_measured_and_exits_with_130(root, tmp_path):
    plant(root, "planted/a_quick", BOOM)
    note = tmp_path / "note"
    body = f"    open({str(note)!r}, 'w')\n    time.sleep(60)\n"
    waits = f"import time\n\n\ndef reproduce(device):\n{body}"
    plant(root, "planted/b_waits", waits, timeout="60")
    plant(root, "planted/c_last", BOOM)
    command = [
        sys.executable,
        "-m",
        "matrix",
        "--repros",
        root,
        "run",
        "-v",
        "--device",
        "cpu",
        "--jobs",
        "1",
    ]
    driver = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=catalog.ROOT
    )
    deadline = time.monotonic() + 60
    while not note.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    driver.send_signal(signal.SIGINT)
    output, errors = driver.communicate(timeout=30)
    assert driver.returncode == 130
    assert re.search("planted/a_quick +cpu +reproduced", output)
    assert "planted/b_waits" not in output
    assert errors.splitlines()[-1] == "interrupted: 2 of 3 not run"


def test_help_states_the_exit_status():
    help = " ".join(call("run", "--help").output.split())
    assert "Exit status: 0 if all results match the headers; 1 if some differ, or if a" in help
    assert "3 if a requested device or interpreter is unavailable; 130 if interrupted." in help


def large_report(count, root):
    plant(root, "planted/one", BOOM)
    (one,) = catalog.load(root)
    reproducers, results = [], []
    for number in range(count):
        values = {**vars(one), "id": f"planted/r{number}"}
        reproducers.append(
            catalog.Reproducer(**{name: values[name] for name in one.__dataclass_fields__})
        )
        results.append(verdicts.Result(f"planted/r{number}", "cpu", "reproduced", "reproduced"))
    build = {"torch": "2.0", "python": "3.11", "os": "Linux"}
    state = {"ok": True, "reason": "", "name": "x"}
    return Report(build, {"cpu": state}, results), reproducers


def test_the_time_of_the_table_grows_with_its_length_and_not_with_its_square(root):
    def seconds(count):
        report, reproducers = large_report(count, root)
        taken = []
        for _ in range(7):
            started = time.process_time()
            assert len(table._rows(report, reproducers)) == count
            taken.append(time.process_time() - started)
        return min(taken)

    assert seconds(16_000) < 4 * 16 * seconds(1000)  # quadratic time would be 16 * 16


def test_a_verdict_of_repeats_is_never_cut(root, capsys):
    report, reproducers = large_report(1, root)
    result = report.results[0]
    result.expected, result.runs, result.agreeing = "absent", 10, 10
    table.show(report, reproducers, each=True, families=False)
    assert "reproduced 10/10 (!)" in capsys.readouterr().out


@pytest.fixture
def several(root):
    plant(root, "planted/as_stated", BOOM)
    plant(root, "planted/gone", NOTHING)
    plant(root, "sown/as_stated", BOOM)
    return root


def test_a_run_shows_what_differs_and_counts_per_family(several):
    result = call("--repros", several, "run", "--device", "cpu")
    assert result.exit_code == 1
    assert re.search(r"^family +device +reproduced +absent +differ \(!\)$", result.output, re.M)
    assert re.search(r"^planted +cpu +1 +1 +1$", result.output, re.M)
    assert re.search(r"^sown +cpu +1$", result.output, re.M)
    assert "planted/gone on cpu: absent, but its header says reproduced" in result.output
    assert "as_stated" not in result.output
    assert "`torch-repros run -v` shows each result." in result.output


def test_each_result_is_shown_when_it_is_asked_for_by_id_or_with_v(several):
    result = call("--repros", several, "run", "sown/as_stated", "--device", "cpu")
    assert re.search("sown/as_stated +cpu +reproduced +boom", result.output)
    assert "family" not in result.output
    path = several / "sown/as_stated.py"
    result = call("--repros", several, "run", path, "--device", "cpu")
    assert re.search("sown/as_stated +cpu +reproduced +boom", result.output)
    result = call("--repros", several, "run", "sown", "-v", "--device", "cpu")
    assert re.search("sown/as_stated +cpu +reproduced +boom", result.output)
    assert re.search("family +device", result.output)


def test_only_what_asks_for_something_to_be_done_has_a_colour(several):
    lines = call("--repros", several, "run", "-v", "--device", "cpu", color=True).output.split("\n")
    coloured = [line for line in lines if "\x1b[3" in line]
    assert [("planted/gone" in line, "differ from" in line) for line in coloured] == [
        (True, False),
        (False, True),
    ]


@pytest.mark.parametrize("columns", [60, 100])
def test_the_table_loses_nothing_in_a_terminal(root, monkeypatch, columns):
    words = "a measured fact that takes more than one line of a terminal, and then some more of it"
    still = RETURNS.format(words) + "\n\ndef popular_fix(device):\n    return 'still'\n"
    plant(root, "planted/with_a_name_that_takes_its_room", still, symptom='"measured"')
    monkeypatch.setattr(table.wrapping, "width", lambda stream: columns)
    output = call("--repros", root, "run", "-v", "--device", "cpu").output
    assert max(map(len, output.splitlines())) <= columns
    for part in ("planted/with_a_name_that_takes_its_room", "cpu", "reproduced", "does not help"):
        assert part in output
    assert words in " ".join(output.split())
