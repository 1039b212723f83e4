import pytest

from matrix.printing import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J\x9b31m\x07\r\x08\x00\x7f", r"\x1b[2J\x9b31m\x07\r\x08\x00\x7f"),
        ("a\u202eb\u2066c\u200fd\u061c", r"a\u202eb\u2066c\u200fd\u061c"),
        ("a\u200bb\ufeffc\u2028d\U000e0041", r"a\u200bb\ufeffc\u2028d\U000e0041"),
        ("\udc80", r"\udc80"),
    ],
)
def test_what_does_harm_is_escaped(text, shown):
    assert printable(text) == shown


def test_text_of_any_language_with_its_tabs_and_line_ends_stays_as_it_is():
    text = "a\tb\nc \xa0 é 雪 🙂 ─ \\x1b"
    assert printable(text) == text
