import pytest

from matrix import catalog, causes

REPRODUCERS = catalog.load()
TWICE = [reproducer for reproducer in REPRODUCERS if reproducer.id == "amp/unscale_twice"]
GOOD = """\
# a comment

[[message]]
title = "a"
keywords = ["a loss that stays", "nothing trains"]
causes = [
    { cause = "no water", check = "look" },
    { cause = "sun", check = "look", see = "amp/unscale_twice" },
]
"""
SECOND = """
[[message]]
title = "b"
causes = [
    { cause = "sun", check = "look", see = "amp/unscale_twice" },
]
"""


@pytest.fixture
def problems(monkeypatch, tmp_path):
    """Returns a function: problems(text) returns the problems of a causes.toml with this text."""
    path = tmp_path / "causes.toml"
    monkeypatch.setattr(causes, "CAUSES", path)

    def problems(text, reproducers=TWICE):
        path.write_text(text, encoding="utf-8")
        return [problem.removeprefix(f"{tmp_path}/") for problem in causes.problems(reproducers)]

    return problems


def test_the_projects_own_causes_have_no_problems():
    assert causes.problems(REPRODUCERS) == []


def test_every_group_and_every_cause_knows_its_line():
    lines = ["", *causes.CAUSES.read_text(encoding="utf-8").splitlines()]
    for group in causes.load():
        assert lines[group.line] == "[[message]]"
        for cause in group.causes:
            assert cause.cause.split("'")[0].split('"')[0] in lines[cause.line]
            assert cause.see in lines[cause.line]


def test_a_group_may_have_keywords(problems):
    assert problems(GOOD) == []


@pytest.mark.parametrize(
    ("before", "after", "line", "text"),
    [
        ("amp/unscale_twice", "amp/no_such", 8, "'a': no reproducer 'amp/no_such', or a retired"),
        ('check = "look" }', 'check = "" }', 7, "'a': check: '' is blank"),
        (', check = "look" }', " }", 7, "'a': check: missing"),
        ("see =", "sea =", 8, "'a': sea: unknown key; expected one of cause, check, see"),
        ("keywords =", "keyword =", 5, "'a': keyword: unknown key; expected one of title, causes"),
        ('["a loss that stays", "nothing trains"]', '"x"', 5, "'a': keywords: 'x' is not a list"),
        ("nothing trains", " ", 5, "'a': keywords: ['a loss that stays', ' '] has a blank string"),
        ('"nothing trains"', "1", 5, "'a': keywords: ['a loss that stays', 1] is not a list of"),
        ('title = "a"\n', "", 3, "'message 1': title: missing"),
        ('"a loss that stays",', '"a loss that stays', 5, "not TOML: "),
    ],
)
def test_what_is_wrong_with_a_group_or_a_cause_is_named_with_its_line(
    problems, before, after, line, text
):
    assert before in GOOD
    (problem,) = problems(GOOD.replace(before, after, 1))
    assert problem.startswith(f"causes.toml:{line}: {text}")


def test_a_cause_that_is_not_a_table_is_a_problem_and_not_a_crash(problems):
    found = problems(GOOD.replace('{ cause = "no water", check = "look" }', '"no water"'))
    assert any(problem.startswith("causes.toml:8: 'a': ") for problem in found)


def test_a_reproducer_in_two_groups_is_a_problem(problems):
    (problem,) = problems(GOOD + SECOND)
    assert problem == (
        "causes.toml:14: 'amp/unscale_twice' is listed under both 'a' (line 3) and 'b'"
    )


def test_every_problem_is_listed_at_once(problems):
    text = GOOD.replace("see =", "sea =").replace("keywords =", "keyword =")
    assert len(problems(text)) == 2


def test_a_message_that_several_reproducers_share_belongs_in_one_group(problems):
    wrong = problems(GOOD, REPRODUCERS)
    assert wrong
    assert all("and are not in one group" in problem for problem in wrong)
