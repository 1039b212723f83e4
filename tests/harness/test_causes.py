import pytest

from matrix import catalog, causes

REPRODUCERS = catalog.load()
TWICE = [reproducer for reproducer in REPRODUCERS if reproducer.id == "amp/unscale_twice"]
GOOD = """\
[[message]]
name = "a"
title = "a"
keywords = ["a loss that stays", "nothing trains"]
causes = [
    { cause = "no water", check = "look" },
    { cause = "sun", check = "look", see = "amp/unscale_twice" },
]
"""
SECOND = """
[[message]]
name = "b"
title = "b"
causes = [
    { cause = "sun", check = "look", see = "amp/unscale_twice" },
]
"""


@pytest.fixture
def problems(monkeypatch, tmp_path):
    """Returns a function: problems(text) returns the problems of a file with this text."""
    path = tmp_path / "training.toml"
    monkeypatch.setattr(causes, "MESSAGES", tmp_path)

    def problems(text, reproducers=TWICE, listed=("a", "b")):
        path.write_text(text, encoding="utf-8")
        found = causes.problems(reproducers, set(listed))
        return [
            problem.removeprefix(f"{tmp_path}/")
            for problem in found
            if "no longer a" not in problem
        ]

    return problems


def test_the_projects_own_causes_have_no_problems():
    assert causes.problems(REPRODUCERS, set(causes.NAMES.read_text().split())) == []


def test_every_group_and_every_cause_knows_its_line():
    for group in causes.load():
        lines = ["", *group.path.read_text(encoding="utf-8").splitlines()]
        assert lines[group.line] == "[[message]]"
        for cause in group.causes:
            assert cause.cause.split("'")[0].split('"')[0] in lines[cause.line]
            assert cause.see in lines[cause.line]


def test_a_group_may_have_keywords(problems):
    assert problems(GOOD) == []


@pytest.mark.parametrize(
    ("before", "after", "line", "text"),
    [
        ("amp/unscale_twice", "amp/no_such", 7, "'a': no reproducer 'amp/no_such', or a retired"),
        ('check = "look" }', 'check = "" }', 6, "'a': check: '' is blank"),
        (', check = "look" }', " }", 6, "'a': check: missing"),
        ("see =", "sea =", 7, "'a': sea: unknown key; expected one of cause, check, see"),
        ("keywords =", "keyword =", 4, "'a': keyword: unknown key; expected one of name, title"),
        ('["a loss that stays", "nothing trains"]', '"x"', 4, "'a': keywords: 'x' is not a list"),
        ("nothing trains", " ", 4, "'a': keywords: ['a loss that stays', ' '] has a blank string"),
        ('"nothing trains"', "1", 4, "'a': keywords: ['a loss that stays', 1] is not a list of"),
        ('title = "a"\n', "", 1, "'message 1': title: missing"),
        ('"a loss that stays",', '"a loss that stays', 4, "not TOML: "),
    ],
)
def test_what_is_wrong_with_a_group_or_a_cause_is_named_with_its_line(
    problems, before, after, line, text
):
    assert before in GOOD
    (problem,) = problems(GOOD.replace(before, after, 1))
    assert problem.startswith(f"training.toml:{line}: {text}")


def test_a_cause_that_is_not_a_table_is_a_problem_and_not_a_crash(problems):
    found = problems(GOOD.replace('{ cause = "no water", check = "look" }', '"no water"'))
    assert any(problem.startswith("training.toml:7: 'a': ") for problem in found)


def test_a_message_that_is_listed_twice_is_a_problem(problems):
    other = SECOND.replace(', see = "amp/unscale_twice"', "")
    assert problems(GOOD + other) == []
    assert problems(GOOD + other.replace('title = "b"', 'title = "a"')) == [
        "training.toml:10: 'b' has the title of 'a'"
    ]


def test_a_reproducer_in_two_groups_is_a_problem(problems):
    (problem,) = problems(GOOD + SECOND)
    assert problem == (
        "training.toml:14: 'amp/unscale_twice' is listed under both 'a' (line 1) and 'b'"
    )


def test_every_problem_is_listed_at_once(problems):
    text = GOOD.replace("see =", "sea =").replace("keywords =", "keyword =")
    assert len(problems(text)) == 2


def test_a_message_that_several_reproducers_share_belongs_in_one_group(problems):
    wrong = problems(GOOD, REPRODUCERS)
    assert wrong
    assert all("and are not in one group" in problem for problem in wrong)


NOT_RUN = """\
[[message]]
name = "a"
title = "a"
texts = ["no kernel image"]
causes = [
    { cause = "the card is too new", check = "look", source = "https://example.org" },
    { cause = "it is too old", check = "look" },
]
"""


def test_a_cause_that_no_run_has_shown_needs_a_source(problems):
    (problem,) = problems(NOT_RUN)
    assert problem.startswith("training.toml:7: 'a': it has no `see`, `source` or `wrong`")
    assert problems(NOT_RUN.replace('"look" }', '"look", source = "https://example.org" }')) == []
    assert problems(NOT_RUN.replace('"look" }', '"look", wrong = "1 / 0", right = "1" }')) == []


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ('wrong = "1 / 0"', "`wrong` and `right` belong together"),
        ('right = "1"', "`wrong` and `right` belong together"),
        ('requires = ">=2.0"', "`requires` applies to the lines under `wrong`"),
        ('wrong = "1 / 0", right = "1", requires = "2"', "requires: '2' is not"),
    ],
)
def test_lines_that_raise_a_message_have_a_counterpart(problems, keys, text):
    with_source = '"look", source = "https://example.org", '
    (problem,) = problems(NOT_RUN.replace('"look" }', f"{with_source}{keys} }}"))
    assert text in problem


def test_the_name_of_a_message_is_listed_once_and_for_ever(problems, tmp_path):
    (problem,) = problems(GOOD, listed=("b",))
    assert problem == "training.toml:1: 'a' is not in messages.txt"
    (problem,) = problems(GOOD.replace('name = "a"', 'name = "A b"'))
    assert problem.startswith("training.toml:2: 'a': name: 'A b' is not lowercase words")
    other = SECOND.replace(', see = "amp/unscale_twice"', "")
    (problem,) = problems(GOOD + other.replace('name = "b"', 'name = "a"'))
    assert problem == "training.toml:10: 'a' is also 'a'"
    lost = causes.problems(TWICE, {"a", "gone"})
    assert any("'gone' is no longer a message" in line for line in lost)


def test_each_file_of_the_folder_is_read(problems, tmp_path):
    (tmp_path / "cuda.toml").write_text(NOT_RUN.replace('"a"', '"b"'))
    found = problems(GOOD)
    assert [problem.partition(":")[0] for problem in found] == ["cuda.toml"]
