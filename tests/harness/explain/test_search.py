import time
from dataclasses import replace

import pytest

from matrix import catalog, causes
from matrix.causes import Cause, Group
from matrix.diagnose import checklists
from matrix.explain import search
from matrix.explain.search import SYNONYMS, Index

REPRODUCERS = catalog.load()
INDEX = Index(REPRODUCERS)
SEE = "amp/unscale_twice"
GROUP = Group(
    name="wilting",
    title="Wilting",
    keywords=("aubergines wilt",),
    causes=(
        Cause(cause="no water", check="look", see=SEE, line=1),
        Cause(cause="sun", check="look", line=2),
    ),
    path=causes.MESSAGES / causes.TRAINING,
    line=1,
)
SYMPTOMS = {
    "loss stays constant": "loss/mismatch_zero_is_silent",
    "validation loss 0.0000": "loss/empty_validation_is_zero",
    "same random augmentation in every worker": "data_loading/worker_generators_are_clones",
    "memory grows every step": "memory/loss_history_keeps_graph",
    "gradient clipping has no effect": "numerics/clip_exhausted_generator",
    "no dropout in training after predict": "rnn/predict_leaves_eval_mode",
    "duplicate samples with two workers": "data_loading/iterable_dataset_duplicates",
    "best checkpoint equals last weights": "numerics/best_state_is_an_alias",
    "nan predictions after early stopping": "numerics/early_stopping_reports_nan",
    "bfloat16 weights do not change": "numerics/fused_sgd_skips_low_precision_191763",
    "saliency differs at every call": "rnn/train_mode_saliency_is_random",
    "nan in eval mode only": "numerics/one_batch_poisons_batchnorm",
    "gradient accumulation loss too small": "amp/accumulated_loss_is_divided",
    "training very slow with mixed precision": "amp/unscale_divides_by_65536",
    "frozen layers change": "rnn/train_mode_restore_unfreezes",
    "loss explodes to nan": "numerics/sgd_explosion",
    "pin_memory makes no difference": "data_loading/pinning_is_silently_off",
}


def ids(query):
    """The ids of the results that fit."""
    return [id for found in INDEX.search(query) if found.fit for id in found.ids]


@pytest.mark.parametrize(("words", "id"), SYMPTOMS.items())
def test_silent_failures_are_found_by_their_symptom(words, id):
    found = INDEX.search(words)[:5]
    assert id in [id for each in found for id in each.ids]


@pytest.mark.parametrize(
    "words", ["", "the of and", "!!! ???", '" OR title:', "xyzzy", "\0", "\ud800", "_"]
)
def test_words_that_nothing_has_find_nothing(words):
    assert ids(words) == []


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("loss NOT nan", "loss nan"),
        ('loss "nan', "loss nan"),
        ("loss*", "loss"),
        ("title:loss", "title loss"),
        ("loss' OR 1=1 --", "loss 1"),
        ("LOSS", "loss"),
        ("the loss_of", "loss"),
    ],
)
def test_what_sqlite_would_take_for_an_operator_is_a_word(query, words):
    assert ids(query) == ids(words)


def test_a_text_of_ten_thousand_words_is_searched_in_a_second():
    started = time.process_time()
    assert ids(" ".join(f"word{number}" for number in range(10_000)) + " loss") == []
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    "query",
    [
        "the fan of my laptop is as loud as a vacuum cleaner",  # shares one word
        "my aunt photographed a lighthouse, then lost the camera on a ferry in Norway in epoch 3",
        "ValueError: operands could not be broadcast together with shapes (3,4) (5,)",
        "how do I plot the loss of every epoch",
        "the loss of my keras model is nan",
    ],
)
def test_what_is_not_close_is_not_found(query):
    assert ids(query) == []


def test_guesses_fill_the_places_beside_what_is_not_sure_to_fit():
    sure, perhaps, guess = (
        search.Found(fit, [], (), fit=fit) for fit in (search.SURE, "perhaps", "")
    )
    assert search.shown([sure, perhaps, guess], 9, 3) == ([sure, perhaps], [])
    assert search.shown([perhaps, guess, guess, guess], 9, 3) == ([perhaps], [guess, guess])
    assert search.shown([guess] * 9, 9, 3) == ([], [guess] * 3)
    assert search.shown([perhaps] * 9, 2, 3) == ([perhaps] * 2, [])


def test_one_checklist_comes_before_what_fits_for_a_vague_query():
    listed = checklists.load()[0]
    vague, near = (
        search.Found("", [], (), listed, closeness=0.8, is_vague=each) for each in (True, False)
    )
    sure, perhaps, guess = (
        search.Found("", [], (), fit=fit, closeness=1.0) for fit in (search.SURE, "perhaps", "")
    )
    assert search.shown([vague, sure, guess], 9, 3) == ([vague, sure], [])
    assert search.shown([vague, perhaps, guess, guess], 9, 3) == ([vague, perhaps], [guess])
    assert search.shown([vague, guess, guess, guess], 9, 3) == ([vague], [guess, guess])
    assert search.shown([near, sure], 9, 3) == ([sure], [])
    assert search.shown([near, guess, guess, guess], 9, 3) == ([], [near, guess, guess])
    far = replace(near, closeness=0.7)
    assert search.shown([far, guess, guess, guess], 9, 3) == ([], [guess] * 3)


def test_a_second_checklist_comes_after_the_closest_guess():
    vague, near, second = (
        search.Found(title, [], (), checklists.load()[0], closeness=0.8, is_vague=is_vague)
        for title, is_vague in (("first", True), ("first", False), ("second", True))
    )
    sure, perhaps, guess = (
        search.Found("", [], (), fit=fit, closeness=0.8) for fit in (search.SURE, "perhaps", "")
    )
    assert search.shown([vague, second, sure, guess], 9, 3) == ([vague, sure], [])
    assert search.shown([vague, second, perhaps, guess], 9, 3) == ([vague, perhaps], [guess])
    assert search.shown([vague, second, guess, guess], 9, 3) == ([vague], [guess, second])
    assert search.shown([near, second, guess, guess], 9, 3) == ([], [near, guess, second])
    closer = replace(guess, closeness=0.9)
    assert search.shown([vague, second, guess, closer], 9, 3) == ([vague], [guess, closer])
    far = replace(near, closeness=0.6)
    assert search.shown([far, second, guess, guess, guess], 9, 3) == ([], [guess] * 3)


@pytest.mark.parametrize("checklist", checklists.load(), ids=lambda each: each.name)
def test_the_title_of_a_checklist_leads_to_it_and_claims_nothing(checklist):
    first, *others = INDEX.search(checklist.title)
    assert (first.checklist, first.is_vague, first.fit) == (checklist, True, "")
    assert {each.fit for each in others if each.checklist} <= {""}
    assert len([each for each in others if each.checklist]) <= 1


@pytest.mark.parametrize(
    ("checklist", "phrase"),
    [(each, phrase) for each in checklists.load() for phrase in each.phrases],
)
def test_each_phrase_of_a_checklist_leads_to_it(checklist, phrase):
    assert INDEX.search(phrase)[0].checklist == checklist


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("training loss is much higher than the validation loss", "train-is-worse-than-eval"),
        ("validation loss is much higher than the training loss", "eval-is-worse-than-train"),
    ],
)
def test_the_order_of_the_words_decides_between_two_lists_with_the_same_words(query, name):
    assert INDEX.search(query)[0].checklist.name == name


@pytest.mark.parametrize(
    ("query", "name"),
    [
        (
            "my loss does not decrease when I train BERT on ten thousand reviews",
            "loss-does-not-fall",
        ),
        ("two losses, and the loss of each is printed for all ten thousand reviews", None),
    ],
)
def test_a_sentence_around_the_words_of_a_checklist_leads_to_it(query, name):
    fitting, (first, *_) = search.shown(INDEX.search(query), 9, 3)
    assert fitting == []
    assert (first.checklist and first.checklist.name) == name


def test_a_symptom_is_not_asked_for_as_many_words_as_a_question():
    assert "numerics/sgd_explosion" in ids("loss explodes to nan")
    assert ids("how do I avoid that it explodes") == []


def test_a_list_of_causes_is_found_by_its_keywords(monkeypatch):
    monkeypatch.setattr(causes, "load", lambda: [GROUP])
    (found, *_) = Index(REPRODUCERS).search("the aubergines wilt overnight")
    assert (found.title, found.ids, found.causes) == (GROUP.title, [SEE], GROUP.causes)
    monkeypatch.setattr(causes, "load", lambda: [replace(GROUP, keywords=())])
    assert Index(REPRODUCERS).search("the aubergines wilt overnight") == []


def test_a_synonym_counts_as_the_word_that_is_used_here():
    assert ids("vram grows every step") == ids("gpu memory grows every step")
    lines = SYNONYMS.read_text(encoding="utf-8").splitlines()[1:]
    assert [line for line in lines if len(line.split(" = ")) != 2] == []


def test_words_of_one_stem_are_one_word():
    assert ids("gradients") == ids("gradient")


def test_a_phrase_file_without_a_reproducer_and_empty_or_repeated_lines_are_problems(tmp_path):
    (tmp_path / "amp").mkdir()
    (tmp_path / "amp/known.txt").write_text("loss stays\n\nloss stays\n")
    (tmp_path / "amp/misspelt.txt").write_text("loss stays\n")
    assert search.problems({"amp/known"}, tmp_path) == [
        f"{tmp_path}/amp/known.txt:2: empty",
        f"{tmp_path}/amp/known.txt:3: twice: loss stays",
        f"{tmp_path}/amp/misspelt.txt:1: no reproducer of this name",
    ]


def test_each_phrase_of_a_file_finds_its_reproducer(tmp_path):
    (tmp_path / "amp").mkdir()
    (tmp_path / "amp/known.txt").write_text("loss stays\nnothing learns\n")
    assert search.phrases_of("amp/known", tmp_path) == ["loss stays", "nothing learns"]
    assert search.phrases_of("amp/without", tmp_path) == []
