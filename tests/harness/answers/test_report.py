import re
import subprocess
from dataclasses import replace

import pytest
from helpers import call
from recorded import measurement, record

from matrix import __version__, catalog
from matrix.answers import report
from matrix.evidence.states import States

REPRODUCERS = {reproducer.id: reproducer for reproducer in catalog.load()}


@pytest.mark.parametrize("venue", report.VENUES)
def test_every_venue_has_the_code_what_was_observed_what_was_expected_and_the_versions(venue):
    reproducer = REPRODUCERS["loss/mismatch_zero_is_silent"]
    records = [
        record(
            "2.4.1",
            {"loss/mismatch_zero_is_silent": measurement(text="saw this", hash=reproducer.hash)},
        )
    ]
    seen = report.from_records(reproducer, records, None)
    output = report.report(reproducer, seen, ["cpu: reproduced on 2.4"], venue)
    for part in (
        reproducer.title,
        'print(reproduce("cpu"))',
        "saw this",
        "5 of 5 runs on cpu; not measured on this machine",
        "or an error that says why there is none",
        "- cpu: reproduced on 2.4",
        "PyTorch version: 2.4.1",
        "repros/loss/mismatch_zero_is_silent.py",
    ):
        assert part in output
    assert "$" not in output


def test_github_reports_have_the_headings_of_pytorchs_form():
    output = call("cite", "amp/unscale_before_scale").output
    headings = re.findall(r"^#+ .*", output, re.MULTILINE)
    assert headings == ["### 🐛 Describe the bug", "### Versions"]


def test_the_templates_are_the_venues():
    assert {path.stem for path in report.TEMPLATES.glob("*.md")} == set(report.VENUES)


def test_every_kind_of_failure_has_what_was_expected_instead():
    assert set(report.EXPECTED) == set(catalog.KINDS)


def test_a_release_that_nobody_has_measured_yet_hides_nothing(monkeypatch):
    """One more line in torches.toml must not empty the list of what is unreported."""
    reproducer = REPRODUCERS["amp/fused_sgd_skip_leaves_garbage"]
    old = record(
        "2.3.1", {"amp/fused_sgd_skip_leaves_garbage": measurement("absent", hash=reproducer.hash)}
    )
    new = record("2.4.1", {"amp/fused_sgd_skip_leaves_garbage": measurement(hash=reproducer.hash)})
    assert report.unreported([reproducer], States([old, new])) == [reproducer]
    assert report.unreported([reproducer], States([old])) == []
    assert report.unreported([reproducer], States([])) == []


def test_only_what_nobody_reported_upstream_is_offered_as_new():
    refused = call("cite", "amp/autocast_cache_under_no_grad", "--upstream")
    assert refused.exit_code == 1
    assert (
        "is reported upstream already: https://github.com/pytorch/pytorch/issues/" in refused.output
    )
    offered = call("cite", "amp/fused_sgd_skip_leaves_garbage", "--upstream").output
    assert "Related, none of them in pytorch/pytorch:" in offered


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        ((), 2, "name a reproducer"),
        (("amp/no_such",), 2, "no reproducer or family 'amp/no_such'"),
        (("amp",), 2, "is a family"),
        (("amp/autocast_cache_under_no_grad", "--device", "mps"), 2, "does not concern mps"),
        (
            ("amp/unscale_twice", "--device", "mps"),
            1,
            "has no record on mps: measure it with --run",
        ),
        (("amp/unscale_twice", "--python", "x"), 2, "--python goes with --run"),
        (("amp/unscale_twice", "--run", "--python", "/no/such/python"), 3, "/no/such/python"),
    ],
)
def test_what_cannot_be_cited_is_one_message(arguments, status, text):
    result = call("cite", *arguments)
    assert result.exit_code == status, result.output
    assert text in " ".join(result.output.split())


GITHUB = "https://github.com/someone/torch-repros/blob/{commit}/repros/{id}.py"
ELSEWHERE = "torch-repros {version}, commit {short}, repros/{id}.py"


@pytest.fixture
def clone(tmp_path):
    def git(*arguments):
        command = [
            "git",
            "-C",
            str(tmp_path),
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            *arguments,
        ]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "x")
    return git


@pytest.mark.parametrize(
    ("origin", "link"),
    [
        ("git@github.com:someone/torch-repros.git", GITHUB),
        ("https://github.com/someone/torch-repros", GITHUB),
        ("/a/folder", ELSEWHERE),
        (None, ELSEWHERE),
    ],
)
def test_the_link_is_permanent_where_the_clone_has_a_public_origin(clone, tmp_path, origin, link):
    if origin:
        clone("remote", "add", "origin", origin)
    commit = clone("rev-parse", "HEAD")
    reproducer = replace(REPRODUCERS["amp/unscale_twice"], path=tmp_path / "unscale_twice.py")
    expected = link.format(commit=commit, short=commit[:12], version=__version__, id=reproducer.id)
    assert report.permalink(reproducer) == expected
    if link == GITHUB:
        clone("tag", "v1")
        assert "/blob/v1/" in report.permalink(reproducer)


def test_an_installed_package_does_not_take_the_repository_around_it_for_its_own(
    clone, tmp_path, monkeypatch
):
    clone("remote", "add", "origin", "https://github.com/user/project")
    monkeypatch.setattr(report, "CLONE", False)
    reproducer = replace(REPRODUCERS["amp/unscale_twice"], path=tmp_path / "unscale_twice.py")
    assert (
        report.permalink(reproducer) == f"torch-repros {__version__}, repros/amp/unscale_twice.py"
    )
