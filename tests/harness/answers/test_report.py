import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

from matrix import arguments, catalog, cite, cli

ENTRIES = {entry.id: entry for entry in catalog.load()}
FIVE = [
    "loss/mismatch_zero_is_silent",
    "numerics/clip_overflow_zeroes_step",
    "rnn/inference_mode_caches_a_table",
    "amp/last_window_is_dropped",
    "memory/loss_history_keeps_graph",
]


def cited(*arguments):
    return CliRunner().invoke(cli.main, ["cite", *arguments])


def run_code_of(report, folder):
    """What one gets who copies the code block into an empty file and runs it."""
    (code,) = re.findall(r"```python\n(.*?)\n```", report, re.DOTALL)
    file = folder / "pasted.py"
    file.write_text(code, encoding="utf-8")
    return subprocess.run([sys.executable, "-W", "ignore", str(file)], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("id", FIVE)
def test_the_code_of_a_report_pasted_into_an_empty_file_reproduces(id, tmp_path):
    result = cited(id, "--run", "--device", "cpu")
    assert result.exit_code == 0, result.output
    printed = run_code_of(result.output, tmp_path)
    assert re.search(ENTRIES[id].symptom, printed)
    assert "Measured on this machine, on cpu." in result.output
    assert re.search(r"^PyTorch version: ", result.output, re.MULTILINE)


@pytest.mark.parametrize("venue", arguments.VENUES)
def test_every_venue_has_the_code_what_was_observed_what_was_expected_and_the_versions(venue):
    output = cited("loss/mismatch_zero_is_silent", "--venue", venue).output
    for part in (
        ENTRIES["loss/mismatch_zero_is_silent"].title,
        'print(reproduce("cpu"))',
        "0 of 2 parameters have a gradient",
        "5 of 5 runs on cpu; not measured on this machine",
        "or an error that says why there is none",
        "cpu: reproduced on 1.13 to 2.15",
        "cuda: unknown on 1.13 to 2.15",
        "PyTorch version: 2.15.0",
        "repros/loss/mismatch_zero_is_silent.py",
    ):
        assert part in output


def test_github_reports_have_the_headings_of_pytorch_s_form():
    output = cited("amp/unscale_before_scale").output
    assert re.findall(r"^#+ .*", output, re.MULTILINE) == ["### 🐛 Describe the bug", "### Versions"]


def test_only_what_nobody_reported_upstream_is_offered_as_new():
    listed = cited("--upstream").output
    assert "amp/fused_sgd_skip_leaves_garbage" in listed
    assert "amp/autocast_cache_under_no_grad" not in listed
    refused = cited("amp/autocast_cache_under_no_grad", "--upstream")
    assert refused.exit_code == 1
    assert "is reported upstream already: https://github.com/pytorch/pytorch/issues/" in refused.output
    assert "Related, none of them in pytorch/pytorch:" in cited("amp/fused_sgd_skip_leaves_garbage", "--upstream").output


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        ((), 2, "name a reproducer"),
        (("amp/no_such",), 2, "no reproducer or family 'amp/no_such'"),
        (("amp",), 2, "is a family"),
        (("amp/autocast_cache_under_no_grad", "--device", "mps"), 2, "does not concern mps"),
        (("amp/unscale_twice", "--device", "mps"), 1, "has no record on mps: measure it with --run"),
        (("amp/unscale_twice", "--python", "x"), 2, "--python goes with --run"),
        (("amp/unscale_twice", "--run", "--python", "/no/such/python"), 3, "/no/such/python"),
    ],
)
def test_what_cannot_be_cited_is_said_in_one_message(arguments, status, text):
    result = cited(*arguments)
    assert result.exit_code == status, result.output
    assert text in result.output


@pytest.mark.parametrize(
    ("origin", "link"),
    [
        ("git@github.com:someone/torch-repros.git", "https://github.com/someone/torch-repros/blob/{commit}/repros/{id}.py"),
        ("https://github.com/someone/torch-repros", "https://github.com/someone/torch-repros/blob/{commit}/repros/{id}.py"),
        ("/a/folder", "torch-repros {version}, commit {short}, repros/{id}.py"),
        (None, "torch-repros {version}, commit {short}, repros/{id}.py"),
    ],
)
def test_the_link_is_permanent_where_the_clone_has_a_public_origin(tmp_path, origin, link):
    from dataclasses import replace

    from matrix import __version__

    def git(*arguments):
        command = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "x")
    if origin:
        git("remote", "add", "origin", origin)
    commit = git("rev-parse", "HEAD")
    entry = replace(ENTRIES["amp/unscale_twice"], path=tmp_path / "unscale_twice.py")
    assert cite.permalink(entry) == link.format(commit=commit, short=commit[:12], version=__version__, id=entry.id)
    git("tag", "v1")
    if origin and "github" in origin:
        assert "/blob/v1/" in cite.permalink(entry)
