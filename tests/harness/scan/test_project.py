"""Tests that names are followed through the imports of the same repository."""

import textwrap

import pytest

from matrix import catalog
from matrix.scan import scanning

RULES = scanning.rules(catalog.ruled(catalog.load()))
ID = "loss/softmax_before_cross_entropy"
NET = """
    import torch

    class Net(torch.nn.Module):
        def forward(self, x):
            return torch.softmax(x, dim=1)

    def build(size):
        net = Net()
        return net.cuda()
"""
TRAIN = """
    import torch
    {imports}

    model = {make}
    criterion = torch.nn.CrossEntropyLoss()
    loss = criterion(model(x), y)
"""


def found(root, files, read="train.py"):
    """The lines of findings in one of these files, by its rule."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(textwrap.dedent(text), encoding="utf-8")
    _, findings, why = scanning.scan_file(root / read, RULES)
    assert why == ""
    return [finding.id for finding in findings]


@pytest.mark.parametrize(
    ("imports", "make"),
    [
        ("from models.net import Net", "Net()"),
        ("from models.net import Net as Model", "Model().cuda()"),
        ("from models import Net", "Net()"),
        ("from models import *", "Net()"),
        ("import models.net", "models.net.Net()"),
        ("import models.net as m", "m.Net()"),
        ("from models import net", "net.Net()"),
        ("from models.net import build", "build(3)"),
        ("from .models.net import Net", "Net()"),
    ],
)
def test_a_class_is_followed_into_another_file(tmp_path, imports, make):
    files = {
        "models/net.py": NET,
        "models/__init__.py": "from .net import Net\n",
        "train.py": TRAIN.format(imports=imports, make=make),
    }
    assert found(tmp_path, files) == [ID]


def test_a_script_in_a_folder_imports_from_the_folders_above(tmp_path):
    train = TRAIN.format(imports="from models.net import Net", make="Net()")
    files = {"models/net.py": NET, "tools/scripts/train.py": train}
    assert found(tmp_path, files, "tools/scripts/train.py") == [ID]


def test_a_base_class_of_another_file_makes_a_network(tmp_path):
    files = {
        "base.py": "import torch\nclass Base(torch.nn.Module): pass\n",
        "train.py": """
            import torch
            from base import Base

            class Net(Base):
                def forward(self, x):
                    return torch.nn.Linear(3, 4)(x)
        """,
    }
    assert found(tmp_path, files) == ["modules/layer_made_in_forward"]


@pytest.mark.parametrize(
    "net",
    [
        "class Net: pass\nclass Net: pass\n",  # two definitions
        "from train import Net\n",  # a cycle
        "import torch\nNet = torch.nn.Linear\n",
        "class Net(:\n",  # no Python
        "",
    ],
)
def test_what_is_unknown_is_not_guessed(tmp_path, net):
    train = TRAIN.format(imports="from net import Net", make="Net()")
    assert found(tmp_path, {"net.py": net, "train.py": train}) == []


def test_a_module_that_is_installed_is_not_searched(tmp_path):
    train = TRAIN.format(imports="from torchvision.models import resnet18", make="resnet18()")
    assert found(tmp_path, {"train.py": train}) == []
