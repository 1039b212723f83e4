"""Tests which files are read or passed over, and the text of findings."""

import dataclasses
import json
import multiprocessing
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from matrix import catalog
from matrix.explain.text import Measured
from matrix.scan import files, fixing, formats, scanning, settings
from matrix.scan.code import Edit

REPRODUCERS = catalog.load()
BY_ID = {one.id: one for one in REPRODUCERS}
RULES = scanning.rules(REPRODUCERS)
ID = "amp/clip_before_unscale"
BAD = """\
import torch

def train(scaler, optimizer, model, loss):
    scaler.scale(loss).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
"""
COLUMN = 5


def notebook(*cells):
    kinds = [{"cell_type": kind, "source": source} for kind, source in cells]
    return json.dumps({"nbformat": 4, "cells": kinds})


def scan(*paths, **options):
    return scanning.scan(list(files.find(list(paths))), RULES, **options)


def test_a_finding_says_where_what_and_when(tmp_path):
    file = tmp_path / "train.py"
    file.write_text(BAD, encoding="utf-8")
    (found,), passed = scan(tmp_path)
    assert passed == []
    assert (found.path, found.line, found.column, found.end_line) == (file, 5, COLUMN, 5)
    assert found.end_column == len(BAD.split("\n")[4]) + 1
    assert (found.id, found.level, found.when) == (ID, BY_ID[ID].rule, BY_ID[ID].when)
    (line,) = formats.lines([found])
    assert line.startswith(f"{file}:5:{COLUMN}: error: torch.nn.utils.clip_grad_norm_() clips")
    assert line.endswith(f"(when {found.when}) [{ID}]")


def test_a_retired_reproducer_has_no_rule():
    assert scanning.rules([BY_ID[ID]])
    assert scanning.rules([dataclasses.replace(BY_ID[ID], retired="why")]) == []


def test_columns_are_counted_in_characters():
    text = BAD.replace("    torch.nn", "    'äöü'; torch.nn")
    (found,) = scanning.scan_text(text, RULES)
    assert found.column == COLUMN + len("'äöü'; ")
    assert found.end_column == len(text.split("\n")[4]) + 1


@pytest.mark.parametrize(
    ("comment", "silent"),
    [
        (f"torch-repros: ignore[{ID}]", True),
        (f"torch-repros: ignore[amp/unscale_twice, {ID}]", True),
        ("torch-repros: ignore", True),
        ("torch-repros: ignore[amp/unscale_twice]", False),
        ("torch-repros: ignore[amp]", True),
        ("torch-repros:ignore [amp/unscale_twice]", False),
        (f"torch-repros: ignore [ {ID} ]", True),
        ("noqa", False),
    ],
)
def test_a_comment_silences_its_line(comment, silent):
    at_the_line = BAD.replace(", 1.0)\n", f", 1.0)  # {comment}\n")
    assert (scanning.scan_text(at_the_line, RULES) == []) is silent
    wrapped = BAD.replace(
        "_(model.parameters(), 1.0)", f"_(  # {comment}\n  model.parameters(), 1.0)"
    )
    assert (scanning.scan_text(wrapped, RULES) == []) is silent
    elsewhere = f"# {comment}\n{BAD}"
    assert scanning.scan_text(elsewhere, RULES)


def test_all_comments_of_a_line_count():
    both = "# torch-repros: ignore[amp/unscale_twice] # torch-repros: ignore[amp]"
    assert scanning.scan_text(BAD.replace(", 1.0)", f", 1.0)  {both}"), RULES) == []


def test_a_comment_at_the_first_line_of_a_statement_silences_it():
    text = BAD.replace("    torch.nn", "    norm = [  # torch-repros: ignore\n  torch.nn")
    assert scanning.scan_text(text.replace(", 1.0)", ", 1.0)\n    ]"), RULES) == []


@pytest.mark.parametrize("name", ["amp/clip_befor_unscale", "apm", "amp/half_linear_on_the_cpu"])
def test_a_name_to_ignore_that_no_rule_has_is_told(tmp_path, name):
    text = BAD.replace(", 1.0)\n", f", 1.0)  # torch-repros: ignore[{name}, loss,]\n")
    (tmp_path / "a.py").write_text(text, encoding="utf-8")
    cells = [("code", "import torch"), ("code", text)]
    (tmp_path / "b.ipynb").write_text(notebook(*cells), encoding="utf-8")
    findings, ((_, first), (_, second)) = scan(tmp_path)
    assert len(findings) == 2
    assert first == f"unknown rule or family {name!r} in an ignore comment (line 5)"
    assert second == f"unknown rule or family {name!r} in an ignore comment (line 5 of cell 2)"


def test_a_text_silences_nothing():
    assert scanning.scan_text(
        BAD.replace("    torch.nn", "    '# torch-repros: ignore'; torch.nn"), RULES
    )


def test_a_notebook_is_read_as_one_program(tmp_path):
    head, body = BAD.split("\n\n")
    cells = [
        ("markdown", "# Training"),
        ("code", [f"{head}\n", "%matplotlib inline\n", "!pip install torch\n", "model?\n"]),
        ("code", "%%bash\nrm -rf ("),
        ("code", body),
    ]
    path = tmp_path / "train.ipynb"
    path.write_text(notebook(*cells), encoding="utf-8")
    (found,), passed = scan(path)
    assert passed == []
    assert (found.cell, found.line, found.edits) == (4, 3, ())
    assert found.where == f"{path}:cell 4:3:{COLUMN}"


def test_the_same_line_of_two_cells_is_found_in_both(tmp_path):
    path = tmp_path / "train.ipynb"
    path.write_text(notebook(("code", BAD), ("code", BAD)), encoding="utf-8")
    findings, _ = scan(path)
    assert [(finding.cell, finding.line) for finding in findings] == [(1, 5), (2, 5)]


LOOP = """\
import torch
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for x in loader:
    optimizer.zero_grad()%s
    model(x).backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    "cells",
    [
        [LOOP % "  # needed?"],
        [(LOOP % "").replace("optimizer.zero", "%time optimizer.zero")],
        [(LOOP % "").replace("import torch\n", "import torch\nx = 1\n?x\n")],
        [(LOOP % "").replace("    optimizer.zero_grad()\n", "    clear()\n"),
         "%%time\ndef clear():\n    optimizer.zero_grad()"],
    ],
)  # fmt: skip
def test_what_ipython_adds_hides_no_python(tmp_path, cells):
    path = tmp_path / "a.ipynb"
    path.write_text(notebook(*[("code", one) for one in cells]), encoding="utf-8")
    assert scan(path) == ([], [])


@pytest.mark.parametrize(
    "cell",
    [
        "f(\n    1,  # why?\n    2)",
        "print('%s %s'\n   % (1, 2))",
        "out = !nvidia-smi\nprint(out)",
        "!pip install a \\\n    b c",
        "this is no python",
        "%%bash\nls",
        "x = '\ud800'",
    ],
)
def test_a_cell_costs_no_other(tmp_path, cell):
    path = tmp_path / "a.ipynb"
    path.write_text(notebook(("code", cell), ("code", f"%%capture\n{BAD}")), encoding="utf-8")
    (found,), passed = scan(path)
    assert (found.cell, found.line) == (2, 6)
    odd = cell.startswith(("this", "x"))
    assert [why for _, why in passed] == ["not Python: cell 1"] * odd


def test_lines_that_are_spoken_of_are_those_of_their_cells(tmp_path):
    first, second = (
        GENERATORS.replace("g, d = a", "g = a")
        .replace(", b.parameters()", "")
        .replace("(d, 1.0)", "([], 1.0)")
        .split("for ")
    )
    path = tmp_path / "a.ipynb"
    path.write_text(notebook(("code", "x"), ("code", first), ("code", f"for {second}")))
    (found,), _ = scan(path)
    assert "(line 2 of cell 2)" in found.what


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("a.py", b"def torch(:", "not Python"),
        ("a.py", b"def f(:", "not Python"),
        ("a.py", b"torch = '\xff'", "not in UTF-8"),
        ("a.py", b"# coding: klingon\ntorch", "not in UTF-8"),
        ("a.py", b"torch\0", "NUL"),
        ("a.py", b"torch\n" + b"#" * files.LARGEST, "larger than 1 MiB"),
        ("a.py", b"torch(" + b"(" * 5000 + b")" * 5001, "not Python"),
        ("a.py", b"torch" + b".a" * 100_000 + b".scaler.step(GradScaler)", "nested too deeply"),
        ("a.py", b"torch = scaler" + b"+1" * 100_000, "nested too deeply"),
        ("a.py", b"torch.ModuleList([Linear(2, 2)] * 0x1%s)" % (b"0" * 4000), "too long to print"),
        ("a.py", b"# coding: undefined\ntorch", "not in UTF-8"),
        ("a.py", b"# coding: raw_unicode_escape\n# \\ud800\ntorch", "surrogate"),
        ("a.ipynb", b"{}", "not a notebook"),
        ("a.ipynb", notebook(*[("code", "x\n" * 2**18)] * 3).encode(), "code is larger than 1 MiB"),
        ("a.ipynb", b"[" * 100_000, "not a notebook"),
        ("a.ipynb", b'{"cells": [{"cell_type": "code", "source": 3}]}', "not a notebook"),
    ],
)
def test_what_cannot_be_read_is_named_and_the_others_are_read(tmp_path, name, data, why):
    (tmp_path / "z.py").write_text(BAD, encoding="utf-8")
    (tmp_path / name).write_bytes(data)
    for jobs in (1, 2):
        found, passed = scan(tmp_path, jobs=jobs)
        assert [one.path.name for one in found] == ["z.py"]
        assert [one.path.name for one in passed] == [name]
        assert why in passed[0].why


def test_quotes_in_f_strings_are_read_by_every_python(tmp_path):
    file = tmp_path / "new.py"
    line = 'x.to("gpu")'
    file.write_text(f'import torch\nprint(f"{{a["b"]}} {{f(["c"])}}", "d")\n{line}\n')
    _, findings, why = scanning.scan_file(file, RULES)
    assert (why, [finding.line for finding in findings]) == ("", [3])
    file.write_text('import torch\nprint(f"{a["b"]", "d")\n')
    _, findings, why = scanning.scan_file(file, RULES)
    assert why.startswith("not Python")
    assert not findings


def test_a_file_that_takes_too_long_is_passed_over(tmp_path, monkeypatch):
    (tmp_path / "a.py").write_text(BAD, encoding="utf-8")
    monkeypatch.setattr(scanning, "SECONDS", -1.0)
    found, ((path, why),) = scan(tmp_path)
    assert (found, path.name) == ([], "a.py")
    assert why == "checking it took more than -1 s; only the findings until then are shown"


def test_a_file_made_to_be_slow_is_given_up(tmp_path, monkeypatch):
    """The rule has to compare each of a thousand calls with all the others."""
    monkeypatch.setattr(scanning, "SECONDS", 1.0)
    lines = "".join(BAD.splitlines(keepends=True)[3:])
    (tmp_path / "a.py").write_text(BAD + lines * 1000, encoding="utf-8")
    started = time.process_time()
    _, passed = scan(tmp_path)
    assert time.process_time() - started < 20
    assert ["took more than 1 s" in why for _, why in passed] == [True]


def test_a_file_that_reaches_the_limit_keeps_what_was_found_before(tmp_path, monkeypatch):
    def slow(code):
        yield scanning.Hit(code.tree.body[0], "is found")
        raise scanning.TooLong

    monkeypatch.setattr(scanning, "function", lambda id: slow)
    (tmp_path / "a.py").write_text("import torch\n", encoding="utf-8")
    (finding,), ((_, why),) = scan(tmp_path)
    assert finding.what == "is found"
    assert "only the findings until then are shown" in why


def copies(number):
    """A file with this number of functions, each with a finding that has an edit."""
    head, function = BAD.split("\n\n")
    return head + "\n" + "".join(function.replace("train", f"train_{n}") for n in range(number))


def test_a_file_is_parsed_a_few_times_however_much_is_found(monkeypatch):
    parsed = []
    parse = files.parsed
    monkeypatch.setattr(files, "parsed", lambda text: parsed.append(len(text)) or parse(text))
    text = copies(50)
    findings = scanning.scan_text(text, RULES)
    assert sum(bool(finding.edits) for finding in findings) == 50
    assert sum(parsed) < 5 * len(text)
    parsed.clear()
    after, done = fixing.applied(text, findings)
    assert (done, after.count("unscale_")) == (findings, 50)
    assert sum(parsed) < 5 * len(text)


def test_a_file_that_takes_too_long_is_not_fixed_and_says_so(tmp_path, monkeypatch):
    path = tmp_path / "a.py"
    path.write_text(BAD, encoding="utf-8")
    findings, _ = scan(path)
    monkeypatch.setattr(scanning, "SECONDS", -1.0)
    with pytest.raises(fixing.NotFixed, match="checking it takes too long"):
        fixing.fixed(path, findings, RULES)


@pytest.mark.parametrize(
    "text",
    [
        "class A: pass\n" + "class A(A):\n def f(self): self.x = [torch.nn.Linear(1, 1)]\n" * 40,
        "if __name__ == '__main__': main()\n"
        + "".join(
            f"class N{n}(torch.nn.Module):\n def __init__(self):\n  super().__init__()\n"
            + "  self.x = [1]\n" * 20
            for n in range(300)
        ),
    ],
    ids=["one class again and again", "a long script"],
)
def test_a_long_file_is_read_in_time(text):
    before = time.process_time()
    scanning.scan_text(f"import torch\n{text}", RULES)
    assert time.process_time() - before < 5


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a.py")
    found, ((path, why),) = scan(tmp_path)
    assert (found, path.name, why) == ([], "a.py", "not a regular file")


def test_another_encoding_is_read_as_declared(tmp_path):
    path = tmp_path / "a.py"
    path.write_bytes(f"# -*- coding: latin-1 -*-\nname = 'ä'\n{BAD}".encode("latin-1"))
    (found,), _ = scan(path)
    assert found.line == 7


def test_other_people_s_code_is_left_out_unless_it_is_named(tmp_path):
    for folder in ("src", ".git", "venv", "node_modules", "x/site-packages", "build"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "train.py").write_text(BAD, encoding="utf-8")
    (tmp_path / "venv/pyvenv.cfg").touch()
    (tmp_path / "notes.txt").write_text(BAD, encoding="utf-8")
    (tmp_path / "src/again").symlink_to(tmp_path / "src")
    assert list(files.find([tmp_path])) == [tmp_path / "src/train.py"]
    assert list(files.find([tmp_path / "venv"])) == [tmp_path / "venv/train.py"]
    assert list(files.find([tmp_path / "notes.txt"])) == [tmp_path / "notes.txt"]
    assert list(files.find([tmp_path, tmp_path / "src/train.py"])) == [tmp_path / "src/train.py"]
    assert list(files.find([tmp_path], ("src",))) == []
    assert list(files.find([tmp_path], ("*/src/tr*.py",))) == []
    assert list(files.find([tmp_path], ("src/",))) == []
    assert list(files.find([tmp_path / "src"], ("src/tr*.py",), tmp_path)) == []
    assert list(files.find([tmp_path / "src"], ("src/tr*.py",))) == [tmp_path / "src/train.py"]


def test_many_files_take_as_many_processes_and_give_the_same(tmp_path):
    for number in range(60):
        (tmp_path / f"{number:02}.py").write_text(BAD, encoding="utf-8")
    done = []
    one_by_one = scan(tmp_path, jobs=1, progress=done.append)
    assert done == list(range(1, 61))
    assert scan(tmp_path) == scan(tmp_path, jobs=3) == one_by_one
    assert len(one_by_one[0]) == 60


@pytest.mark.skipif(multiprocessing.get_start_method() != "fork", reason="needs the patch below")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_file_at_which_a_process_crashes_costs_no_other(tmp_path, monkeypatch, jobs):
    def crashes(code):
        if "crash" in code.text:
            os.kill(os.getpid(), signal.SIGSEGV)
        yield scanning.Hit(code.tree.body[0], "is found")

    monkeypatch.setattr(scanning, "function", lambda id: crashes)
    monkeypatch.setattr(scanning, "CRASHES", True)  # as in Python 3.10
    for number in range(20):
        crash = "  # crash" if number in (3, 4, 12) else ""
        (tmp_path / f"{number:02}.py").write_text(f"import torch{crash}\n", encoding="utf-8")
    findings, passed = scan(tmp_path, jobs=jobs)
    assert [path.name for path, _ in passed] == ["03.py", "04.py", "12.py"]
    assert {why for _, why in passed} == {"the process reading it crashed"}
    assert len({finding.path for finding in findings}) == 17


# --- settings -------------------------------------------------------------------------------------


def test_settings_are_those_of_the_nearest_pyproject(tmp_path):
    (tmp_path / "pyproject.toml").write_text(
        '[tool.torch-repros.scan]\nignore = ["amp"]\nexclude = ["old"]\n', encoding="utf-8"
    )
    inner = tmp_path / "src"
    inner.mkdir()
    assert settings.load(inner) == settings.Settings(ignore=("amp",), exclude=("old",))
    (inner / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    assert settings.load(inner) == settings.Settings()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[tool.torch-repros.scan]\nselct = []", "selct: unknown key; expected one of select,"),
        ('[tool.torch-repros.scan]\nselect = "amp"', "select: 'amp' is not a list of strings"),
        ("[tool.torch-repros.scan]\nselect = [1]", "is not a list of strings"),
        ("[tool.torch-repros]\nscan = 3", "is not a table"),
        ("tool = 3", "is not a table"),
        ("[tool", "cannot be read"),
    ],
)
def test_settings_that_mean_nothing_are_refused(tmp_path, text, why):
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    with pytest.raises(settings.SettingsError) as caught:
        settings.load(tmp_path)
    assert why in str(caught.value)
    assert str(tmp_path / "pyproject.toml") in str(caught.value)


# --- fixing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
def test_a_fix_keeps_all_else_and_is_found_no_more(tmp_path, newline, encoding):
    path = tmp_path / "train.py"
    head = "# coding: latin-1\n" if encoding == "latin-1" else ""
    text = f"{head}{BAD}# ä   "
    path.write_bytes(text.replace("\n", newline).encode(encoding))
    path.chmod(0o750)
    found, _ = scan(path)
    before, after, done = fixing.fixed(path, found, RULES)
    assert done == found
    missing = "    scaler.unscale_(optimizer)\n"
    wanted = text.replace("    torch.nn.utils", f"{missing}    torch.nn.utils")
    assert after == wanted.replace("\n", newline).encode(encoding)
    assert b"+    scaler.unscale_(optimizer)" in fixing.diff(path, before, after)
    fixing.write(path, after)
    assert path.stat().st_mode & 0o777 == 0o750
    assert list(tmp_path.iterdir()) == [path]
    assert scan(path) == ([], [])


def test_a_file_with_two_kinds_of_line_ends_is_left_alone(tmp_path):
    path = tmp_path / "train.py"
    path.write_bytes(BAD.replace("\n", "\r\n", 1).encode())
    found, _ = scan(path)
    with pytest.raises(fixing.NotFixed, match="line endings are not uniform"):
        fixing.fixed(path, found, RULES)


def test_edits_that_touch_each_other_are_made_one_at_a_time():
    (finding,) = scanning.scan_text(BAD, RULES)
    both = [
        dataclasses.replace(finding, edits=(edit,))
        for edit in (Edit(1, 0, 1, 2, "X"), Edit(1, 1, 1, 3, "Y"))
    ]
    assert fixing.applied("abc\n", both) == ("Xc\n", both[:1])


def test_an_edit_that_breaks_the_file_costs_no_other():
    (finding,) = scanning.scan_text(BAD, RULES)
    both = [
        dataclasses.replace(finding, edits=(edit,))
        for edit in (Edit(1, 0, 1, 1, "("), Edit(2, 0, 2, 1, "Y"))
    ]
    assert fixing.applied("a\nb\n", both) == ("a\nY\n", both[1:])


TWO = """\
import torch
def clips(scaler, optimizer, encoder, decoder, loss):
    scaler.scale(loss).backward()
    torch.nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
    torch.nn.utils.clip_grad_norm_(decoder.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
"""
GAN = """\
import torch
def clips(scaler, opt_d, opt_g, D, G, x):
    scaler.scale(D(x).mean()).backward()
    torch.nn.utils.clip_grad_norm_(D.parameters(), 1.0)
    scaler.step(opt_d)
    scaler.scale(D(G(x)).mean()).backward()
    torch.nn.utils.clip_grad_norm_(G.parameters(), 1.0)
    scaler.step(opt_g)
"""
TOO_LATE = BAD.replace("    scaler.step", "    scaler.unscale_(optimizer)\n    scaler.step")
IN_THE_ARM = BAD.replace("    torch.nn", "    if model: torch.nn")
NAME = "import torch\nlayer = Linear(2, 2)\nx = torch.nn.ModuleList([layer] * 3)\n"
PARENTHESES = """\
import torch.nn.functional as F
from torch import nn
class Net(nn.Module):
    def forward(self, x):
        return F.dropout(x, (0.5))
"""
READ_BY_NEXT = """\
import torch
params = model.parameters()
device = next(params).device
for x in loader:
    torch.nn.utils.clip_grad_norm_(params, 1.0)
"""


@pytest.mark.parametrize("text", [GAN, TOO_LATE, IN_THE_ARM, NAME, PARENTHESES, READ_BY_NEXT])
def test_what_is_not_certain_has_no_edit(text):
    found = scanning.scan_text(text, RULES)
    assert found
    assert not any(one.edits for one in found)


GENERATORS = """\
import torch
g, d = a.parameters(), b.parameters()
for x in loader:
    torch.nn.utils.clip_grad_norm_(d, 1.0)
    torch.nn.utils.clip_grad_norm_(g, 1.0)
"""
LAYERS = """\
import torch
x = torch.nn.ModuleList([Linear(2, 2)] * µ)
"""
UNSCALE = "    scaler.unscale_(optimizer)\n"


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (
            TWO,
            "    torch.nn.utils.clip_grad_norm_(e",
            f"{UNSCALE}    torch.nn.utils.clip_grad_norm_(e",
        ),
        (BAD.replace("    ", "\t"), "\ttorch.nn", f"{UNSCALE}    torch.nn".replace("    ", "\t")),
        (
            GENERATORS,
            "a.parameters(), b.parameters()",
            "list(a.parameters()), list(b.parameters())",
        ),
        (LAYERS, "] * µ", " for _ in range(µ)]"),
    ],
)
def test_all_of_it_is_fixed_in_one_go(tmp_path, text, old, new):
    path = tmp_path / "a.py"
    path.write_bytes(f"# coding: latin-1\n{text}".encode("latin-1"))
    found, _ = scan(path)
    _, after, done = fixing.fixed(path, found, RULES)
    assert done == found
    assert after.decode("latin-1") == f"# coding: latin-1\n{text.replace(old, new)}"


@pytest.mark.parametrize("text", [f"\n{BAD}", "import torch\n", "torch(", "torch\0"])
def test_a_file_that_has_changed_meanwhile_is_left_alone(tmp_path, text):
    path = tmp_path / "a.py"
    path.write_text(BAD, encoding="utf-8")
    found, _ = scan(path)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(fixing.NotFixed):
        fixing.fixed(path, found, RULES)


def test_an_edit_after_which_something_else_is_found_is_not_made(tmp_path, monkeypatch):
    path = tmp_path / "a.py"
    path.write_text(BAD, encoding="utf-8")
    (finding,), _ = scan(path)
    again = [dataclasses.replace(finding, id="amp/unscale_twice")]
    results = iter([[finding], again])
    monkeypatch.setattr(scanning, "scan_text", lambda *_: next(results))
    with pytest.raises(fixing.NotFixed, match="would not remove a finding, or would add one"):
        fixing.fixed(path, [finding], RULES)


@pytest.mark.parametrize(
    "data",
    [
        BAD.encode(),
        BAD.replace("\n", "\r\n").encode(),
        f"{BAD}\f\n# \u2028 ".encode(),
        f"# coding: latin-1\n# ä\n{BAD}".encode("latin-1"),
        BAD.replace("(optimizer)\n    scaler.update()\n", "(optimizer); scaler.update()").encode(),
    ],
)
def test_git_applies_the_diff(tmp_path, monkeypatch, data):
    monkeypatch.chdir(tmp_path)
    path = Path("a b ##[c].py")
    path.write_bytes(data)
    before, after, _ = fixing.fixed(path, scan(path)[0], RULES)
    patch = fixing.diff(path, before, after)
    assert b"##[" not in patch  # a command of a CI log
    subprocess.run(["git", "init", "-q", "."], check=True)
    subprocess.run(["git", "apply", "--whitespace=nowarn"], input=patch, check=True)
    assert path.read_bytes() == after


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path, monkeypatch):
    path = tmp_path / "a.py"
    path.touch()
    path.chmod(0o444)
    with pytest.raises(fixing.NotFixed, match="read-only"):
        fixing.write(path, b"x")
    path.chmod(0o644)
    monkeypatch.setattr(os, "replace", lambda *_: (tmp_path / "gone").stat())
    with pytest.raises(FileNotFoundError):
        fixing.write(path, b"x")
    assert list(tmp_path.iterdir()) == [path]


# --- formats --------------------------------------------------------------------------------------


def test_sarif_names_rule_place_and_what_was_passed_over(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a b.py").write_text(BAD, encoding="utf-8")
    (tmp_path / "bad.py").write_text("torch(", encoding="utf-8")
    found, passed = scan(tmp_path)
    log = formats.sarif(found, passed, BY_ID, Measured.load([]), "2.4")
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    (rule,) = run["tool"]["driver"]["rules"]
    assert (rule["id"], rule["defaultConfiguration"]) == (ID, {"level": "error"})
    assert "scaler.unscale_(optimizer)" in rule["help"]["text"]
    (result,) = run["results"]
    assert (result["ruleId"], result["ruleIndex"], result["level"]) == (ID, 0, "error")
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "a%20b.py"}
    assert (place["region"]["startLine"], place["region"]["startColumn"]) == (5, COLUMN)
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert "passed over: not Python" in note["message"]["text"]


def test_github_gets_commands_that_no_text_can_break():
    (finding,) = scanning.scan_text(BAD, RULES)
    odd = dataclasses.replace(finding, path=Path("a,b:c.py"), what="50 %\nof it", when="")
    (line,) = formats.github([odd])
    assert line == (
        f"::error file=a%2Cb%3Ac.py,line=5,endLine=5,col={COLUMN},"
        f"title=amp/clip_before_unscale::50 %25%0Aof it [{ID}]"
    )


def test_json_has_all_of_it(tmp_path):
    (tmp_path / "a.py").write_text(BAD, encoding="utf-8")
    (tmp_path / "b.py").write_text("torch(", encoding="utf-8")
    found, passed = scan(tmp_path)
    whole = formats.as_json(found, passed, BY_ID, Measured.load([]), "2.4")
    assert json.loads(json.dumps(whole)) == whole
    (one,) = whole["findings"]
    assert (one["line"], one["id"], one["fixable"], one["cell"]) == (5, ID, True, None)
    assert whole["reproducers"][ID]["right"] == BY_ID[ID].right
    assert [set(one) for one in whole["passed_over"]] == [{"path", "why"}]


def test_a_rule_that_fails_costs_its_file_alone(tmp_path, monkeypatch):
    def broken(code):
        if "odd" in code.text:
            raise KeyError("odd")
        yield from ()

    monkeypatch.setattr(scanning, "function", lambda id: broken)
    (tmp_path / "a.py").write_text("import torch\n", encoding="utf-8")
    (tmp_path / "b.py").write_text("import torch  # odd\n", encoding="utf-8")
    found, passed = scan(tmp_path)
    assert found == []
    ((path, why),) = passed
    assert path.name == "b.py"
    assert why == f"the rule {RULES[0].id} failed: KeyError: 'odd': please report it"


def test_a_file_that_only_parses_the_local_rank_is_read(tmp_path):
    path = tmp_path / "options.py"
    path.write_text("parser.add_argument('--local_rank', type=int)\nparser.parse_args()\n")
    _, findings, _ = scanning.scan_file(path, scanning.rules(catalog.load()))
    assert [finding.id for finding in findings] == ["distributed/local_rank_with_a_hyphen"]
