import re
import subprocess
from dataclasses import replace

import pytest
from helpers import RETURNS, call, plant
from recorded import measurement, record

from matrix import __version__, catalog
from matrix.answers import report
from matrix.evidence.states import States
from matrix.verdicts import VERDICTS

REPRODUCERS = {reproducer.id: reproducer for reproducer in catalog.load()}


ID = "amp/one"


@pytest.fixture
def planted(root):
    """plant(**header) -> the reproducer, a bug of PyTorch where nothing else is said."""

    def planted(**header):
        reports = '["https://github.com/someone/project/issues/1"]'
        values = {"origin": '"torch"', "reports": reports, "kind": '"silent"', **header}
        plant(root, ID, RETURNS.format("boom"), **values)
        return catalog.load(root)[0]

    return planted


def measured(reproducer, verdicts, device="cpu"):
    """Records: torch version -> verdict."""
    return [
        record(
            torch,
            {ID: measurement(verdict, text="saw this", hash=reproducer.hash)},
            device=device,
            **({} if device == "cpu" else {"gpu": "A GPU"}),
        )
        for torch, verdict in verdicts.items()
    ]


@pytest.mark.parametrize("venue", report.VENUES)
def test_every_venue_has_the_code_what_was_observed_what_was_expected_and_the_versions(
    planted, venue
):
    reproducer = planted()
    seen = report.from_records(reproducer, measured(reproducer, {"2.4.1": "reproduced"}), None)
    output = report.report(reproducer, seen, ["cpu: measured"], venue)
    for part in (
        reproducer.title,
        'else "cpu", []',
        "saw this",
        "5 of 5 runs on cpu; not measured on this machine",
        "or an error that says why there is none",
        "- cpu: measured",
        "PyTorch version: 2.4.1",
        "repros/amp/one.py",
        *(["Origin: torch (a bug of PyTorch)."] if venue != "github" else []),
    ):
        assert part in output
    assert "$" not in output


def test_github_reports_have_the_headings_of_pytorchs_form(planted):
    reproducer = planted()
    seen = report.from_records(reproducer, measured(reproducer, {"2.4.1": "reproduced"}), None)
    output = report.report(reproducer, seen, [])
    headings = re.findall(r"^#+ .*", output, re.MULTILINE)
    assert headings == ["### 🐛 Describe the bug", "### Versions"]
    assert "Reported before:\n\n- https://github.com/someone/project/issues/1" in output


def test_what_is_absent_on_that_torch_is_not_reported(planted):
    """It says since when, and by which change; an older release may be named."""
    reproducer = planted(affected='{ cpu = "<2.11" }', fixed_by='"pytorch#7"')
    records = measured(reproducer, {"2.10.1": "reproduced", "2.11.0": "absent"})
    ranges = ["cpu: measured 2026-01-01: reproduced on 2.10, absent on 2.11"]
    with pytest.raises(report.ReportError) as refused:
        report.report(reproducer, report.from_records(reproducer, records, None), ranges)
    assert str(refused.value).splitlines() == [
        "amp/one is absent on torch 2.11.0, cpu",
        "  fixed by pytorch#7: https://github.com/pytorch/pytorch/pull/7",
        "  cpu: measured 2026-01-01: reproduced on 2.10, absent on 2.11",
        "  name an older release with --torch to quote its record",
    ]
    seen = report.from_records(reproducer, records, None, "2.10")
    assert "PyTorch version: 2.10.1" in report.report(reproducer, seen, ranges)


def test_a_device_that_is_affected_is_picked(planted):
    reproducer = planted(affected='{ cpu = "never", cuda = ">=2.0" }')
    on_cpu = measured(reproducer, {"2.4.1": "absent"})
    with pytest.raises(report.ReportError, match="has no record on cuda: measure it with --run"):
        report.from_records(reproducer, on_cpu, None)
    on_cuda = measured(reproducer, {"2.4.1": "reproduced"}, "cuda")
    assert report.from_records(reproducer, on_cpu + on_cuda, None).device == "cuda"


@pytest.mark.parametrize("verdict", [name for name in VERDICTS if name != "reproduced"])
def test_nothing_but_a_reproduced_bug_is_reported(planted, verdict):
    reproducer = planted()
    seen = report.from_records(reproducer, measured(reproducer, {"2.4.1": verdict}), None)
    with pytest.raises(report.ReportError, match=f"is {verdict} on torch 2.4.1, cpu"):
        report.report(reproducer, seen, [])


@pytest.mark.parametrize("origin", ["design", "usage"])
def test_only_a_bug_of_pytorch_is_reported_to_pytorch(planted, origin):
    reproducer = planted(origin=f'"{origin}"')
    seen = report.from_records(reproducer, measured(reproducer, {"2.4.1": "reproduced"}), None)
    for options in ({"venue": "github"}, {"upstream": True}):
        with pytest.raises(report.ReportError, match="is no bug to report to PyTorch"):
            report.report(reproducer, seen, [], **options)
    assert f"Origin: {origin} (" in report.report(reproducer, seen, [])  # for a forum
    assert "### Versions" not in report.report(reproducer, seen, [])


def test_what_is_reported_upstream_is_not_offered_as_new(planted):
    link = "https://github.com/pytorch/pytorch/issues/5"
    reproducer = planted(reports=f'["{link}"]')
    records = measured(reproducer, {"2.4.1": "reproduced"})
    seen = report.from_records(reproducer, records, None)
    with pytest.raises(report.ReportError, match=f"is reported upstream already: {link}"):
        report.report(reproducer, seen, [], upstream=True)
    assert report.unreported([reproducer], States(records)) == []


def test_a_release_that_nobody_has_measured_yet_hides_nothing(planted):
    """One more line in torches.toml must not empty the list of what is unreported."""
    bug, other = planted(), planted(origin='"usage"')
    old = measured(bug, {"2.3.1": "absent"})
    new = measured(bug, {"2.4.1": "reproduced"})
    assert report.unreported([bug, other], States(old + new)) == [bug]
    assert report.unreported([bug], States(old)) == []
    assert report.unreported([bug], States([])) == []


def test_the_templates_are_the_venues():
    assert {path.stem for path in report.TEMPLATES.glob("*.md")} == set(report.VENUES)


def test_every_kind_of_failure_has_what_was_expected_instead():
    assert set(report.EXPECTED) == set(catalog.KINDS)


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
        (("amp/unscale_twice", "--torch", "2.4", "--run"), 2, "--torch quotes a record"),
        (("amp/unscale_twice", "--torch", "new"), 2, "'new' is not a version of torch"),
        (("amp/unscale_twice", "--torch", "1.12"), 1, "has no record of torch 1.12 on cpu"),
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
