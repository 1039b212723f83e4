import json
import sys

import pytest

from matrix import catalog
from matrix.diagnose import checklists
from matrix.explain import search
from tests.harness.helpers import call, in_terminal

FIRST = checklists.load()[0]
STEPS = [checklists.steps()[name] for name in FIRST.steps]
MATRIX = (sys.executable, "-m", "matrix")


def test_a_pipe_gets_the_whole_list():
    result = call("diagnose", FIRST.name)
    assert result.exit_code == 0
    for number, step in enumerate(STEPS, 1):
        assert f"\n{number}. {step.question}\n" in result.output
        assert all(f"    {line}".rstrip() in result.output for line in step.code.splitlines())
        for outcome in step.outcomes:
            assert f"- {outcome.seen}:\n      {checklists.sentence(outcome.means)}" in result.output
            assert all(f"        {id}: " in result.output for id in outcome.see)


@pytest.mark.parametrize("words", FIRST.phrases)
def test_the_words_of_users_lead_to_the_checklist(words):
    assert call("diagnose", words).output.startswith(f"{FIRST.title}\n")
    first = search.Index(catalog.load()).search(words)[0]
    assert first.checklist == FIRST
    heading = f"torch-repros diagnose {FIRST.name}\n  {FIRST.title}\n"
    result = call("search", words)
    assert (result.exit_code, result.output.startswith(heading)) == (0, True)


def test_a_sentence_leads_to_a_checklist_if_its_words_are_close_to_a_phrase():
    words = "my loss does not decrease when I train BERT on ten thousand reviews"
    assert call("diagnose", words).output.startswith(f"{FIRST.title}\n")
    other = "two losses, and the loss of each is printed for all ten thousand reviews"
    assert call("diagnose", other).exit_code == 1


def test_other_words_get_the_list_of_checklists():
    result = call("diagnose", "purple elephants")
    assert result.exit_code == 1
    for checklist in checklists.load():
        assert checklist.name in result.output
        assert checklist.title in call("diagnose").output


def test_the_json_has_everything():
    found = json.loads(call("diagnose", "--json", FIRST.name).output)
    assert list(found) == ["format", "name", "title", "steps"]
    assert [list(step) for step in found["steps"]] == [["question", "code", "outcomes"]] * len(
        STEPS
    )
    outcomes = [outcome for step in found["steps"] for outcome in step["outcomes"]]
    assert {tuple(outcome) for outcome in outcomes} == {("seen", "means", "see")}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pty")
def test_a_terminal_asks_one_check_after_another():
    diagnose = (*MATRIX, "diagnose")
    status, output = in_terminal(*diagnose, typed="1\nb\ny\nn\nq\n", cwd=catalog.ROOT)
    assert status == 0
    shown = " ".join(output.split())
    assert shown.index(STEPS[0].question) < shown.index(STEPS[1].question)
    assert "What did you see?" in shown
    assert checklists.sentence(STEPS[0].outcomes[1].means) in shown
    assert checklists.sentence(STEPS[0].outcomes[0].means) not in shown
    status, output = in_terminal(*diagnose, FIRST.name, typed="a\nn\n", cwd=catalog.ROOT)
    assert (status, STEPS[1].question in " ".join(output.split())) == (0, False)


OUTCOME = '[[outcomes]]\nseen = "one"\nwhen = "True"\nmeans = "it is"\n'
STEP = f'question = "Is it?"\ncode = "print(1)"\n{OUTCOME}{OUTCOME}'
LIST = '[[checklist]]\nname = "a"\ntitle = "A"\nphrases = ["it fails"]\nsteps = ["a-step"]\n'


@pytest.fixture
def problems(monkeypatch, tmp_path):
    """Returns a function: problems(checklists, step) returns the problems of these files."""
    (tmp_path / "steps").mkdir()
    monkeypatch.setattr(checklists, "STEPS", tmp_path / "steps")
    monkeypatch.setattr(checklists, "CHECKLISTS", tmp_path / "checklists.toml")

    def problems(listed=LIST, step=STEP):
        (tmp_path / "steps" / "a-step.toml").write_text(step, encoding="utf-8")
        (tmp_path / "checklists.toml").write_text(listed, encoding="utf-8")
        return checklists.problems({"amp/one"})

    return problems


def test_good_files_have_no_problems(problems):
    assert problems() == []
    assert checklists.problems({each.id for each in catalog.load() if each.is_current}) == []


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ('"a-step"]', '"b-step"]', "a: no step 'b-step'"),
        ('title = "A"\n', "", "title: missing"),
        ('name = "a"', 'name = "A b"', "is not lowercase words"),
        ("[[checklist]]", LIST + "[[checklist]]", "two checklists are called 'a'"),
        ("steps =", "step =", "step: unknown key"),
        ("title =", "title", "not TOML"),
    ],
)
def test_what_is_wrong_with_a_checklist_is_named(problems, before, after, text):
    found = problems(listed=LIST.replace(before, after, 1))
    assert any(text in problem for problem in found), found


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ("print(1)", "print(", "code: 'print(' is not Python"),
        ("print(1)", f"print({'1' * 80})", "a line of the code is longer than 76 characters"),
        ('means = "it is"', "", "means: missing"),
        ('when = "True"', 'when = "="', "when: '=' is not Python"),
        ('means = "it is"', 'means = "it is"\nsee = ["amp/two"]', "no reproducer 'amp/two'"),
        ('means = "it is"', 'means = "FILL IN"', "not filled in: means"),
        ("question", "ask", "ask: unknown key"),
    ],
)
def test_what_is_wrong_with_a_step_is_named(problems, before, after, text):
    found = problems(step=STEP.replace(before, after, 1))
    assert any(text in problem for problem in found), found


def test_a_step_without_a_checklist_is_a_problem(problems):
    assert any(
        "no checklist has this step" in each
        for each in problems(listed=LIST.replace('steps = ["a-step"]', "steps = []"))
    )
