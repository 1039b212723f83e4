import re
import subprocess
from dataclasses import replace

import pytest

from matrix import __version__, catalog
from matrix.evidence.observation import Observation
from matrix.evidence.states import States
from matrix.explain import report
from matrix.explain.text import Measured
from matrix.verdicts import VERDICTS
from tests.harness.helpers import RETURNS, call, plant
from tests.harness.recorded import measurement, record

REPRODUCERS = {reproducer.id: reproducer for reproducer in catalog.load()}


ID = "amp/one"


@pytest.fixture
def planted(root):
    """Returns a function that plants a reproducer, by default of a bug in PyTorch."""

    def planted(**header):
        reports = '["https://github.com/someone/project/issues/1"]'
        values = {"origin": '"torch"', "reports": reports, "kind": '"silent"', **header}
        plant(root, ID, RETURNS.format("boom"), **values)
        return catalog.load(root)[0]

    return planted


def measured(reproducer, verdicts, device="cpu"):
    """Records of the reproducer; `verdicts` maps torch versions to verdicts."""
    return [
        record(
            torch,
            {ID: measurement(verdict, text="saw this", hash=reproducer.hash)},
            device=device,
            **({} if device == "cpu" else {"gpu": "A GPU"}),
        )
        for torch, verdict in verdicts.items()
    ]


def written(reproducer, records, *arguments, minor=None, **options):
    seen = report.from_records(reproducer, records, None, minor)
    return report.report(reproducer, seen, Measured.load(records), *arguments, **options)


RAN = Observation(
    "reproduced",
    "boom",
    "cpu",
    "2.4.1",
    "PyTorch version: 2.4.1",
    printed="control: ok\nseen: it\n",
)


@pytest.mark.parametrize("venue", report.VENUES)
def test_every_venue_has_all_parts_and_the_verdict_comes_first(planted, venue):
    reproducer = planted(reports='["https://github.com/someone/project/issues/1"]')
    output = written(reproducer, measured(reproducer, {"2.4.1": "reproduced"}), venue)
    parts = (
        "**Reproduced on torch 2.4.1 (cpu)** in a record of 2026-01-01 (5 of 5 runs); not run on my",
        reproducer.title,
        'print("seen:", ',
        "Seen in the record (the program was not run for this report):\n\n```\nsaw this\n```",
        "the right result, as with the control, or an error that says why there is none",
        "Planted.",
        "Earlier reports (it is not known whether they are open):",
        "- someone/project#1: https://github.com/someone/project/issues/1",
        "Origin: torch (a bug of PyTorch).",
        "Reproducer: `amp/one`, ",
        "repros/amp/one.py",
        "Versions of the record, not of my machine",
        "PyTorch version: 2.4.1",
        "- cpu: measured 2026-01-01: reproduced on 2.4",
    )
    assert [part for part in parts if part not in output] == []
    assert sorted(parts, key=output.index) == list(parts)
    assert "$" not in output
    first = next(line for line in output.splitlines() if line and not line.startswith("#"))
    assert first.startswith(parts[0])


@pytest.mark.parametrize("venue", report.VENUES)
def test_what_was_run_here_is_quoted_as_the_program_printed_it(planted, venue):
    output = report.report(planted(), RAN, Measured.load([]), venue)
    assert (
        "**Reproduced on torch 2.4.1 (cpu)** on my machine. No other release was measured on cpu."
        in output
    )
    assert "It prints:\n\n```\ncontrol: ok\nseen: it\n```" in output
    assert "Versions of my machine" in output
    assert "record" not in output
    folded = {"forum": '[details="', "stackoverflow": ""}.get(venue, "<details>\n<summary>")
    assert f"{folded}Versions of my machine" in output


def test_github_reports_have_the_headings_of_pytorchs_form(planted):
    reproducer = planted()
    output = written(reproducer, measured(reproducer, {"2.4.1": "reproduced"}))
    headings = re.findall(
        r"^#+ .*", output.partition("```python")[0] + output.rpartition("```")[0], re.M
    )
    assert list(dict.fromkeys(one for one in headings if "The " not in one)) == [
        "### 🐛 Describe the bug",
        "### Versions",
    ]


def test_the_verdict_says_what_was_measured_where(planted):
    reproducer = planted(
        affected='{ cpu = ">=2.4", cuda = ">=2.4", mps = ">=2.4" }',
        stand_in='{ cpu = "a meta tensor plays the GPU" }',
        fixed_by='"pytorch#7"',
    )
    verdicts = {"2.2.2": "absent", "2.3.1": "unavailable", "2.4.1": "reproduced", "2.5.1": "absent"}
    records = measured(reproducer, verdicts)
    assert written(reproducer, records, minor="2.4").splitlines()[2] == (
        "**Reproduced on torch 2.4.1 (cpu; stand-in: a meta tensor plays the GPU)** in a record of "
        "2026-01-01 (5 of 5 runs); not run on my machine. Measured on cpu: on 2.4 it shows, on 2.2, "
        "2.5 it does not. Not measured on cuda, mps. Fixed by pytorch#7."
    )


def test_earlier_reports_have_the_state_that_is_known(planted):
    link = "https://github.com/pytorch/pytorch/issues/5"
    forum = "https://discuss.pytorch.org/t/a/6"
    reproducer = planted(reports=f'["{link}", "{forum}"]')
    records = measured(reproducer, {"2.4.1": "reproduced"})
    assert (
        f"Earlier reports (it is not known whether they are open):\n\n- pytorch/pytorch#5: {link}\n- {forum}\n"
        in written(reproducer, records)
    )
    output = written(planted(reports=f'["{link}"]', fixed_by='"pytorch#7"'), records)
    fixed = "fixed by pytorch#7, https://github.com/pytorch/pytorch/pull/7"
    assert f"Earlier reports ({fixed}):\n\n- pytorch/pytorch#5: {link}\n" in output
    output = written(planted(reports=None, upstream='"unreported"'), records)
    assert "No report in PyTorch's tracker is known." in output
    assert "Earlier" not in output


def test_an_explanation_is_markdown_that_means_what_it_says(planted):
    reproducer = planted()
    doc = "A hook of\n__init__ and x_ in\nas_is.\n\n`_kept_ <b>` <b> 2**31 (popular fix, see a#1)."
    path = reproducer.path
    path.write_text(path.read_text().replace("Planted.", doc))
    (reproducer,) = catalog.load(path.parents[1])
    output = written(reproducer, measured(reproducer, {"2.4.1": "reproduced"}))
    assert (
        "A hook of \\_\\_init\\_\\_ and x\\_ in as_is.\n\n"
        "`_kept_ <b>` \\<b> 2\\*\\*31 (see a#1).\n" in output
    )


def test_a_block_is_closed_by_nothing_in_it():
    assert report._block("a\n```\nb") == "````\na\n```\nb\n````"


def test_what_is_absent_on_that_torch_is_not_reported(planted):
    """The error names the first fixed release, the change, and a command for an older release."""
    reproducer = planted(affected='{ cpu = "<2.11" }', fixed_by='"pytorch#7"')
    records = measured(reproducer, {"2.10.0": "reproduced", "2.11.0": "absent"})
    with pytest.raises(report.ReportError) as refused:
        written(reproducer, records)
    assert str(refused.value).splitlines() == [
        "amp/one is absent on torch 2.11.0, cpu",
        "  fixed by pytorch#7: https://github.com/pytorch/pytorch/pull/7",
        f"  {Measured.load(records).ranges(reproducer)[0]}",
        "  to quote the newest record that shows it: torch-repros cite amp/one --torch 2.10",
    ]
    assert "PyTorch version: 2.10.0" in written(reproducer, records, minor="2.10")


def test_a_device_that_is_affected_is_picked(planted):
    reproducer = planted(affected='{ cpu = "never", cuda = ">=2.0" }')
    on_cpu = measured(reproducer, {"2.4.1": "absent"})
    with pytest.raises(
        report.ReportError, match="on cuda; measure it: torch-repros cite amp/one --run"
    ):
        report.from_records(reproducer, on_cpu, None)
    on_cuda = measured(reproducer, {"2.4.1": "reproduced"}, "cuda")
    assert report.from_records(reproducer, on_cpu + on_cuda, None).device == "cuda"


@pytest.mark.parametrize("verdict", [name for name in VERDICTS if name != "reproduced"])
def test_nothing_but_a_reproduced_bug_is_reported(planted, verdict):
    reproducer = planted()
    with pytest.raises(report.ReportError, match=f"is {verdict} on torch 2.4.1, cpu"):
        written(reproducer, measured(reproducer, {"2.4.1": verdict}))


@pytest.mark.parametrize("origin", ["design", "usage"])
def test_only_a_bug_of_pytorch_is_reported_to_pytorch(planted, origin):
    reproducer = planted(origin=f'"{origin}"')
    records = measured(reproducer, {"2.4.1": "reproduced"})
    for options in ({"venue": "github"}, {"upstream": True}):
        with pytest.raises(
            report.ReportError, match="is not a bug to report to PyTorch"
        ) as refused:
            written(reproducer, records, **options)
        assert "torch-repros cite amp/one --venue forum" in str(refused.value)
    assert f"Origin: {origin} (" in written(reproducer, records)  # the report for a forum
    assert "### Versions" not in written(reproducer, records)


UNREPORTED = {"reports": None, "upstream": '"unreported"'}


@pytest.mark.parametrize(
    "link",
    ["https://github.com/pytorch/pytorch/issues/5", "https://github.com/someone/project/issues/5"],
)
def test_what_is_reported_is_not_offered_as_new(planted, link):
    """The same holds for a report elsewhere, unless the header says that PyTorch has no report."""
    reproducer = planted(reports=f'["{link}"]')
    records = measured(reproducer, {"2.4.1": "reproduced"})
    with pytest.raises(report.ReportError) as refused:
        written(reproducer, records, upstream=True)
    number = link.removeprefix("https://github.com/").replace("/issues/", "#")
    assert str(refused.value).splitlines() == [
        "amp/one has already been reported:",
        f"  {number}: {link}",
        "  to write a report that names these: torch-repros cite amp/one",
    ]
    assert report.unreported([reproducer], States(records)) == {}


def test_what_is_gone_from_the_newest_torch_is_no_new_report(planted):
    reproducer = planted(**UNREPORTED)
    records = measured(reproducer, {"2.3.1": "reproduced", "2.4.1": "absent"})
    with pytest.raises(report.ReportError, match="on the newest torch that was measured, 2.4"):
        written(reproducer, records, minor="2.3", upstream=True)
    assert "**Reproduced on torch 2.3.1" in written(reproducer, records, minor="2.3")
    records = measured(reproducer, {"2.4.1": "reproduced"})
    assert "**Reproduced on torch 2.4.1" in written(reproducer, records, upstream=True)


def test_a_release_that_nobody_has_measured_yet_hides_nothing(planted):
    """A new entry in torches.toml must not empty the list of unreported bugs."""
    bug, reported = planted(**UNREPORTED), planted()
    old = measured(bug, {"2.3.1": "absent"})
    new = measured(bug, {"2.4.1": "reproduced"})
    assert report.unreported([bug, reported], States(old + new)) == {bug: "2.4 on cpu"}
    assert report.unreported([bug], States(old)) == {}
    assert report.unreported([bug], States([])) == {}


@pytest.mark.parametrize(
    ("verdicts", "since"),
    [
        ("RRRR", "2.3 or earlier on cpu"),
        ("xRRR", "2.4 on cpu"),
        ("R.RR", "2.5 on cpu"),
        ("...R", "2.6 on cpu"),
        ("RRR.", ""),
    ],
)
def test_since_when_counts_back_from_the_newest_without_a_gap(planted, verdicts, since):
    names = {"R": "reproduced", "x": "unavailable", ".": "absent"}
    versions = ("2.3.1", "2.4.1", "2.5.1", "2.6.0")
    reproducer = planted()
    records = measured(reproducer, {v: names[sign] for v, sign in zip(versions, verdicts)})
    assert report.since(reproducer, States(records)) == since


def test_the_list_of_what_is_unreported_has_a_line_each_with_since_when():
    result = call("cite", "--upstream")
    assert result.exit_code == 0
    ids = {one.id for one in REPRODUCERS.values() if one.upstream == "unreported"}
    lines = result.stdout.splitlines()
    assert {line.split()[0] for line in lines} <= ids
    assert all(re.search(r"  since \d\.\d+ .*on \w+  +\S", line) for line in lines)
    assert len(lines) > 10
    assert "To report one: torch-repros cite ID --upstream --run" in result.stderr


def test_the_title_is_not_in_the_text_to_paste():
    result = call("cite", "amp/unscale_twice")
    assert result.stderr.startswith(f"Title: {REPRODUCERS['amp/unscale_twice'].title}\nQuoted from")
    assert result.stdout.startswith("**Reproduced on torch ")


def test_the_templates_are_the_venues():
    assert {path.stem for path in report.TEMPLATES.glob("*.md")} == set(report.VENUES)


def test_every_kind_of_failure_has_what_was_expected_instead():
    assert set(report.EXPECTED) == set(catalog.KINDS)


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        ((), 2, "name a reproducer: torch-repros cite amp/unscale_twice"),
        (
            ("amp/unscale_twice", "--venue", "github"),
            1,
            "torch-repros cite amp/unscale_twice --venue",
        ),
        (("amp/no_such",), 2, "no reproducer or family 'amp/no_such'"),
        (("amp",), 2, "is a family"),
        (("numerics/xavier_explodes_sooner",), 1, "is retired: "),
        (("--upstream", "--run"), 2, "torch-repros cite ID --upstream --run"),
        (("amp/autocast_cache_under_no_grad", "--device", "mps"), 2, "does not apply to mps"),
        (
            ("amp/unscale_twice", "--device", "mps"),
            1,
            "has no record on mps; measure it: torch-repros cite amp/unscale_twice --run",
        ),
        (("amp/unscale_twice", "--python", "x"), 2, "--python requires --run"),
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
