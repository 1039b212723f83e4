"""Tests that each rule finds exactly the marked lines in FAMILY/NAME.py and in FAMILY/NAME/."""

import re
import textwrap
from collections import Counter
from pathlib import Path

import pytest

from matrix import catalog
from matrix.scan import fixing, scanning
from matrix.scan import rules as folder
from matrix.scan.code import Code

HERE = Path(__file__).parent
RULED = catalog.ruled(catalog.load())
RULES = scanning.rules(RULED)
# FAMILY/NAME/ has cases that need separate files, because a rule may look at the whole file.
FILES = sorted(HERE.glob("*/**/*.py"))
MARK = re.compile(r"# finds (\w+)$")


def rule_of(path):
    """The id of the rule whose cases the file contains."""
    return "/".join(path.relative_to(HERE).with_suffix("").parts[:2])


def marked(path):
    """The line and the rule name of every place that must be found."""
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    return {(number, found[1]) for number, line in lines if (found := MARK.search(line))}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(HERE)))
def test_all_that_is_marked_is_found_and_nothing_else(path):
    found = scanning.scan_text(path.read_text(encoding="utf-8"), RULES)
    assert {(one.line, one.id.split("/")[1]) for one in found} == marked(path)
    family = rule_of(path).split("/")[0]
    assert {one.id.split("/")[0] for one in found} <= {family}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(HERE).as_posix())
def test_what_was_fixed_is_found_no_more(path, tmp_path):
    copy = tmp_path / path.name
    copy.write_bytes(path.read_bytes())
    found = fixable = scanning.scan_text(copy.read_text(encoding="utf-8"), RULES, copy)
    while fixable := [one for one in fixable if one.edits]:  # edits that touch are made later
        _, after, done = fixing.fixed(copy, fixable, RULES)
        assert done
        copy.write_bytes(after)
        fixable = scanning.scan_text(after.decode(), RULES, copy)
    left = scanning.scan_text(copy.read_text(encoding="utf-8"), RULES, copy)
    kept = Counter(one.id for one in found if not one.edits)
    assert Counter(one.id for one in left) == kept


def test_several_rules_have_edits():
    edited = {
        one.id
        for path in FILES
        for one in scanning.scan_text(path.read_text(encoding="utf-8"), RULES)
        if one.edits
    }
    assert edited >= {
        "amp/clip_before_unscale",
        "modules/functional_dropout_in_eval_mode",
        "modules/multiplied_list_shares_one_layer",
        "numerics/clip_exhausted_generator",
    }


def test_every_rule_has_its_file_and_its_cases_and_two_places_that_it_finds():
    ids = {rule.id for rule in RULES}
    files = Path(folder.__file__).parent.glob("*/*.py")
    ruled = {"/".join(path.with_suffix("").parts[-2:]) for path in files if path.stem != "shared"}
    assert ruled == ids
    assert {rule_of(path) for path in FILES} == ids
    places = Counter(
        rule_of(path)
        for path in FILES
        for _, name in marked(path)
        if name == rule_of(path).split("/")[1]
    )
    assert [id for id in sorted(ids) if places[id] < 2] == []


@pytest.mark.parametrize("reproducer", RULED, ids=lambda one: one.id)
def test_a_rule_finds_the_wrong_lines_and_not_the_right_ones(reproducer):
    (rule,) = scanning.rules([reproducer])
    wrong, right = (
        textwrap.dedent(lines.strip("\n")) for lines in (reproducer.wrong, reproducer.right)
    )
    assert scanning.scan_text(wrong, [rule])
    assert scanning.scan_text(right, [rule]) == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_the_words_that_a_rule_needs_are_all_in_what_it_finds(rule):
    """With an unnecessary word, the scan would skip files that contain the failure."""
    text = (HERE / f"{rule.id}.py").read_text(encoding="utf-8")
    function = scanning.function(rule.id)
    found = list(function(Code.of(text)))
    for hit in found:
        line = text.split("\n")[hit.node.lineno - 1]
        assert line.endswith(f"# finds {function.__name__}")


@pytest.mark.parametrize(
    ("index", "advice"),
    [
        ("::-1", "use x.flip(0)"),
        (":, ::-1", "use x.flip(1)"),
        ("..., ::-1", "use x.flip(-1)"),
        ("..., ::-1, :", "use x.flip(-2)"),
        (":, ::-1, ::-1", "use x.flip(1, 2)"),
        ("None, ::-1", "index x.flip(0) instead"),
        ("0, ::-1", "index x.flip(1) instead"),
        ("::-2", "index x.flip(0) instead"),
    ],
)
def test_a_negative_step_names_the_dimension_to_flip(index, advice):
    text = f"import torch\nx = torch.zeros(6, 3, 4)\ny = x[{index}]\n"
    (found,) = scanning.scan_text(text, RULES)
    assert advice in found.what


def test_the_number_of_a_size_keeps_its_type():
    text = "import torch\nx = y / torch.{}(2)\n"
    for kind, number in (("Tensor", "2.0"), ("FloatTensor", "2.0"), ("LongTensor", "2")):
        (found,) = scanning.scan_text(text.format(kind), RULES)
        assert f"torch.tensor({number})" in found.what


def test_an_origin_names_only_the_outer_class_and_the_last_layer():
    code = """
        class Head(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.Sequential(nn.Linear(8, 3), nn.Softmax(dim=1))

            def forward(self, x):
                return self.layers(x)

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.head = Head()

            def forward(self, x):
                return self.head(x)

        model = Net()
        loss = F.cross_entropy(model(x), y)
    """
    [found] = scanning.scan_text(textwrap.dedent(code), RULES)
    assert "(Net ends in nn.Softmax(dim=1))" in found.what
