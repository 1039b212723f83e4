"""Every reproducer on this torch and device, in all its roles, against its header."""

import ast
import sys

import pytest

from matrix import catalog, runner

ENTRIES = catalog.load()


@pytest.fixture(scope="module")
def results(device):
    with runner.Worker(sys.executable, (device,)) as worker:
        report = runner.run(ENTRIES, worker, (device,))
    return {result.id: result for result in report.results}


@pytest.mark.xdist_group("repros")
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_reproducer_is_as_its_header_says(entry, device, results):
    if device not in entry.affected:
        pytest.skip(f"not applicable on {device}")
    result = results[entry.id]
    assert not result.surprise
    if result.verdict == "unavailable":
        pytest.skip(result.detail)
    assert result.verdict == result.expected


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_its_fix_exists(entry, fix_module):
    module, _, function = entry.fix.partition(".")
    assert entry.fix == "upgrade" or function in fix_module(module).__all__


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_it_stands_alone(entry):
    """Only torch and the standard library, a docstring, and an exit status: it can be pasted into a bug report."""
    tree = ast.parse(entry.source)
    imported = {name.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    imported |= {node.module.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported - {"torch"} <= set(sys.stdlib_module_names)
    assert ast.get_docstring(tree)
    assert entry.source.rstrip().splitlines()[-1].startswith("    sys.exit(reproduce(")


def test_ids_are_unique_and_reproducers_are_small():
    assert len({entry.id for entry in ENTRIES}) == len(ENTRIES) >= 35
    sizes = sorted(code_lines(entry.source) for entry in ENTRIES)
    assert sizes[len(sizes) // 2] <= 30


def code_lines(source):
    """Lines without header, docstrings, comments and blank lines."""
    tree = ast.parse(source)
    docstrings = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None:
            docstrings |= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    lines = enumerate(source.splitlines(), 1)
    return sum(bool(line.strip()) and not line.strip().startswith("#") and number not in docstrings for number, line in lines)
