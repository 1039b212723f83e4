import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def root(tmp_path):
    """An empty folder of reproducers."""
    folder = tmp_path / "repros"
    folder.mkdir()
    return folder
