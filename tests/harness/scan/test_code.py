"""Tests what Code knows about names, scopes and blocks."""

import ast

import pytest

from matrix.scan import code as reading
from matrix.scan import files
from matrix.scan.code import Code, Edit, TooLong, edited

TEXT = """
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import clip_grad_norm_ as clip
from mine import softmax

class Model(nn.Module):
    def __init__(self):
        self.loss = nn.CrossEntropyLoss()
        self.other = None

    def step(self, x, y):
        first = F.relu(x)
        first = F.gelu(first)
        use(first)
        for number, batch in enumerate(y):
            if number:
                a(batch)
            else:
                b(batch)
        return self.loss(x, y)

    def late(self):
        self.other = nn.MSELoss()

def outer():
    given = nn.Linear(2, 2)
    def inner():
        return given
    pair, unknown = nn.ReLU(), make()
    pair; unknown; softmax(1); clip([]); dropout(2); nowhere.dropout(3)
"""
CODE = Code.of(TEXT)


def call(name):
    (found,) = CODE.calls[name]
    return found


def name(id, last=True):
    found = [node for node in ast.walk(CODE.tree) if isinstance(node, ast.Name) and node.id == id]
    return sorted(found, key=reading.place)[-1 if last else 0]


@pytest.mark.parametrize(
    ("of", "full", "torch"),
    [
        ("relu", "torch.nn.functional.relu", "relu"),
        ("Linear", "torch.nn.Linear", "Linear"),
        ("clip", "torch.nn.utils.clip_grad_norm_", "clip_grad_norm_"),
        ("softmax", "mine.softmax", ""),
        ("loss", "self.loss", ""),
    ],
)
def test_names_are_followed_through_imports(of, full, torch):
    assert CODE.full(call(of).func) == full
    assert CODE.torch(call(of).func) == torch


def test_a_bare_name_that_nobody_defines_may_be_torch_s():
    bare, method = CODE.calls["dropout"]
    assert CODE.torch(bare.func) == "dropout"
    assert CODE.torch(method.func) == ""
    assert CODE.method(method) == "dropout"
    assert Code.of("F.dropout(x)").torch(ast.parse("F.dropout").body[0].value) == "dropout"


def test_a_name_is_what_it_was_given_last_before():
    assert CODE.torch(CODE.value(name("first")).func) == "gelu"
    assert CODE.torch(CODE.value(call("gelu").args[0]).func) == "relu"
    assert CODE.value(name("x")) is None  # an argument
    assert CODE.value(name("batch")) is None
    assert CODE.made_by(name("given"), "Linear")
    assert CODE.made_by(name("pair"), "ReLU")
    assert not CODE.made_by(name("unknown"), "ReLU")


def test_an_attribute_is_what_its_class_gives_it_where_that_is_one_thing():
    assert CODE.made_by(call("loss").func, "CrossEntropyLoss")
    other = next(
        target for node in CODE.all(ast.Assign) for target in node.targets
        if reading.path(target) == "self.other"
    )  # fmt: skip
    assert CODE.made_by(other, "MSELoss")  # an assignment of None is ignored


def test_what_encloses_a_place():
    (loop,) = CODE.loops(call("a"))
    assert isinstance(loop, ast.For)
    assert CODE.loops(call("use")) == []
    assert CODE.loops(call("enumerate")) == []  # the call is evaluated once
    assert [reading.source(one) for one in CODE.conditions(call("a"))] == ["number"]
    assert CODE.conditions(call("b")) == []
    assert CODE.excludes(call("a"), call("b"))
    assert not CODE.excludes(call("a"), call("use"))
    assert CODE.owner(call("a")).name == "Model"
    assert CODE.function(call("a")).name == "step"
    assert CODE.function(call("softmax")).name == "outer"
    assert len(CODE.block(CODE.statement(call("use")))) == 5
    assert [one.func.id for one in CODE.calls_in(loop, "a", "b")] == ["a", "b"]


def test_arguments_are_found_by_place_and_by_name():
    found = ast.parse("f(1, *rest, 2, key=3)").body[0].value
    assert reading.constant(reading.argument(found, 0)) == 1
    assert reading.argument(found, 2) is None  # *rest has an unknown length
    assert reading.constant(reading.argument(found, 9, "key")) == 3
    assert reading.argument(found, -1, "other") is None
    assert reading.has_unpacked(found)
    assert not reading.has_unpacked(ast.parse("f(1)").body[0].value)
    assert reading.constant(ast.parse("-2.5").body[0].value) == -2.5
    assert reading.constant(ast.parse("-x").body[0].value) is None
    assert reading.source(ast.parse("x" * 99).body[0].value, 20) == "x" * 17 + "..."


def followed(text, of):
    """The value of the last use of a name, as source text."""
    code = Code.of(text)
    uses = [one for one in ast.walk(code.tree) if reading.path(one) == of]
    value = code.value(max(uses, key=reading.place))
    return None if value is None else ast.unparse(value)


@pytest.mark.parametrize(
    ("text", "of", "value"),
    [
        ("class A:\n def f(self):\n  self.x = 1\n def g(self): self.x", "self.x", "1"),
        (
            "class A:\n def f(self):\n  self.x, y = z\n  self.x = 1\n def g(self): self.x",
            "self.x",
            None,
        ),
        (
            "class A:\n def f(self):\n  self.x = None\n  self.x = 1\n def g(self): self.x",
            "self.x",
            "1",
        ),
        ("class A:\n def f(self):\n  self.x = self.x + 1\n def g(self): self.x", "self.x", None),
        ("class A:\n x = 1\n def g(self): self.x", "self.x", "1"),
        ("class A:\n x = 1\ndef g(): x", "x", None),
        ("x = 1\ndef f():\n global x\n x = 2\ndef g(): x", "x", None),
        ("def f():\n x = 1\n def g():\n  nonlocal x\n  x = 2\n x", "x", None),
        ("def f(y):\n x = 1\n match y:\n  case [x]:\n   x", "x", None),
        ("try: pass\nexcept E as x: x", "x", None),
        ("x = 1\nx = x + 1\nx", "x", "x + 1"),
    ],
)
def test_a_name_stands_for_what_is_certain(text, of, value):
    assert followed(text, of) == value


@pytest.mark.parametrize(
    ("text", "torch"),
    [
        ("from torch import relu\nrelu(x)", "relu"),
        ("try:\n from torch.a import relu\nexcept E:\n from torch.b import relu\nrelu(x)", "relu"),
        ("def f():\n from mine import relu\ndef g():\n from torch import relu\nrelu(x)", ""),
    ],
)
def test_a_name_that_is_imported_from_two_places_is_nobody_s(text, torch):
    code = Code.of(text)
    assert code.torch(code.calls["relu"][0].func) == torch


def test_a_call_is_found_by_the_name_of_its_module_too():
    assert CODE.calls["clip_grad_norm_"] == CODE.calls["clip"]


@pytest.mark.parametrize(
    ("text", "at", "new", "stays"),
    [
        ("x = 1\ny = (2)\n", "2", "3", True),
        ("x = 1\ny = (2)\n", "2", "(", False),
        ("def f():\n\treturn (2)\n", "2", "a = 3", False),
        ("def f():\n    x\n    y\n", "y", "yield\n    y", True),
        ("if a:\n    b\nelif (c):\n    d\n", "c", "e", True),
        ("if a:\n    b\nelif (c):\n    d\n", "c", ")", False),
        ("if a: b\n", "b", "c\nd", True),
        ("x; y = (\n2)\n", "2", "3", True),
        ("@f(2)\ndef g(): pass\n", "2", "x", True),
        ('x = """\n    2\n"""\n', "2", "3", True),
        ("    # 2\nx\n", "2", "3", True),
        ("try:\n    x\nexcept (2):\n    y\n", "2", "E as e", False),
    ],
)
def test_what_stays_python_after_an_edit(text, at, new, stays):
    line = text[: text.index(at)].count("\n") + 1
    column = text.split("\n")[line - 1].index(at)
    edit = Edit(line, column, line, column + 1, new)
    code = Code.of(text)
    assert code.stays_python((edit,)) is stays
    assert files.is_python(edited(text, [edit])) is stays


def test_edits_are_checked_within_the_seconds_that_a_file_has():
    code = Code(ast.parse("x"), "x")
    with code.limited(-1.0), pytest.raises(TooLong):
        code.stays_python((Edit(1, 0, 1, 1, "y"),))
