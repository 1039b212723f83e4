import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

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
    assert second.startswith("train.py:5:5: error: torch.nn.utils.clip_grad_norm_() clips")
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
        (("--write",), 2, "--write requires --fix"),
        (("--fix", "--format", "json"), 2, "only with --format text"),
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
    assert result.exit_code == 2  # 1 would mean that there are findings
    assert "pyproject.toml: x: unknown key" in result.output


@pytest.mark.parametrize("text", ["torch(", "import os\nprint 'no torch'\n"])
def test_a_file_that_is_not_read_has_an_exit_status_of_its_own(project, text):
    (project / "bad.py").write_text(text, encoding="utf-8")
    result = call("scan", "bad.py", "load.py")  # load.py has a note
    assert result.exit_code == 4
    assert "passed over: bad.py: not Python" in result.stderr
    assert call("scan", "bad.py").stdout == "nothing found in what was read\n"
    assert call("scan").exit_code == 1  # an error takes precedence
    assert call("scan", "--fix", "--write").exit_code == 4
    assert " 4 " in call("scan", "--help").output


def test_a_file_that_is_passed_over_is_named_on_stderr(project):
    (project / "bad.py").write_text("torch(", encoding="utf-8")
    result = call("scan", "--format", "json")
    assert "passed over: bad.py: not Python" in result.stderr
    assert json.loads(result.stdout)["passed_over"][0]["path"] == "bad.py"


HOSTILE = "a\n::error file=x.py::pwned\n\x1b[31m\x9b\u202e\u200b\u2028.py"
COMMANDS = ["::error file=x.py::pwned.py", "##[error]pwned.py"]


@pytest.mark.parametrize("name", [HOSTILE, *COMMANDS], ids=["lines", "command", "old command"])
@pytest.mark.parametrize("text", [BAD, "torch("], ids=["found", "passed over"])
@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
def test_a_file_name_gives_no_command_to_a_terminal_or_a_ci_log(project, name, text, form):
    (project / name).write_text(text, encoding="utf-8")
    result = call("scan", name, "--format", form)
    output = result.stdout + result.stderr
    assert not set("\x1b\x9b\u202e\u200b\u2028") & set(output)
    commands = [line for line in output.splitlines() if line.strip().startswith("::")]
    assert len(commands) == (form == "github" and text == BAD)
    assert "::error file=x.py" not in "".join(commands)
    assert form in ("json", "sarif") or "##[" not in result.stdout
    assert "##[" not in result.stderr


def test_git_applies_the_diff_of_a_file_with_a_hostile_name(project):
    (project / HOSTILE).write_text(BAD, encoding="utf-8")
    patch = call("scan", HOSTILE, "--fix").stdout.partition("a\\n::error")[0]
    assert "\n::error" not in patch
    subprocess.run(["git", "init", "-q", "."], check=True)
    subprocess.run(["git", "apply"], input=patch, text=True, check=True)
    assert "unscale_" in (project / HOSTILE).read_text(encoding="utf-8")


def test_a_fix_is_shown_and_made_only_with_write(project):
    before = (project / "train.py").read_text(encoding="utf-8")
    result = call("scan", "--fix")
    assert "+    scaler.unscale_(optimizer)\n" in result.output
    assert result.exit_code == 1
    assert (project / "train.py").read_text(encoding="utf-8") == before
    result = call("scan", "--fix", "--write")
    assert result.exit_code == 0  # only the note remains
    after = (project / "train.py").read_text(encoding="utf-8")
    assert after == before.replace("    torch.nn", "    scaler.unscale_(optimizer)\n    torch.nn")
    assert ids(call("scan", "--format", "json")) == {LAMBDA}


def test_a_file_that_cannot_be_fixed_is_named_and_still_found(project):
    (project / "train.py").write_bytes(BAD.replace("\n", "\r\n", 1).encode())
    result = call("scan", "train.py", "--fix", "--write")
    assert result.exit_code == 1
    assert "not fixed: train.py: its line endings are not uniform" in result.output


@pytest.mark.parametrize("form", ["sarif", "github"])
def test_other_programs_get_their_form(project, form):
    result = call("scan", "train.py", "--format", form)
    assert result.exit_code == 1
    if form == "sarif":
        (run,) = json.loads(result.stdout)["runs"]
        assert [one["ruleId"] for one in run["results"]] == [CLIP]
    else:
        assert result.stdout.startswith("::error file=train.py,line=5,")


@pytest.fixture
def git(project):
    """Returns a function that runs git in a repository whose branch `main` contains train.py."""

    def git(*arguments):
        own = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *own, *arguments], check=True, capture_output=True)

    git("init", "-b", "main")
    git("add", "train.py")
    git("commit", "-m", "one")
    git("switch", "-c", "branch")
    return git


def test_only_what_a_branch_has_brought(project, git, monkeypatch):
    result = call("scan", "--diff", "main", "--format", "json")
    assert ids(result) == {LAMBDA}  # in an untracked file
    monkeypatch.chdir("/")
    assert ids(call("scan", "--diff", "main", "--format", "json", str(project))) == {LAMBDA}


def test_a_line_that_a_branch_deletes_counts(project, git):
    good = BAD.replace("    torch.nn", "    scaler.unscale_(optimizer)\n    torch.nn")
    (project / "train.py").write_text(good, encoding="utf-8")
    git("commit", "-am", "right")
    git("branch", "-f", "main")
    assert call("scan", "--diff", "main").exit_code == 0
    (project / "train.py").write_text(BAD, encoding="utf-8")
    result = call("scan", "--diff", "main")
    assert result.exit_code == 1
    assert "train.py:5:5: error: " in result.output


@pytest.mark.parametrize(
    ("setting", "attributes", "variable"),
    [("8", "", ""), ("0", "*.py -diff\n", ""), ("0", "*.py binary\n", ""), ("0", "", "-u10")],
)
def test_no_setting_of_git_hides_what_a_branch_has_brought(
    project, git, monkeypatch, setting, attributes, variable
):
    (project / ".gitattributes").write_text(attributes, encoding="utf-8")
    git("config", "diff.interHunkContext", setting)
    monkeypatch.setenv("GIT_DIFF_OPTS", variable)
    lines = ["import torch"] + [f"a{number} = {number}" for number in range(12)]
    (project / "a.py").write_text("\n".join([*lines, ""]), encoding="utf-8")
    git("add", ".")
    git("commit", "-m", "two")
    git("branch", "-f", "main")
    lines[2] = lines[7] = "changed = 1"
    (project / "a.py").write_text("\n".join([*lines, ""]), encoding="utf-8")
    (project / "train.py").write_text(BAD.replace("1.0)", "2.0)"), encoding="utf-8")
    assert ids(call("scan", "--diff", "main", "--format", "json")) == {CLIP}


@pytest.mark.parametrize("name", ["--exclude=*.py", "--level"])
def test_no_file_name_is_an_option_of_the_hook(project, name):
    hook = (catalog.ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    (entry,) = re.findall(r"^  entry: torch-repros (.+)$", hook, re.M)
    (project / name).write_text("import torch\n", encoding="utf-8")
    assert call(*entry.split(), name, "train.py").exit_code == 1


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
    assert result.exit_code == 0  # a note, regardless of the result of its reproducer
    assert LAMBDA in result.output.split("1 note")[1]
    assert "All results match the headers." in result.output


def test_ctrl_c_ends_it_and_its_processes(project):
    steps = "".join(BAD.splitlines(keepends=True)[3:])
    for number in range(2):  # in each file, the rules reach their time limit
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
        children = Path(f"/proc/{program.pid}/task/{program.pid}/children")
        until = time.monotonic() + 60  # seconds, because the machine may be busy
        while children.exists() and len(children.read_text().split()) < 2:
            assert time.monotonic() < until
            time.sleep(0.1)
        time.sleep(0.5 if children.exists() else 3)
        os.killpg(program.pid, signal.SIGINT)  # like Ctrl-C in a terminal
        out, error = program.communicate(timeout=30)
    assert (program.returncode, out) == (130, "")
    assert "interrupted: nothing is shown" in error
