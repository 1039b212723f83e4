import re
from itertools import product

import pytest

from matrix import catalog
from matrix.explain.wording import GAP, readable

PATTERNS = sorted({pattern for one in catalog.load() for pattern in one.messages})


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"element \d{1,9} of tensors does not", "element N of tensors does not"),
        (r"cannot pin '[^']{0,200}' only", "cannot pin '…' only"),
        (r"shape .\[.{1,60}?\]. is invalid", "shape '[…]' is invalid"),
        (r"Target -?\d{1,20} is out", "Target N is out"),
        (r"(?:Missing|Unexpected) key\(s\)", "Missing key(s)"),
        (r"differentiated Tensors? (?:at index \d )?appears", "differentiated Tensors appears"),
        (r"[Oo]nly dense\s{1,20}CPU", "Only dense CPU"),
        (r"\bloss nan\b(?!,)", "loss nan"),
        (r"no state\.(?=x).{0,9}", "no state.…"),
    ],
)
def test_a_pattern_becomes_a_text_that_people_read(pattern, text):
    assert readable(pattern) == text


def test_the_text_of_every_message_is_one_that_its_pattern_matches():
    for pattern in PATTERNS:
        text = f"{readable(pattern)} "
        filled = (
            re.sub("N(?!oneType)", number, text.replace(GAP, gap))
            for gap, number in product(("a", "aaaaa", "1", "", "th", "[2, 3]", "a aa"), ("1", "N"))
        )
        assert any(re.search(pattern, words, re.IGNORECASE) for words in filled), text
        assert not re.search(r"[\\{}]|\(\?", text), text
