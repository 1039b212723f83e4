"""The trials are tested as the fixes are."""

from tests.fixes import conftest as conftest
