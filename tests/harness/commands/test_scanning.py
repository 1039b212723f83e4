import json
import os
import signal
import subprocess
import sys
import time

import pytest

from matrix import catalog
from tests.harness.helpers import RETURNS, call, plant

BAD = """\
import torch

def train(scaler, optimizer, model, loss):
    scaler.scale(loss).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
"""
NOTE = """\
from torch.utils.data import DataLoader

def loader(rows):
    return DataLoader(rows, num_workers=1,
                      collate_fn=lambda batch: batch[0])
"""
CLIP, LAMBDA = "amp/clip_before_unscale", "data_loading/lambda_cannot_be_pickled"


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(BAD, encoding="utf-8")
    (tmp_path / "load.py").write_text(NOTE, encoding="utf-8")
    return tmp_path


def ids(result):
    return {one["id"] for one in json.loads(result.stdout)["findings"]}


def test_the_current_folder_is_read_and_everything_is_said(project):
    result = call("scan")
    assert result.exit_code == 1
    first, second = result.output.splitlines()[:2]
    assert first.startswith("load.py:5:34: note: ")
    assert second.startswith("train.py:5:5: error: torch.nn.utils.clip_grad_norm_() shortens")
    assert "(when AMP is on" in second
    assert second.endswith(f"[{CLIP}]")
    assert f"{CLIP}: Clipping gradients before unscale_()" in result.output
    assert "reproduced on 2.3 to " in result.output
    assert "scaler.unscale_(optimizer)" in result.output
    assert "torch-repros vendor amp --into DIR" in result.output
    assert result.output.splitlines()[-1] == "1 error, 1 note; `--fix` shows edits for 1"


def test_notes_alone_are_no_failure(project):
    assert call("scan", "load.py").exit_code == 0
    (project / "train.py").write_text("import torch\n", encoding="utf-8")
    result = call("scan", "train.py")
    assert (result.exit_code, result.output) == (0, "nothing found\n")


def test_the_torch_that_is_named_is_spoken_of(project):
    assert "on torch 2.2: cpu unavailable" in call("scan", "--torch", "2.2").output


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ((), {CLIP, LAMBDA}),
        (("--select", "amp"), {CLIP}),
        (("--select", f"rnn,{LAMBDA}"), {LAMBDA}),
        (("--ignore", CLIP), {LAMBDA}),
        (("--ignore", "amp", "--ignore", "data_loading"), set()),
        (("--level", "warning"), {CLIP}),
        (("--exclude", "tr*.py"), {LAMBDA}),
    ],
)
def test_what_is_looked_for_can_be_chosen(project, options, found):
    assert ids(call("scan", "--format", "json", *options)) == found


def test_settings_of_the_project_count_and_options_come_first(project):
    (project / "pyproject.toml").write_text(
        '[tool.torch-repros.scan]\nselect = ["data_loading"]\nexclude = ["old"]\n', encoding="utf-8"
    )
    (project / "old").mkdir()
    (project / "old/load.py").write_text(NOTE, encoding="utf-8")
    result = call("scan", "--format", "json")
    assert [one["path"] for one in json.loads(result.stdout)["findings"]] == ["load.py"]
    assert ids(call("scan", "--format", "json", "--select", "amp")) == {CLIP}


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("--select", "amp/clip_befor_unscale"), 2, f"did you mean {CLIP}"),
        (("--ignore", "amp/half_linear_on_the_cpu"), 2, "no rule or family of rules"),
        (("missing.py",), 2, "does not exist"),
        (("--write",), 2, "--write goes with --fix"),
        (("--fix", "--format", "json"), 2, "--format text alone"),
        (("--diff", "main"), 2, "--diff: fatal: not a git repository"),
        (("--format", "xml"), 2, "is not one of"),
    ],
)
def test_wrong_use_is_told(project, arguments, status, said):
    result = call("scan", *arguments)
    assert result.exit_code == status
    assert said in result.output


def test_settings_that_mean_nothing_end_it(project):
    (project / "pyproject.toml").write_text("[tool.torch-repros.scan]\nx = []", encoding="utf-8")
    result = call("scan")
    assert result.exit_code == 2  # 1 would say that something was found
    assert "pyproject.toml: unknown key 'x'" in result.output


def test_a_file_that_is_passed_over_is_named_on_stderr(project):
    (project / "bad.py").write_text("torch(", encoding="utf-8")
    result = call("scan", "--format", "json")
    assert "passed over: bad.py: not Python" in result.stderr
    assert json.loads(result.stdout)["passed_over"][0]["path"] == "bad.py"


def test_a_fix_is_shown_and_made_only_with_write(project):
    before = (project / "train.py").read_text(encoding="utf-8")
    result = call("scan", "--fix")
    assert "+    scaler.unscale_(optimizer)\n" in result.output
    assert result.exit_code == 1
    assert (project / "train.py").read_text(encoding="utf-8") == before
    result = call("scan", "--fix", "--write")
    assert result.exit_code == 0  # the note is left
    after = (project / "train.py").read_text(encoding="utf-8")
    assert after == before.replace("    torch.nn", "    scaler.unscale_(optimizer)\n    torch.nn")
    assert ids(call("scan", "--format", "json")) == {LAMBDA}


def test_a_file_that_cannot_be_fixed_is_named_and_still_found(project):
    (project / "train.py").write_bytes(BAD.replace("\n", "\r\n", 1).encode())
    result = call("scan", "train.py", "--fix", "--write")
    assert result.exit_code == 1
    assert "not fixed: train.py: its lines end in different ways" in result.output


@pytest.mark.parametrize("form", ["sarif", "github"])
def test_other_programs_get_their_form(project, form):
    result = call("scan", "train.py", "--format", form)
    assert result.exit_code == 1
    if form == "sarif":
        (run,) = json.loads(result.stdout)["runs"]
        assert [one["ruleId"] for one in run["results"]] == [CLIP]
    else:
        assert result.stdout.startswith("::error file=train.py,line=5,")


def test_only_what_a_branch_changed(project, monkeypatch):
    def git(*arguments):
        own = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *own, *arguments], check=True, capture_output=True)

    git("init", "-b", "main")
    git("add", "train.py")
    git("commit", "-m", "one")
    result = call("scan", "--diff", "main", "--format", "json")
    assert ids(result) == {LAMBDA}  # untracked
    monkeypatch.chdir("/")
    assert ids(call("scan", "--diff", "main", "--format", "json", str(project))) == {LAMBDA}


def test_what_was_found_is_run_on_the_torch_of_an_interpreter(project):
    result = call("scan", "--run", "--python", "/nowhere/python")
    assert result.exit_code == 3
    assert "cannot start /nowhere/python" in result.output
    assert call("scan", "load.py", "--ignore", "data_loading", "--run").exit_code == 0


def test_list_names_the_rules():
    result = call("list", "--rules", "amp")
    assert f"  {CLIP} " in result.output
    assert "amp/half_linear_on_the_cpu" not in result.output
    assert "  error  " in result.output


def test_the_reproducers_of_what_was_found_are_run(project, root):
    plant(root, LAMBDA, RETURNS.format("boom"), rule='"note"')
    result = call("--repros", root, "scan", "load.py", "--run")
    assert result.exit_code == 0  # a note, whatever its reproducer shows
    assert LAMBDA in result.output.split("1 note")[1]
    assert "All results match the headers." in result.output


def test_ctrl_c_ends_it_and_its_processes(project):
    steps = "".join(BAD.splitlines(keepends=True)[3:])
    for number in range(2):  # each takes the rules all the seconds that they may take
        (project / f"{number}.py").write_text(BAD + steps * 3000, encoding="utf-8")
    command = [sys.executable, "-m", "matrix", "scan", str(project), "--jobs", "2"]
    with subprocess.Popen(
        command,
        cwd=catalog.ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as program:
        time.sleep(3)
        os.killpg(program.pid, signal.SIGINT)  # as a terminal does
        out, error = program.communicate(timeout=30)
    assert (program.returncode, out) == (130, "")
    assert "interrupted: nothing is shown" in error
