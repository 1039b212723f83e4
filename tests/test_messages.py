"""Runs the lines that messages/*.toml print: `wrong` raises the message, and `right` does not."""

import linecache
import re
import sys
import traceback
import warnings

import pytest
import torch

from matrix import catalog, causes, torches
from matrix.explain import explain

REPRODUCERS = catalog.load()
SHOWN = 3  # `explain` prints this number of causes
CASES = [
    pytest.param(group, cause, id=f"{group.name}-{number}")
    for group in causes.load()
    for number, cause in enumerate(group.causes, 1)
    if cause.wrong
]


def said(lines):
    """The traceback of the lines, or "", with their warnings."""
    text = ""
    source = lines.splitlines(keepends=True)
    # torch.jit.script reads the lines from this cache.
    linecache.cache["train.py"] = (len(lines), None, source, "train.py")
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)  # another test may have raised a warning that torch raises once
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                exec(compile(lines, "train.py", "exec"), {"__name__": "__main__", "torch": torch})
            except Exception:
                text = traceback.format_exc()
    finally:
        torch.set_warn_always(before)
    return "".join(f"{one.category.__name__}: {one.message}\n" for one in caught) + text


@pytest.fixture(autouse=True)
def no_compiled_code():
    """Drops what other lines have compiled, because the number of compilations is limited."""
    yield
    if "torch._dynamo" in sys.modules:
        torch._dynamo.reset()
        # torch.compile() turns off these checks for the rest of the process.
        torch.distributions.Distribution.set_default_validate_args(True)


def is_raised(group, text):
    return any(re.search(pattern, " ".join(text.split()), re.IGNORECASE) for pattern in group.texts)


@pytest.mark.parametrize(("group", "cause"), CASES)
def test_the_wrong_lines_lead_to_their_cause_and_the_right_ones_run(group, cause):
    text = said(cause.wrong)
    if group.is_general and text:
        text = f"PyTorch version: {torch.__version__}\n{text}"
    if not torches.specifier_set(cause.requires).contains(torch.__version__, prereleases=True):
        assert not is_raised(group, text)
        return
    assert is_raised(group, text), text[-500:] or "no error"
    first = explain.find(text, REPRODUCERS)[0]
    assert first.name == group.name
    assert cause.cause in [each.cause for each in first.causes[:SHOWN]]
    text = said(cause.right)
    assert "Traceback" not in text, text[-500:]
    assert not is_raised(group, text)
