"""Every reproducer on this torch and device, in all its roles, against its header."""

import ast
import statistics
import subprocess
import sys

import pytest

from matrix import catalog
from matrix.run import runner

REPRODUCERS = catalog.load()

each_reproducer = pytest.mark.parametrize(
    "reproducer", REPRODUCERS, ids=lambda reproducer: reproducer.id
)


@pytest.fixture(scope="module")
def results(device):
    with runner.Worker(sys.executable, (device,)) as worker:
        report = runner.run(REPRODUCERS, worker, (device,))
    return {result.id: result for result in report.results}


@pytest.mark.xdist_group("repros")
@each_reproducer
def test_reproducer_is_as_its_header_says(reproducer, device, results):
    if device not in reproducer.affected:
        pytest.skip(f"not applicable on {device}")
    result = results[reproducer.id]
    assert not result.surprise
    if result.verdict == "unavailable":
        pytest.skip(result.detail)
    assert result.verdict == result.expected


@each_reproducer
def test_it_stands_alone(reproducer):
    """Ready for a bug report: torch and the standard library, a docstring, an exit status."""
    tree = reproducer.tree
    nodes = list(ast.walk(tree))
    imported = {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    imported |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    packages = {name.split(".")[0] for name in imported}
    assert packages <= {"torch", *sys.stdlib_module_names}
    assert ast.get_docstring(tree)
    assert reproducer.source.rstrip().splitlines()[-1].startswith("    sys.exit(reproduce(")


def test_ids_are_listed_once_each():
    ids = (catalog.PACKAGE / "ids.txt").read_text(encoding="utf-8").split()
    assert [id for id in ids if ids.count(id) > 1] == []


def test_the_median_reproducer_has_at_most_30_lines_of_code():
    assert statistics.median(code_lines(reproducer.source) for reproducer in REPRODUCERS) <= 30


def code_lines(source):
    """Lines without header, docstrings, comments and blank lines."""
    docstrings = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(
            node
        ):
            docstrings |= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    lines = [line.strip() for n, line in enumerate(source.splitlines(), 1) if n not in docstrings]
    return sum(bool(line) and not line.startswith("#") for line in lines)


@pytest.mark.parametrize(
    ("id", "status", "text"),
    [
        ("loss/rewrapped_in_a_tensor", 1, "no parameter has a gradient"),
        ("amp/cuda_amp_off_cuda_keeps_the_graph", 0, ""),
    ],
)
def test_a_reproducer_run_alone_exits_with_1_when_the_bug_is_there_and_0_when_it_is_not(
    id, status, text
):
    command = [sys.executable, catalog.REPROS / f"{id}.py"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == status
    assert text in done.stderr
