import ast
import json

import pytest

from matrix import advice, catalog
from tests.harness.helpers import plant
from tests.harness.recorded import measurement, record

CODE = """\
import torch


def step(lr):
    weight = torch.zeros(1)
    weight -= lr
    return weight


def reproduce(device):
    return "boom"


def control(device):
    lr = float("0.1")
    return None if step(lr) == -lr else "off"
"""


def found(root, code=CODE, records=(), **header):
    """The problems of a planted reproducer, without file and line; header values are plain text."""
    header = {"fix": None, "right": 'lr = float("0.1")', **header}
    plant(
        root,
        "amp/one",
        code,
        **{key: None if value is None else json.dumps(value) for key, value in header.items()},
    )
    (reproducer,) = catalog.load(root)
    problems = advice.message_problems([reproducer], list(records))
    problems = [*advice.line_problems(reproducer), *problems]
    return [problem.partition(": ")[2] for problem in problems]


def test_lines_that_control_runs_as_they_are_printed_are_in_order(root):
    assert found(root) == []
    inside = "weight = torch.zeros(1)\nweight -= lr"  # called by control()
    assert found(root, right=inside, wrong="lr") == []


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ("lr = float('0.2')", CODE),
        ("lr = 0.1", CODE),
        ("weight = torch.zeros(1)\nreturn_weight = weight", CODE),
        (
            "lr = float('0.1')",
            CODE.replace("control(device):\n    lr", "control(device):\n    rate"),
        ),
        ("lr = float('0.1')", CODE.replace("def control", "def popular_fix")),
    ],
)
def test_lines_that_no_role_runs_as_they_are_printed_are_a_problem(root, lines, code):
    (problem,) = found(root, code, right=lines)
    assert problem == "right: neither control() nor right() contains its lines as they are printed"


def test_imports_of_the_lines_may_stand_at_the_top_of_the_file(root):
    lines = "import math\nfrom os import path as p\nlr = math.pi"
    code = CODE.replace('float("0.1")', "math.pi")
    imports = "import math\nfrom os import path as p\n"
    assert found(root, imports + code, right=lines) == []
    assert len(found(root, imports.replace(" as p", "") + code, right=lines)) == 1


@pytest.mark.parametrize("key", ["right", "use"])
def test_a_name_that_is_neither_defined_nor_shown_is_a_problem(root, key):
    header = {"right": None, "fix": "amp.fix", "use": "from amp import fix\nfix(model, good)"}
    code = CODE
    if key == "right":
        header = {"right": "fix(model, good)"}
        code = CODE.replace("    return None if", "    fix(model, good)\n    return None if")
    (problem,) = found(root, code, wrong="model.step()", **header)
    missing = "good" if key == "use" else "fix, good"
    assert problem == f"{key}: neither defined there nor shown under `wrong`: {missing}"


def test_the_lines_that_use_a_fix_import_it_and_the_plain_ones_do_without(root):
    fix = {"fix": "amp.fix"}
    (missing,) = found(root, right=None, **fix)
    assert missing == "fix: `use` has no `from amp import fix`"
    (other,) = found(root, right=None, use="from loss import fix\nfix()", **fix)
    assert other == "use: `use` has no `from amp import fix`"
    code = CODE.replace("    return None if", "    fix(lr)\n    return None if")
    use = "from amp import fix\nfix(1)"
    other = CODE.replace("    return None if", "    torch.fix(lr)\n    return None if")
    lines = {"right": "torch.fix(lr)", "use": "from amp import fix\nfix(1)", "choice": "Take"}
    assert found(root, other, wrong="lr", **lines, **fix) == []
    problems = found(root, code, wrong="lr; fix", right="fix(lr)", use=use, choice="Take", **fix)
    assert problems == ["right: it calls fix() of the fix: that is what `use` is for"]


def test_where_there_are_two_ways_the_header_says_which_to_take(root):
    use = {"fix": "amp.fix", "use": "from amp import fix\nfix()"}
    assert found(root, **use) == [
        "fix: `choice` does not say whether to take `right` or the fix, and why"
    ]
    assert found(root, **use, choice="Use the lines") == []


def test_the_lines_of_a_retired_reproducer_are_not_checked_against_its_code(root):
    assert found(root, right="lr = 0.2") != []
    assert found(root, right="lr = 0.2", retired="never was one") == []


def test_a_message_and_each_of_its_alternatives_was_raised_in_a_run_on_record(root):
    messages = ["cannot (?:add|divide) tensors", "went wrong"]
    runs = [
        record("2.3.1", {"amp/one": measurement(text="they Cannot add\n  tensors", said="")}),
        record("2.4.1", {"amp/one": measurement(text="boom", said="it went wrong")}),
    ]
    (problem,) = found(root, records=runs, messages=messages)
    assert problem.startswith("messages: 'cannot (?:add|divide) tensors': no run on record raised ")
    assert "its alternative 'cannot (?:divide) tensors'" in problem
    first = [record("2.3.1", {"amp/one": measurement(text="cannot divide tensors", said="")})]
    assert found(root, records=runs + first, messages=messages) == []
    assert len(found(root, messages=["went wrong"])) == 1
    assert found(root, elsewhere=["went wrong"]) == []


@pytest.mark.parametrize(
    ("pattern", "size"),
    [
        (r"size of tensor a \(3\) must match", "3"),
        (r"shape \[2, \d\] is invalid", "2"),
        (r"mat1 and mat2 shapes cannot be multiplied \(4x8 and", "4"),
        (r"at dimension 1 is wrong", "1"),
        (r"expected Float16 but found 3D input", ""),
        (r"Errno 24: too many", ""),
        (r"sizes \d{1,9} and \d{1,9} differ", ""),
    ],
)
def test_a_pattern_holds_no_size_of_the_files_own(root, pattern, size):
    problems = found(root, elsewhere=[pattern])
    assert len(problems) == bool(size)
    assert not size or f"a size of this file's tensors, {size}" in problems[0]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("a b", ["a b"]),
        ("(a)?b", ["(a)?b"]),
        ("a(?:b|c)d", ["a(?:b)d", "a(?:c)d"]),
        (r"a\(b|c", [r"a\(b", "c"]),
        ("[(|]a(?!x|y)b", ["[(|]a(?!x|y)b"]),
        ("a(?:b(?:c|d)|e)", ["a(?:b(?:c))", "a(?:b(?:d))", "a(?:b(?:c|d))", "a(?:e)"]),
        ("(?:a|b)|c", ["(?:a)", "(?:b)", "(?:a|b)", "c"]),
    ],
)
def test_the_alternatives_of_a_pattern(pattern, expected):
    assert advice.alternatives(pattern) == expected


def test_lines_inside_a_loop_or_a_class_are_found_too():
    code = ast.parse(
        "class A:\n    def f(self):\n        for x in y:\n            a = 1\n            b = 2\n"
        "def control(device):\n    A().f()\n"
    )
    assert advice.stands_in("a = 1\nb = 2", code, ("control",))
    assert not advice.stands_in("b = 2\na = 1", code, ("control",))
    assert not advice.stands_in("a = 1\nb = 2", code, ("right",))
