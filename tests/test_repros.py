"""Every reproducer on this torch and device, in all its roles, against its header."""

import ast
import json
import os
import statistics
import subprocess
import sys

import pytest

from matrix import catalog, checks, devices
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
    """Ready for a bug report: torch and the standard library, and a docstring."""
    tree = reproducer.tree
    nodes = list(ast.walk(tree))
    imported = {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    imported |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    packages = {name.split(".")[0] for name in imported}
    assert packages <= {"torch", *sys.stdlib_module_names}
    assert ast.get_docstring(tree)


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


STATUS = {"reproduced": 1, "absent": 0}  # anything else: 125, "cannot tell"


def run_alone(path, *arguments):
    """(exit status, what it printed) of the file as a program."""
    command = [sys.executable, str(path), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=path.parent)
    return done.returncode, done.stdout


@pytest.fixture(scope="module")
def alone(tmp_path_factory, device):
    """id -> (exit status, what it printed), of every file; torch is imported once for all."""
    if not hasattr(os, "fork"):
        return {one.id: run_alone(one.path, device) for one in REPRODUCERS}
    output = tmp_path_factory.mktemp("alone") / "output.json"
    done = subprocess.run(
        [sys.executable, "-c", RUN_ALL_ALONE, str(output), device],
        input="\n".join(str(one.path) for one in REPRODUCERS),
        text=True,
        check=True,
    )
    assert done.returncode == 0
    found = json.loads(output.read_text(encoding="utf-8"))
    return {one.id: found[str(one.path)] for one in REPRODUCERS}


RUN_ALL_ALONE = """
import contextlib, io, json, os, runpy, sys, tempfile
import torch
with contextlib.suppress(ImportError):
    import torch._dynamo
torch.set_num_threads(1)
found, (output, device) = {}, sys.argv[1:]
for path in sys.stdin.read().splitlines():
    with tempfile.TemporaryFile("w+") as printed:
        pid = os.fork()
        if not pid:
            code = 1  # of a file that raises
            try:
                os.dup2(printed.fileno(), 1)
                sys.argv[:] = [path, device]
                runpy.run_path(path, run_name="__main__")
            except SystemExit as ended:
                code = int(ended.code)
            finally:
                sys.stdout.flush()
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        printed.seek(0)
        found[path] = (code, printed.read())
json.dump(found, open(output, "w"))
"""


@pytest.mark.xdist_group("repros")
@each_reproducer
def test_run_alone_it_says_what_it_saw_and_exits_as_git_bisect_run_expects(
    reproducer, device, results, alone
):
    if device not in reproducer.affected:
        pytest.skip(f"not applicable on {device}")
    status, printed = alone[reproducer.id]
    if reproducer.kind == "crash" and results[reproducer.id].verdict == "reproduced":
        assert status < 0  # ended by the signal
        return
    assert status == STATUS.get(results[reproducer.id].verdict, 125)
    if status in STATUS.values():
        lines = [line.split(": ")[0] for line in printed.splitlines()]
        assert [line for line in lines if line in reproducer.roles] == list(reproducer.roles)
    else:
        assert "cannot tell: " in printed


@pytest.mark.parametrize("arguments", [("cuda",), ("mps",), ("--help",)])
def test_on_a_device_that_is_not_there_a_reproducer_cannot_tell(arguments):
    if arguments[0] != "--help" and devices.missing(arguments[0]) is None:
        pytest.skip(f"this machine has {arguments[0]}")
    status, printed = run_alone(catalog.REPROS / "amp/unscale_twice.py", *arguments)
    assert status == 125
    assert printed.startswith("reproduce: cannot tell: ")


@pytest.fixture(scope="module")
def traced(tmp_path_factory, device):
    """path -> the lines of the file that ran, in all its processes that were forked."""
    if not hasattr(os, "fork"):
        pytest.skip("the lines that ran are collected in forked processes")
    output = tmp_path_factory.mktemp("traced")
    paths = {str(one.path): output / str(n) for n, one in enumerate(REPRODUCERS)}
    subprocess.run(
        [sys.executable, "-c", TRACE_ALL, device],
        input="\n".join(f"{path}\n{file}" for path, file in paths.items()),
        text=True,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return {path: {int(n) for n in file.read_text().split()} for path, file in paths.items()}


TRACE_ALL = """
import contextlib, os, runpy, sys, threading
import torch
with contextlib.suppress(ImportError):
    import torch._dynamo
torch.set_num_threads(1)
names, device = sys.stdin.read().splitlines(), sys.argv[1]
for path, output in zip(names[::2], names[1::2]):
    for role in ("reproduce", "control", "popular_fix"):
        pid = os.fork()
        if not pid:
            file, seen = os.open(output, os.O_CREAT | os.O_APPEND | os.O_WRONLY), set()

            def line(frame, event, argument):
                if frame.f_lineno not in seen:
                    seen.add(frame.f_lineno)
                    os.write(file, b"%d " % frame.f_lineno)
                return line

            def call(frame, event, argument):
                if frame.f_code.co_filename == path:
                    return line

            threading.settrace(call)
            sys.settrace(call)
            try:
                runpy.run_path(path).get(role, id)(device)
            finally:
                os._exit(0)
        os.waitpid(pid, 0)
"""


class Ran(ast.NodeTransformer):
    """Leaves of a file what ran: the statements of which a line did."""

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

    def ran(self, first, last):
        return not self.lines.isdisjoint(range(first, last + 1))


# What runs where no line is seen, or is there because it never runs; lint compares their text.
UNSEEN = {
    "distributed/summed_loss_shrinks": "its ranks are processes of a pool",
    "distributed/uneven_batches": "its ranks are processes of a pool",
    "modules/init_is_misspelt": "_init_() is never called: that is the failure",
}


@pytest.mark.xdist_group("repros")
@each_reproducer
@pytest.mark.parametrize("key", ["wrong", "right"])
def test_what_is_shown_as_wrong_and_right_has_been_run(reproducer, key, device, results, traced):
    if device not in reproducer.affected or results[reproducer.id].verdict == "unavailable":
        pytest.skip(f"not run on {device}")
    if reproducer.id in UNSEEN:
        pytest.skip(UNSEEN[reproducer.id])
    code = Ran(traced[str(reproducer.path)]).visit(reproducer.tree)
    assert checks.not_run(reproducer, key, code) == []
