import re

import pytest

from matrix import catalog
from matrix.explain import explain
from matrix.explain.readings import READINGS, read_out
from tests.harness.pasted import NOT_READ, READ


def readings(text):
    return explain.look_up(text, []).readings


@pytest.mark.parametrize(("text", "said"), READ, ids=lambda value: value[:40])
def test_a_reading_says_what_the_numbers_mean(text, said):
    (sentence,) = readings(text)
    assert said in sentence
    assert sentence.endswith(".")


@pytest.mark.parametrize("text", NOT_READ)
def test_numbers_that_say_nothing_are_left_alone(text):
    assert readings(text) == []


def test_a_message_that_is_wrapped_or_quoted_is_read_too():
    for text, said in READ:
        wrapped = "\n".join(f"> {word}" for word in text.split())
        assert said in readings(wrapped)[0]


def test_of_many_parameters_one_is_named():
    lines = [
        READ[at][0].split("\n\t")[1] for at, (text, _) in enumerate(READ) if "\n\tsize" in text
    ]
    assert len(readings("\n".join(lines))) == 1


def test_every_reading_is_tried():
    for pattern, read in READINGS:
        texts = [" ".join(text.split()) for text, _ in READ]
        found = [match for text in texts if (match := re.search(pattern, text, re.IGNORECASE))]
        assert found, read.__name__
        assert any(read_out(pattern, read, match.group()) for match in found)


def test_the_page_has_every_reading():
    """tests/page compares the sentences of both, but needs a browser."""
    script = (catalog.PACKAGE / "site/templates/page.js").read_text(encoding="utf-8")
    functions = script.partition("\nconst READINGS = {\n")[2].partition("\n};\n")[0]
    names = set(re.findall(r"^  (\w+)\(", functions, re.M))
    assert names == {read.__name__ for _, read in READINGS}
