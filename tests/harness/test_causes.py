import pytest

from matrix import catalog, causes

REPRODUCERS = catalog.load()


def group(title, *causes):
    return {"title": title, "causes": list(causes)}


def test_the_projects_own_causes_have_no_problems():
    assert causes.problems(REPRODUCERS) == []


SEEN = {"cause": "x", "check": "y", "see": "amp/unscale_twice"}


@pytest.mark.parametrize(
    ("groups", "text"),
    [
        (
            [group("a", {"cause": "x", "check": "y", "see": "amp/no_such"})],
            "'a': no reproducer 'amp/no_such', or a retired one",
        ),
        ([group("a", {"cause": "x", "check": ""})], "'a': a cause without `cause` or `check`"),
        (
            [group("a", {**SEEN, "chek": "z"})],
            "'a': no such key: chek",
        ),
        ([{**group("a", SEEN), "keywords": "loss"}], "'a': keywords: not a list of phrases"),
        ([{**group("a", SEEN), "keywords": ["loss", ""]}], "'a': keywords: not a list of phrases"),
        ([{**group("a", SEEN), "keywords": [1]}], "'a': keywords: not a list of phrases"),
        (
            [group("b", SEEN), group("c", SEEN)],
            "'amp/unscale_twice' is listed under both 'b' and 'c'",
        ),
    ],
)
def test_a_group_that_does_not_add_up_is_a_problem(monkeypatch, groups, text):
    monkeypatch.setattr(causes, "load", lambda: groups)
    alone = [one for one in REPRODUCERS if one.id == "amp/unscale_twice"]
    (problem,) = causes.problems(alone)
    assert problem.endswith(text)


def test_a_group_may_have_keywords(monkeypatch):
    groups = [{**group("a", SEEN), "keywords": ["a loss that stays", "nothing trains"]}]
    monkeypatch.setattr(causes, "load", lambda: groups)
    assert causes.problems([one for one in REPRODUCERS if one.id == "amp/unscale_twice"]) == []


def test_a_message_that_several_reproducers_share_belongs_in_one_group(monkeypatch):
    monkeypatch.setattr(causes, "load", lambda: [])
    problems = causes.problems(REPRODUCERS)
    assert problems
    assert all("and are not in one group" in problem for problem in problems)
