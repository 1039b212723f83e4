"""Tests the output of every command in a terminal of 80 columns and in a pipe."""

import re
import subprocess
import sys
import textwrap

import pytest

from matrix import catalog, commands
from matrix.vendoring import originals
from tests.harness.helpers import RETURNS, call, in_terminal, plant

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pty")
MATRIX = (sys.executable, "-m", "matrix")
LONGEST = max((one.id for one in catalog.load()), key=len)
MESSAGE = "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"
BREAKS = "print('on its way'); raise ValueError('Attempting to unscale FP16 gradients.')"
SENTENCE = "a sentence on what was measured, longer than the eighty columns of a terminal by far"


@pytest.fixture(autouse=True)
def list_of_fixes():
    """Restores the list that `fixes` writes. Otherwise, `lint` could not name the missing texts."""
    before = originals.TEXTS.read_bytes()
    yield
    if originals.TEXTS.read_bytes() != before:
        originals.TEXTS.write_bytes(before)


@pytest.fixture
def bad(root):
    """A folder of reproducers: one differs from its header, another cannot be read."""
    plant(root, "planted/one", RETURNS.format(f"thud: {SENTENCE}"))
    plant(root, "planted/two", RETURNS.format("boom"), kind=f'"{SENTENCE}"')
    return root


# Each {name} stands for a folder of the test.
CALLS = [
    "explain",
    f"explain '{MESSAGE}'",
    "explain 'KeyError: a word that no message has, and so several guesses are made of it'",
    "explain missing.log",
    f'exec -- {sys.executable} -c "{BREAKS}"',
    "exec -- no-such-program",
    "search loss stays constant",
    "search xyzzy",
    "diagnose loss-does-not-fall --all",
    "diagnose xyzzy",
    "scan tests/harness/scan/amp/clip_before_unscale.py",
    "scan --select ampp",
    f"show {LONGEST}",
    "show amp/unscale_twice --torch 2.6",
    "show repros/amp/unscale_twicee.py",
    "list",
    "list --rules amp",
    "list --devices",
    "compare 2.6 2.13 --all",
    "compare 2.6 2.99",
    "cite --upstream",
    "cite amp/unscale_twice --device tpu",
    "run planted/one --device cpu --repros {bad}",
    "run -v --device cpu --repros {bad}",
    "run --device cpu --repros {bad}",
    "run --device cuda --repros {bad}",
    "run --python /nowhere/python",
    "vendor ampp --into {tmp}",
    "vendor amp loss --into {tmp}/acme",
    "vendored {tmp}",
    "record 2.44",
    f"record --python {sys.executable} --repeat 1 --records {{tmp}} --repros {{bad}}",
    "bisect amp/autocast_cache_under_no_grad",
    "bisect amp/unscale_twice --good 9.9",
    "merge {tmp} --records {tmp}/merged",
    "torches",
    "new Amp/one",
    "new amp/unscale_twice",
    "headers",
    "headers --records {tmp} --repros {bad}",
    "lint --repros {bad}",
    "fixes",
    "grid --check",
    "grid --repros {bad}",
    "site --into {tmp}/site --repros {bad}",
]


def arguments(line, bad, tmp_path):
    """Splits the line like a shell, and puts --repros before the command."""
    import shlex

    words = shlex.split(line.format(bad=bad, tmp=tmp_path))
    if "--repros" in words:
        at = words.index("--repros")
        words = words[at : at + 2] + words[:at] + words[at + 2 :]
    return words


def test_every_command_is_called_here():
    called = {line.split()[0] for line in CALLS}
    assert called == set(commands.main.places)


@pytest.mark.parametrize("line", CALLS)
def test_no_line_is_longer_than_a_terminal_of_80_columns(line, bad, tmp_path):
    _, output = in_terminal(*MATRIX, *arguments(line, bad, tmp_path), cwd=catalog.ROOT)
    assert output.strip()
    code = {
        part.strip()
        for one in catalog.load()
        for text in (one.source, one.wrong, one.right, one.use)
        for part in text.splitlines()
    }
    assert output.count("Traceback") == line.count("raise ")  # printed by exec's program
    long = [line for line in output.splitlines() if len(line) > 80]
    # code, links and paths are never broken, so that people can copy them; tests have long paths
    long = [one for one in long if re.sub(r"^ *((wrong|right[^:]*): )?", "", one) not in code]
    long = [one for one in long if "://" not in one]
    assert [one for one in long if not re.search(r"\S*/(tmp|nowhere|repros|bin)/\S*", one)] == []


def in_pipe(words, columns, monkeypatch):
    """The output of a command, run in a separate process only if child processes print."""
    monkeypatch.setenv("COLUMNS", columns)
    if words[0] not in ("exec", "--repros"):
        return call(*words).output
    options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
    done = subprocess.run([*MATRIX, *words], cwd=catalog.ROOT, **options)
    return done.stdout + done.stderr


@pytest.mark.parametrize("line", CALLS)
def test_a_pipe_gets_no_colours_and_no_trailing_blanks_and_the_same_lines_in_every_window(
    line, bad, tmp_path, monkeypatch
):
    monkeypatch.chdir(catalog.ROOT)
    words = arguments(line, bad, tmp_path)
    output = in_pipe(words, "40", monkeypatch)
    assert "\x1b" not in output
    assert [line for line in output.splitlines() if line != line.rstrip()] == []
    if line.startswith(("record", "merge", "vendor", "site", "fixes")):
        return  # the second run would find the files of the first run
    again = in_pipe(words, "200", monkeypatch)
    assert re.sub(r"\d+\.\d+ s", "", again) == re.sub(r"\d+\.\d+ s", "", output)


@pytest.mark.parametrize("name", ["", *commands.main.places])
def test_help_fits(name):
    output = call(*filter(None, [name]), "--help", terminal_width=80).output
    assert max(map(len, output.splitlines())) <= 80


@pytest.mark.parametrize(
    ("name", "shown"),
    [("{x}", "{x}"), ("[red]x", "[red]x"), ("a\x1b[8m\u202e", r"a\x1b[8m\u202e")],
)
def test_the_title_of_a_progress_bar_is_shown_as_it_is(name, shown):
    code = f"from matrix.commands import table\nwith table.progress_bar({name!r}): pass"
    output = in_terminal(sys.executable, "-c", code, cwd=catalog.ROOT)
    assert output[0] == 0
    assert f"{shown} " in output[1]


def test_a_diff_of_fixes_has_control_characters_in_a_pipe_only(tmp_path):
    code = """
        import torch

        def train(scaler, optimizer, model, loss):
            scaler.scale(loss).backward()  # \x1b[8m\u202e
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
    """
    (tmp_path / "a.py").write_text(textwrap.dedent(code), encoding="utf-8")
    words = [*MATRIX, "scan", "--fix", tmp_path]
    _, shown = in_terminal(*words, cwd=catalog.ROOT)
    assert r"backward()  # \x1b[8m\u202e" in shown
    piped = subprocess.run(words, cwd=catalog.ROOT, capture_output=True).stdout
    assert "backward()  # \x1b[8m\u202e".encode() in piped
