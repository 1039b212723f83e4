"""The tests of the trials use the fixtures and options of the tests of the fixes."""

from tests.fixes import conftest as conftest
