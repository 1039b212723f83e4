"""Texts of everyday mistakes that share words with failures; no failure may match them."""

import re

import pytest

from matrix import catalog, causes
from matrix.explain import explain

REPRODUCERS = catalog.select(catalog.load(), ())

# Broadcasts and attributes that are unrelated to the failures of the corpus.
EVERYDAY = [
    "TypeError: train_one_epoch() takes 2 positional arguments but 3 were given",
    "ValueError: operands could not be broadcast together with shapes (3,) (4,)",
    "AttributeError: 'NoneType' object has no attribute 'shape'",
    "AttributeError: 'Namespace' object has no attribute 'lr'",
    "AttributeError: 'list' object has no attribute 'to'",
    "AttributeError: 'Trainer' object has no attribute 'optimizer'",
    "AttributeError: 'tuple' object has no attribute 'size'",
    "TypeError: 'NoneType' object is not subscriptable",
    "KeyError: 'state_dict'",
    "TypeError: SAM.step() missing 1 required positional argument: 'closure'",
]


@pytest.mark.parametrize("text", EVERYDAY)
def test_an_everyday_error_is_no_failure_of_the_corpus(text):
    by_itself = [one.id for one in REPRODUCERS for p in one.texts if re.search(p, text, re.I)]
    assert by_itself == []


@pytest.mark.parametrize(
    ("text", "id"),
    [
        (
            "RuntimeError: all elements of target should be between 0 and 1",
            "loss/bce_of_raw_outputs",
        ),
        (
            "UserWarning: To copy construct from a tensor, it is recommended to use "
            "sourceTensor.detach().clone() rather than torch.tensor(sourceTensor).",
            "loss/rewrapped_in_a_tensor",
        ),
        (
            "RuntimeError: \"nll_loss_out_frame\" not implemented for 'Half'",
            "amp/half_linear_on_the_cpu",
        ),
    ],
)
def test_a_text_of_another_cause_does_not_lead_to_this_one(text, id):
    answers = explain.look_up(iter([text]), REPRODUCERS).answers
    firsts = [answer.ids[0] for answer in answers if answer.ids]
    assert id not in firsts
    alone = [answer.reproducers for answer in answers if not answer.causes]
    assert [one.id for several in alone for one in several if one.id == id] == []


def test_causes_name_no_cause_for_a_machine_that_hides_its_card():
    groups = [group for group in causes.load() if "is_available" in group.title]
    assert groups
    sees = [cause.see for group in groups for cause in group.causes]
    assert "devices/gpu_is_missing" not in sees


def test_a_float_without_backward_is_first_of_all_an_item():
    text = "AttributeError: 'float' object has no attribute 'backward'"
    (answer,) = explain.look_up(iter([text]), REPRODUCERS).answers
    first, *others = answer.causes
    assert "item()" in first.cause + first.check
    assert first.see != "loss/python_zero_has_no_backward"
