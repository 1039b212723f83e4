"""What the documentation shows is run."""

import doctest

import pytest
from conftest import FAMILIES


@pytest.mark.parametrize("family", FAMILIES)
def test_docstrings_show_what_happens(fix_module, family):
    # a vendored copy has another module name, which doctest would print before its exceptions
    results = doctest.testmod(fix_module(family), optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    assert results.attempted >= 3
    assert results.failed == 0
