"""Runs every reproducer on this torch and device, and compares the results with the headers.

Each file is run as a program. A worker also runs one in fifteen; `nox -s repros` and `record` run
all in a worker, and lint requires a record of each file as it is.
"""

import ast
import re
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata

import pytest

from matrix import advice, catalog, checks, devices
from matrix.run import runner
from tests.forked import Job, can_fork, run_all

REPRODUCERS = catalog.load()

each_reproducer = pytest.mark.parametrize(
    "reproducer", REPRODUCERS, ids=lambda reproducer: reproducer.id
)


def test_each_stands_alone():
    """Each file is fit for a bug report: only torch and the standard library, and a docstring."""
    for reproducer in REPRODUCERS:
        tree = reproducer.tree
        nodes = list(ast.walk(tree))
        imports = [node for node in nodes if isinstance(node, ast.Import)]
        imported = {name.name for node in imports for name in node.names}
        imported |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
        packages = {name.split(".")[0] for name in imported}
        assert packages <= {"torch", *sys.stdlib_module_names}, reproducer.id
        assert ast.get_docstring(tree), reproducer.id


def test_ids_are_listed_once_each():
    ids = (catalog.PACKAGE / "ids.txt").read_text(encoding="utf-8").split()
    assert [id for id in ids if ids.count(id) > 1] == []


def test_the_median_reproducer_has_at_most_30_lines_of_code():
    assert statistics.median(code_lines(reproducer.source) for reproducer in REPRODUCERS) <= 30


def code_lines(source):
    """The number of lines without header, docstrings, comments, blank lines and the common end."""
    source = source.partition("\nif __name__ == ")[0]
    docstrings = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(
            node
        ):
            docstrings |= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    lines = [line.strip() for n, line in enumerate(source.splitlines(), 1) if n not in docstrings]
    return sum(bool(line) and not line.startswith("#") for line in lines)


STATUS = {"reproduced": 1, "absent": 0}


def run_alone(path, *arguments):
    """The exit status and the output of the file, run as a program."""
    command = [sys.executable, str(path), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=path.parent)
    return done.returncode, done.stdout


@pytest.fixture(scope="module")
def alone(tmp_path_factory, device):
    """Maps the id of each file for the device to (exit status, output, lines that ran)."""
    concerned = [reproducer for reproducer in REPRODUCERS if device in reproducer.affected]
    if not can_fork(device):
        with ThreadPoolExecutor(runner.cores()) as pool:
            ended = list(pool.map(lambda reproducer: run_alone(reproducer.path, device), concerned))
        return {reproducer.id: (*answer, None) for reproducer, answer in zip(concerned, ended)}
    folder = tmp_path_factory.mktemp("alone")
    lines = {
        reproducer.id: folder / f"{number}.lines" for number, reproducer in enumerate(concerned)
    }

    def job(reproducer, role=""):
        file = str(lines[reproducer.id])
        return Job([str(reproducer.path), device], str(folder), reproducer.timeout, role, file)

    _, ended = run_all([job(reproducer) for reproducer in concerned])
    torch = metadata.version("torch")
    # the first role crashed these programs, so their other roles have not run
    crashed = [reproducer for reproducer, (status, _) in zip(concerned, ended) if status < 0]
    run_all(
        [
            job(reproducer, role)
            for reproducer in crashed
            for role in reproducer.roles
            if reproducer.runs(role, torch)
        ]
    )
    return {
        reproducer.id: (*answer, ran(lines[reproducer.id]))
        for reproducer, answer in zip(concerned, ended)
    }


def ran(file):
    """All lines that ran, and the lines that ran in control(), in right() or before any role."""
    pairs = [line.rpartition(" ") for line in file.read_text().splitlines()]
    elsewhere = set(catalog.ROLES) - {"control", "right"}
    return (
        {int(line) for _, _, line in pairs},
        {int(line) for role, _, line in pairs if role not in elsewhere},
    )


@pytest.mark.xdist_group("forked")
@each_reproducer
def test_reproducer_is_as_its_header_says_and_exits_as_git_bisect_run_expects(
    reproducer, device, alone
):
    if device not in reproducer.affected:
        pytest.skip(f"not applicable on {device}")
    status, printed, _ = alone[reproducer.id]
    torch = metadata.version("torch")
    if reason := reproducer.unavailable_reason(torch, sys.platform, device):
        assert status == 125
        assert "cannot tell: " in printed
        pytest.skip(reason)
    expected = reproducer.expects(device, torch)
    if reproducer.kind == "crash" and expected == "reproduced":
        assert status < 0  # killed by the signal
        return
    assert status == STATUS[expected], printed
    # torch's message about a worker's signal ends with a NUL character
    lines = [line.lstrip("\0").partition(": ") for line in printed.splitlines()]
    assert [role for role, _, _ in lines if role in reproducer.roles] == list(reproducer.roles)
    shown = printed.partition("reproduce: ")[2].partition("\ncontrol: ")[0]
    assert bool(re.search(reproducer.symptom, shown)) is (expected == "reproduced"), printed


@pytest.mark.xdist_group("forked")
def test_a_worker_gives_the_verdicts_of_the_headers(device):
    sample = REPRODUCERS[::15]  # some of every family, as the ids are in order
    with runner.Worker(sys.executable, (device,)) as worker:
        results = runner.run(sample, worker, (device,)).results
    assert len(results) > len(sample) // 2
    assert [f"{result.id}: {result.surprise}" for result in results if result.surprise] == []
    assert {result.verdict for result in results} <= {"reproduced", "absent", "unavailable"}


@pytest.mark.parametrize("arguments", [("cuda",), ("mps",), ("--help",)])
def test_on_a_device_that_is_not_there_a_reproducer_cannot_tell(arguments):
    if arguments[0] != "--help" and devices.missing(arguments[0]) is None:
        pytest.skip(f"this machine has {arguments[0]}")
    status, printed = run_alone(catalog.REPROS / "amp/unscale_twice.py", *arguments)
    assert status == 125
    assert printed.startswith("reproduce: cannot tell: ")


class Ran(ast.NodeTransformer):
    """Removes the statements of a tree that did not run."""

    def __init__(self, lines):
        self.lines = lines

    def visit(self, node):
        if not isinstance(node, ast.stmt):
            return self.generic_visit(node)
        if not hasattr(node, "body"):
            return node if self.ran(node.lineno, node.end_lineno) else None
        header = range(node.lineno, node.body[0].lineno)
        node = self.generic_visit(node)
        defines = isinstance(node, (ast.FunctionDef, ast.ClassDef))
        return node if node.body or (not defines and self.ran(header[0], header[-1])) else None

    def any_line_of(self, node):
        return self.ran(node.lineno, node.end_lineno)

    def ran(self, first, last):
        return not self.lines.isdisjoint(range(first, last + 1))


# Lines that run where the trace cannot see them, or never run by design; lint compares their text.
UNSEEN = {
    "compile/counter_attribute_recompiles": "its forward runs compiled, so the trace sees no lines",
    "distributed/collective_on_one_rank": "its ranks are processes of a pool",
    "distributed/summed_loss_shrinks": "its ranks are processes of a pool",
    "distributed/uneven_batches": "its ranks are processes of a pool",
    "modules/init_is_misspelt": "_init_() is never called: that is the failure",
}


@pytest.mark.xdist_group("forked")
@each_reproducer
def test_what_is_shown_as_wrong_and_right_has_been_run(reproducer, device, alone):
    torch = metadata.version("torch")
    if device not in reproducer.affected:
        pytest.skip(f"not applicable on {device}")
    if reason := reproducer.unavailable_reason(torch, sys.platform, device):
        pytest.skip(reason)
    if reproducer.id in UNSEEN:
        pytest.skip(UNSEEN[reproducer.id])
    if (lines := alone[reproducer.id][2]) is None:
        pytest.skip("the lines that ran are collected in forked processes")
    in_all, in_right = lines
    assert checks.not_run(reproducer, Ran(in_all).visit(ast.parse(reproducer.source))) == []
    runs = reproducer.runs("right", torch)
    if reproducer.right and runs and reproducer.is_current:
        places = advice.standing(reproducer.right, reproducer.tree, ("control", "right"))
        assert any(all(map(Ran(in_right).any_line_of, nodes)) for nodes in places)
