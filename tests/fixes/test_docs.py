"""Runs the examples of the fixes: in place, and in copies inside another package."""

import doctest
import shutil
import subprocess
import sys

import pytest

from matrix import catalog

FAMILIES = catalog.fixes()


@pytest.mark.parametrize("family", FAMILIES)
def test_the_examples_of_docstrings_print_what_they_show(fix_module, family):
    # a vendored copy has a different module name, which doctest prints before its exceptions
    results = doctest.testmod(fix_module(family), optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    assert results.attempted > 0
    assert results.failed == 0


USES = """
import doctest, importlib, sys

for family in sys.argv[1:]:
    module = importlib.import_module(f"acme._vendor.{family}")
    results = doctest.testmod(module, optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    assert results.attempted and not results.failed, (family, results)
assert "reference_fixes" not in sys.modules and "matrix" not in sys.modules
print("used", len(sys.argv) - 1)
"""


def test_copies_in_a_package_of_another_name_work_on_their_own(fix_module, tmp_path):
    package = tmp_path / "acme/_vendor"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    for family in FAMILIES:
        shutil.copy(fix_module(family).__file__, package)
    done = subprocess.run(
        [sys.executable, "-c", USES, *FAMILIES], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout.endswith(f"used {len(FAMILIES)}\n"), done.stdout + done.stderr
