"""The time of commands grows with the number of reproducers, and not faster."""

import time

import pytest

from matrix import catalog, checks
from matrix.evidence import store
from matrix.explain import search
from tests.harness.recorded import measurement, record

FEW, MANY = 300, 3_000
MOST = 2 * MANY / FEW  # times as long


def copies(folder, count):
    """A folder with this many files, each a copy of a reproducer with another id."""
    originals = [reproducer for reproducer in catalog.load() if not reproducer.rule]
    for number in range(count):
        original = originals[number % len(originals)]
        path = folder / original.family / f"{original.name}_{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        own = f"\n\n\n# copy {number}\ndef "  # no two texts are equal, so that each is parsed
        path.write_text(original.source.replace("\n\n\ndef ", own, 1))
    return folder


@pytest.fixture(scope="module")
def projects(tmp_path_factory):
    """The number of reproducers -> a folder with them, their ids and a record."""
    projects = {}
    for count in (FEW, MANY):
        project = tmp_path_factory.mktemp("project")
        reproducers = catalog.load(copies(project / "repros", count))
        (project / "ids.txt").write_text("".join(f"{each.id}\n" for each in reproducers))
        held = {each.id: measurement("reproduced", hash=each.hash) for each in reproducers}
        store.save(record("2.15.0", held), project / "records")
        projects[count] = project
    return projects


def seconds(action, *arguments):
    started = time.process_time()
    action(*arguments)
    return time.process_time() - started


def lint(project):
    cache = project / "cache" / "in_order.txt"
    checks.lint(project / "repros", project / "records", project / "ids.txt", cache=cache)
    return len(cache.read_text().split())


ACTIONS = {
    "list": lambda project: catalog.read(project / "repros", values=False),
    "search": lambda project: search.Index(catalog.load(project / "repros")),
}


@pytest.mark.parametrize("name", ACTIONS)
def test_ten_times_the_reproducers_take_at_most_twenty_times_as_long(name, projects):
    few, many = (
        min(seconds(ACTIONS[name], projects[count]) for _ in range(3)) for count in (FEW, MANY)
    )
    assert many < MOST * few


def test_the_time_of_lint_grows_no_faster_and_files_in_order_are_not_checked_again(projects):
    few, many = ([seconds(lint, projects[count]) for _ in range(2)] for count in (FEW, MANY))
    for once, ten_times in zip(few, many):
        assert ten_times < MOST * once
    assert many[1] < 0.7 * many[0]
    assert lint(projects[FEW]) == FEW
