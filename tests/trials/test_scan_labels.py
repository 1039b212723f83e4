from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from matrix import catalog
from matrix.scan import scanning
from tests.trials.scan_labels import __main__ as trial
from tests.trials.scan_labels.__main__ import FALSE, HARMLESS, TRUE, Label
from tests.trials.shared import NotMeasured

RULED = catalog.ruled(catalog.load())
CLIP, WINDOW = "amp/clip_before_unscale", "amp/last_window_is_dropped"
BAD = """\
import torch

def train(scaler, optimizer, model, loss):
    scaler.scale(loss).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
"""


def label(
    kind: str = TRUE, line: int = 5, path: str = "a.py", reached: bool = True, **other: str
) -> Label:
    fields = {"id": CLIP, "repository": "o/n", "set": "fresh", **other}
    return Label(
        commit="c" * 40, path=path, line=line, label=kind, why="", reached=reached, **fields
    )


def found(*places: Label) -> dict[tuple[str, str, str], list[scanning.Finding]]:
    hits = scanning.scan_text(BAD, scanning.rules(RULED))
    return {place.file: hits for place in places}


def test_every_label_is_of_a_rule_a_commit_and_a_known_kind() -> None:
    labels = trial.labels()
    ids = {reproducer.id for reproducer in RULED}
    assert [place for place in labels if place.id not in ids] == []
    assert [place for place in labels if place.label not in trial.KINDS] == []
    assert [place for place in labels if place.set not in trial.PRECISE] == []
    assert [place for place in labels if not re.fullmatch("[0-9a-f]{40}", place.commit)] == []
    assert [place for place in labels if not place.why.strip() or "\n" in place.why] == []
    assert len({(place.file, place.line, place.id) for place in labels}) == len(labels)


def test_no_repository_is_in_two_sets() -> None:
    sets = {(place.repository.lower(), place.set) for place in trial.labels()}
    repositories = [repository for repository, _ in sets]
    assert len(set(repositories)) == len(repositories)


def test_the_page_says_what_the_newer_places_were_when_they_were_first_read() -> None:
    serious = {reproducer.id for reproducer in RULED if reproducer.rule != "note"}
    read = [place for place in trial.labels() if place.set == "newer" and place.id in serious]
    true = [place for place in read if place.label == TRUE]
    assert (len(true), len(read)) == (trial.NEWER_TRUE, trial.NEWER_READ)
    assert f"{len(true)} of {len(read)} errors" in trial.render({}, {}, RULED)


def test_the_share_of_true_ones_is_of_what_is_found_and_was_read() -> None:
    places = [
        label(TRUE, 6, "a.py"),  # one line away
        label(HARMLESS, 5, "b.py"),
        label(FALSE, 5, "c.py"),
        label(FALSE, 40, "d.py"),  # rightly not found
        label(TRUE, 40, "e.py"),  # missed
        label(TRUE, 40, "f.py", reached=False),  # dead, so not counted as missed
        label(TRUE, 5, "g.py", reached=False),
    ]
    counted = trial.count(places, found(*places), {CLIP})
    assert counted.found == {TRUE: 2, HARMLESS: 1, FALSE: 1}
    assert (counted.dead, counted.missed, counted.unread) == (1, 1, 3)
    assert counted.precision == pytest.approx(50)
    assert counted.precision_where_run == pytest.approx(25)
    assert counted.recall == pytest.approx(200 / 3)
    none = trial.count(places, found(*places), {WINDOW})
    assert (none.precision, none.recall) == (None, None)


def test_what_is_found_once_is_no_proof_of_two_places() -> None:
    places = [label(FALSE, 5), label(TRUE, 6)]
    assert [place.label for place in trial.paired(places, found(*places))] == [FALSE]
    counted = trial.count(places, found(*places), {CLIP})
    assert (counted.found, counted.missed, counted.unread) == ({FALSE: 1}, 1, 0)


@pytest.mark.parametrize(
    ("kinds", "told"),
    [
        ([TRUE] * 9 + [FALSE], []),
        ([TRUE] * 8 + [FALSE] * 2, ["fresh: 80 % true, at least 85 %", f"{CLIP} (error): 80 %"]),
    ],
)
def test_what_is_not_precise_enough_is_told(kinds: list[str], told: list[str]) -> None:
    places = [label(kind, 5, f"{number}.py") for number, kind in enumerate(kinds)]
    wrong = trial.problems({"fresh": places}, found(*places), RULED)
    assert len(wrong) == len(told)
    assert all(problem.startswith(start) for problem, start in zip(wrong, told))


def test_the_tables_name_each_place_and_each_rule() -> None:
    places = [label(TRUE), label(HARMLESS, path="b.py"), label(reached=False, path="c.py")]
    text = trial.render({"fresh": places}, found(*places), RULED)
    assert (
        "| errors and warnings, fresh | 1 | 2 | 1 | 1 | 0 | 67 % | 33 % | 0 | 100 % | 0 |" in text
    )
    assert all(f"`{reproducer.id}`" in text for reproducer in RULED)
    page = trial.found_in_code(places, found(*places), RULED)
    assert f"[o/n](https://github.com/o/n/blob/{'c' * 40}/a.py#L5)" in page
    assert "b.py" not in page
    assert "c.py" not in page
    assert "This matters if AMP is on" in page


def test_the_readme_says_what_the_newer_places_were_when_they_were_first_read() -> None:
    fresh = [place for place in trial.labels() if place.set == "fresh"]
    newer = [place for place in trial.labels() if place.set == "newer"]
    readme = (catalog.ROOT / "README.md").read_text(encoding="utf-8")
    assert trial.figure(newer) in readme
    serious = {reproducer.id for reproducer in RULED if reproducer.rule != "note"}
    read = [place for place in fresh if place.id in serious]
    true = [place for place in read if place.label == TRUE]
    assert (len(read), len(true)) == (trial.FIRST_READ, trial.FIRST_TRUE)
    assert sum(not place.reached for place in true) == trial.FIRST_DEAD


def test_copies_in_one_repository_are_summed_up() -> None:
    places = [label(TRUE, path=f"{number}.py") for number in range(trial.SHOWN + 4)]
    page = trial.found_in_code(places, found(*places), RULED)
    assert page.count("[o/n](") == trial.SHOWN
    assert "| o/n | 4 more like these |  |" in page


def test_the_page_says_of_each_failure_what_its_header_says() -> None:
    """The findings can be checked only with public code, but the titles can always be checked."""
    page = trial.FOUND.read_text(encoding="utf-8")
    sections = re.findall(r"^## `([^`]+)`\n\n(.*)$", page, re.M)
    by_id = {reproducer.id: reproducer for reproducer in catalog.load()}
    assert len(sections) > 20
    assert sections == [(id, trial.summary(by_id[id])) for id, _ in sections]


def test_the_page_has_a_row_for_every_rule() -> None:
    text = trial.TABLE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([^`]+)` \| (\w+) \|", text, re.M)
    assert rows == [(reproducer.id, reproducer.rule) for reproducer in RULED], trial.TABLE


def committed(folder: Path, **files: str) -> str:
    """Commits these files in a git repository, and returns the commit."""

    def git(*arguments: str) -> str:
        own = ["-c", "user.name=a", "-c", "user.email=a@b"]
        done = subprocess.run(
            ["git", *own, *arguments], cwd=folder, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    folder.mkdir(parents=True, exist_ok=True)
    git("init")
    for stem, text in files.items():
        (folder / f"{stem}.py").write_text(text, encoding="utf-8")
    git("add", ".")
    git("commit", "-m", "change")
    return git("rev-parse", "HEAD")


def test_a_file_is_read_at_its_commit_and_kept(tmp_path: Path) -> None:
    mirrors, cache = tmp_path / "mirrors", tmp_path / "cache"
    commit = committed(mirrors / "o+n/repo", a="old\n", b="beside\n")
    committed(mirrors / "o+n/repo", a="new\n")
    file = trial.source(("o/n", commit, "a.py"), mirrors, cache)
    assert file.read_text(encoding="utf-8") == "old\n"
    assert file.with_name("b.py").read_text(encoding="utf-8") == "beside\n"
    assert trial.source(("o/n", commit, "a.py"), None, cache) == file  # kept
    with pytest.raises(NotMeasured, match="no clone of o/other"):
        trial.source(("o/other", commit, "a.py"), mirrors, cache)
    with pytest.raises(NotMeasured, match="no c.py in o/n"):
        trial.source(("o/n", commit, "c.py"), mirrors, cache)


def test_only_the_python_files_of_a_commit_are_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote, cache = tmp_path / "remote", tmp_path / "cache"
    committed(remote, a="one\n", b="two\n")
    (remote / "large.bin").write_bytes(b"0")
    commit = committed(remote)
    for option in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        trial._git("-C", str(remote), "config", option, "true")
    own = cache / "o+n.git"
    trial._git("init", "--quiet", "--bare", str(own))
    for key, value in (("url", remote.as_uri()), ("promisor", "true")):
        trial._git("--git-dir", str(own), "config", f"remote.origin.{key}", value)
    monkeypatch.setenv("GIT_NO_LAZY_FETCH", "1")  # since git 2.45
    file = trial.source(("o/n", commit, "b.py"), None, cache)
    assert sorted(path.name for path in file.parent.iterdir()) == ["a.py", "b.py"]
    missing = trial._git(
        *("--git-dir", str(own), "rev-list", "--objects", "--missing=print", commit)
    )
    assert missing.count(b"?") == 1


def test_rules_read_the_files_around_a_place(tmp_path: Path) -> None:
    train = """\
import torch
from model import Net

def train(x, y):
    model = Net()
    loss = torch.nn.CrossEntropyLoss()(model(x), y)
    loss.backward()
"""
    model = """\
import torch

class Net(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)
"""
    mirrors = tmp_path / "mirrors"
    commit = committed(mirrors / "o+n/repo", train=train, model=model)
    place = label(line=6, path="train.py", id="loss/softmax_before_cross_entropy")
    places = [place._replace(commit=commit)]
    findings = trial.scanned(places, scanning.rules(RULED), mirrors, tmp_path / "cache")
    assert list(trial.paired(places, findings)) == places
