"""Tests the text of the flat program in a report; tests/test_programs.py runs all programs."""

import ast
import statistics

import pytest

from matrix import catalog, program

REPRODUCERS = catalog.select(catalog.load(), ())
MAIN = '\n\nif __name__ == "__main__":\n    print("the end that is the same in all")\n'
CONTROL = "# The control: the same without the cause.\n"


def flat(code, kind="error", device="cpu"):
    return program.flat(code.strip("\n") + MAIN, kind, device)


def roles(*, helper="", failure="return run(device, bad=True)", control="return run(device)"):
    return f"""
import torch


{helper}


def reproduce(device):
    {failure}


def control(device):
    {control}
"""


SILENT = """\
def run(device, bad=False):
    x = torch.ones(2, device=device)  # two values
    if bad:
        return f"it is {x}\""""


def test_what_a_helper_returns_is_printed_the_control_first():
    assert (
        flat(roles(helper=SILENT), device="mps")
        == f"""\
import torch


{SILENT}


{CONTROL}print("control:", run("mps") or "ok")
# The failure.
print("seen:", run("mps", bad=True) or "ok")"""
    )


RAISING = """\
def run(device, bad=False):
    x = torch.ones(2)
    try:
        # the step
        x.step(
            bad, '''of
        many lines'''
        )
    except RuntimeError as error:
        return str(error)"""


def test_an_error_that_is_the_symptom_is_not_caught():
    assert (
        flat(roles(helper=RAISING))
        == f"""\
import torch


def run(device, bad=False):
    x = torch.ones(2)
    # the step
    x.step(
        bad, '''of
        many lines'''
    )


{CONTROL}run("cpu")
print("control: ok")
# The failure.
run("cpu", bad=True)
print("seen: ok")"""
    )


@pytest.mark.parametrize(
    "handler",
    [
        'except RuntimeError as error:\n        return f"cannot go on: {error}"',
        'except RuntimeError:\n        return "cannot go on"',
        "except RuntimeError as error:\n        if x:\n            return str(error)",
        "except RuntimeError as error:\n        errors.append(str(error))",
        "except RuntimeError as error:\n        return str(error)\n    else:\n        return None",
        'except ValueError as error:\n        return str(error)\n    except TypeError:\n        return "no"',
    ],
)
def test_an_error_that_is_looked_at_is_still_caught(handler):
    helper = f"def run(device, bad=False):\n    try:\n        x = step(bad)\n    {handler}"
    assert helper in flat(roles(helper=helper))


def test_an_error_whose_text_is_looked_at_elsewhere_is_still_caught():
    failure = "return run(device, bad=True) and run(device)"
    assert "except RuntimeError" in flat(roles(helper=RAISING, failure=failure))


def test_what_is_put_back_after_an_error_still_is():
    helper = RAISING + "\n    finally:\n        x.reset()"
    text = flat(roles(helper=helper))
    assert "except" not in text
    assert "    finally:\n        x.reset()\n\n\n#" in text


def test_a_role_that_checks_which_error_it_is_shows_the_error():
    failure = """try:
        run(device, bad=True)
    except RuntimeError as error:
        if "step" not in str(error):
            raise
        return str(error)"""
    text = flat(roles(helper="def run(device, bad=False):\n    step(bad)", failure=failure))
    assert text.endswith('# The failure.\nrun("cpu", bad=True)\nprint("seen: ok")')


def test_the_lines_of_a_role_become_lines_of_the_program():
    failure = "x = 2  # as many\n    with torch.no_grad():\n        return run(device, x)"
    text = flat(roles(helper=SILENT, failure=failure))
    assert text.endswith(
        '# The failure.\nx = 2  # as many\nwith torch.no_grad():\n    print("seen:", run("cpu", x) or "ok")'
    )


def test_a_decorator_at_the_start_of_a_role_stays():
    failure = "@torch.no_grad()\n    def step():\n        pass\n\n    step()"
    assert flat(roles(failure=failure)).endswith(
        '# The failure.\n@torch.no_grad()\ndef step():\n    pass\n\nstep()\nprint("seen: ok")'
    )


def test_a_role_that_may_return_nothing_prints_so():
    failure = """try:
        run(device, bad=True)
    except KeyError as error:
        return repr(error)"""
    text = flat(roles(helper=SILENT, failure=failure))
    assert "# The failure.\nseen = None\ntry:\n" in text
    assert text.endswith('    seen = repr(error)\nprint("seen:", seen or "ok")')


def test_a_role_that_returns_before_its_end_stays_a_function():
    failure = "if torch:\n        return run(device)\n    return run(device, bad=True)"
    text = flat(roles(helper=SILENT, failure=failure))
    assert "# The failure.\ndef with_the_cause(device):\n    if torch:" in text
    assert text.endswith('\n\n\nprint("seen:", with_the_cause("cpu") or "ok")')


def test_a_long_value_has_a_line_of_its_own():
    failure = "return run(\n        device, lambda x: x\n    )"
    text = flat(roles(helper=SILENT, failure=failure))
    assert text.endswith('seen = run(\n    "cpu", lambda x: x\n)\nprint("seen:", seen or "ok")')
    text = flat(roles(helper=SILENT, failure='return "x" if run(device) else None'))
    assert text.endswith('print("seen:", seen or "ok")')  # inlined, `or` would bind to None


def test_nothing_is_left_that_the_program_does_not_use():
    code = """
import gc
import os.path
import torch
from math import inf, nan

LIMIT, OTHER = 5, gc.collect
TWICE = 2 * inf


def used():
    return LIMIT


def reproduce(device):
    return used()


def control(device):
    return None


def popular_fix(device):
    return os.path.join(TWICE, nan)
"""
    text = flat(code)
    assert text.startswith("import gc\n\nLIMIT, OTHER = 5, gc.collect\n\n\ndef used():")
    assert flat(code.replace("used():\n    return LIMIT", "used():\n    return nan")).startswith(
        "from math import nan\n\n\ndef used()"
    )


def test_defaults_of_a_role_are_variables_once():
    code = roles(
        helper=SILENT, failure="return run(device, n * m)", control="return run(device, n)"
    )
    code = code.replace("reproduce(device)", "reproduce(device, n=3, m=4)")
    text = flat(code.replace("control(device)", "control(device, n=3)"))
    assert 'n = 3\nprint("control:"' in text
    assert text.endswith('# The failure.\nm = 4\nprint("seen:", run("cpu", n * m) or "ok")')


def test_a_device_that_is_looked_at_has_a_name():
    text = flat(roles(helper=SILENT, failure='return run("meta" if device == "cpu" else device)'))
    assert f'\n\ndevice = "cpu"\n{CONTROL}print("control:", run("cpu") or "ok")' in text


def test_a_crash_names_its_line_and_comes_last():
    text = flat(roles(helper="def run(device, bad=False):\n    step(bad)"), kind="crash")
    assert text.startswith("import faulthandler\n\n\ndef run")
    assert "faulthandler.enable()\n# The control" in text
    assert text.index('print("control: ok")') < text.index("ends the process by a signal")
    hang = flat(roles(helper="def run(device, bad=False):\n    step(bad)"), kind="hang")
    assert "# The failure: it hangs" in hang


def test_spawned_processes_do_not_run_the_program_again():
    helper = SILENT.replace("device=device", "num_workers=1")
    text = flat(roles(helper=helper))
    assert 'if __name__ == "__main__":\n    # The control' in text
    assert "__main__" not in flat(roles(helper=helper.replace("bad=False", 'bad="fork"')))


def test_a_function_that_may_be_pickled_stays_inside_a_function():
    helper = SILENT.replace("device=device", "num_workers=1")
    text = flat(roles(helper=helper, failure="return run(device, lambda x: x)"))
    assert "\n\n\ndef main():\n    # The control" in text
    assert text.endswith('\n\n\nif __name__ == "__main__":\n    main()')


def test_a_variable_of_a_role_does_not_replace_what_a_function_uses():
    failure = "run_again = 1\n    return run(device, run_again)"
    helper = f"def run_again():\n    pass\n\n\n{SILENT}\n    run_again()"
    assert "def main():" in flat(roles(helper=helper, failure=failure))
    assert "def main():" not in flat(roles(helper=SILENT, failure=failure))


def test_a_file_that_is_no_python_is_shown_as_it_is():
    assert program.flat("def reproduce(device:\n", "error", "cpu") == "def reproduce(device:\n"


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ("control: ok\nseen: boom\n", True),
        ("a warning\ncontrol: ok\nTraceback\nError: boom\n", True),
        ("control: ok\nError: a\n  boom\n", True),
        ("control: ok\nseen: ok\n", False),
        ("control: boom\nseen: boom\n", False),
        ("control: boom\ncontrol: ok\nseen: boom\n", False),
        ("boom\n", False),
    ],
)
def test_the_symptom_counts_once_the_control_has_passed(output, shown):
    assert program.shows(output, "^boom|a boom|Error: boom") is shown


def test_the_control_of_what_was_printed_is_not_searched():
    assert program.seen("boom\ncontrol: ok\nseen: it\n") == "it\n"


# The number of longer programs for bugs in torch. Before raising it, try to shorten the program.
LONGER = 26


def test_programs_have_at_most_25_lines_of_code_but_for_a_few():
    programs = {reproducer.id: reproducer.program("cpu") for reproducer in REPRODUCERS}
    lines = {id: program.code_lines(text) for id, text in programs.items()}
    assert statistics.median(lines.values()) <= program.MAX_LINES
    torchs_own = {
        reproducer.id for reproducer in REPRODUCERS if reproducer.origin == "torch"
    }  # reported to PyTorch
    longer = {id for id in torchs_own if lines[id] > program.MAX_LINES}
    assert len(longer) <= LONGER, sorted(longer)
    wide = {id for id, text in programs.items() if max(map(len, text.splitlines())) > 100}
    assert wide == set()


def test_a_program_has_no_roles_or_unused_names_of_its_reproducer():
    for reproducer in REPRODUCERS:
        check_program(reproducer.program(reproducer.devices[0]))


def check_program(text):
    tree = ast.parse(text)
    names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert not names & set(catalog.ROLES), text
    assert "sys.argv[1] if" not in text
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    imported = {
        (alias.asname or alias.name).partition(".")[0]
        for node in tree.body
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    assert imported <= used, text
