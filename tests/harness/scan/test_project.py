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


LOOP = """
    {imports}

    model = load(3)
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(9):
        for x in loader:
            {more}
            optimizer.zero_grad()
            model(x).backward()
            optimizer.step()
"""


@pytest.mark.parametrize(("mode", "finds"), [("eval", True), ("train", False)])
def test_a_function_of_another_file_returns_a_model_in_eval_mode(tmp_path, mode, finds):
    files = {
        "common.py": f"""
            import torch

            def load(size):
                net = torch.nn.Dropout()
                net.{mode}()
                return net
            """,
        "train.py": LOOP.format(imports="import torch\n    from common import load", more="pass"),
    }
    assert ("rnn/predict_leaves_eval_mode" in found(tmp_path, files)) is finds


@pytest.mark.parametrize(
    ("seed", "more", "finds"),
    [
        ("1111", "data = Rows()", True),
        ("seed", "data = Rows()", True),
        ("seed", "data = Rows(seed=epoch)", False),
        ("None", "data = Rows()", False),
    ],
)
def test_a_class_of_another_file_seeds_the_generator(tmp_path, seed, more, finds):
    files = {
        "rows.py": f"""
            import torch

            class Rows:
                def __init__(self, seed=1):
                    torch.manual_seed({seed})
            """,
        "train.py": LOOP.format(imports="import torch\n    from rows import Rows", more=more),
    }
    text = files["train.py"].replace("for x in loader:", "if True:")
    assert (
        "randomness/seed_inside_the_loop" in found(tmp_path, {**files, "train.py": text})
    ) is finds


DEVICE = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")'


@pytest.mark.parametrize(
    ("files", "finds"),
    [
        ({"train.py": f"import torch\n{DEVICE}"}, True),
        ({"train.py": "import torch\ndef run(x, device): return x.to(device)"}, True),
        ({"train.py": "import torch\ndevice = 'cuda'\nx.to(device)"}, False),
        ({"train.py": f"import torch\n{DEVICE}\nmodel.cuda()"}, False),
        ({"other/train.py": f"import torch\n{DEVICE}"}, False),
        ({"run/train.py": f"import torch\nfrom models import common\n{DEVICE}"}, True),
        ({}, False),
    ],
)
def test_the_files_around_choose_the_device(tmp_path, files, finds):
    files |= {
        "models/common.py": """
            import torch

            def restore(model, path):
                model.load_state_dict(torch.load(path))
            """,
        "models/__init__.py": "",
    }
    ids = found(tmp_path, files, "models/common.py")
    assert ("checkpoints/cuda_checkpoint_needs_map_location" in ids) is finds


def test_files_above_the_repository_are_not_around(tmp_path):
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    files = {
        "train.py": f"import torch\n{DEVICE}",
        "repository/common.py": """
            import torch

            def restore(model, path):
                model.load_state_dict(torch.load(path))
            """,
    }
    assert found(tmp_path, files, "repository/common.py") == []


@pytest.mark.parametrize(
    ("line", "finds"),
    [
        ("random.shuffle(rows)", []),
        ("rows.sort()", ["data_loading/not_shuffled"]),
        ("rows.append(1)", ["data_loading/not_shuffled"]),
    ],
)
def test_a_data_set_of_another_file_may_shuffle_its_rows(tmp_path, line, finds):
    rows = f"""
        import glob
        import random

        class Rows:
            def __init__(self, folder):
                rows = {"glob.glob(folder)" if "append" not in line else "[]"}
                {line}
    """
    train = """
        from rows import Rows
        from torch.utils.data import DataLoader

        rows = Rows("images")
        train_loader = DataLoader(rows, batch_size=8, shuffle=False)
    """
    assert found(tmp_path, {"rows.py": rows, "train.py": train}) == finds


def test_a_script_that_saves_its_own_epochs_does_not_rely_on_another_script(tmp_path):
    files = {
        "train.py": """
            import torch

            def trains(model, loader, criterion, args):
                optimizer = torch.optim.Adam(model.parameters())
                start_epoch = 0
                if args.resume:
                    checkpoint = torch.load("last.pt")
                    model.load_state_dict(checkpoint["model"])
                    start_epoch = checkpoint["epoch"]
                for epoch in range(start_epoch, 9):
                    for x, y in loader:
                        criterion(model(x), y).backward()
                        optimizer.step()
                    state = {"model": model.state_dict(), "epoch": epoch}
                    torch.save(state, "last.pt")
            """,
        "other.py": "import torch\ntorch.save({'optimizer': optimizer.state_dict()}, 'other.pt')",
    }
    lost = "checkpoints/resume_without_optimizer_state"
    assert lost in found(tmp_path, dict(files), "train.py")
    files["train.py"] = files["train.py"].replace("torch.save(state", "other.save(state")
    assert lost not in found(tmp_path, files, "train.py")


TRAINER = """
    import torch

    class Trainer:
        def fit(self, loader, start_epoch):
            for epoch in range(start_epoch, 9):
                for x in loader:
                    self.model(x).backward()
"""


@pytest.mark.parametrize(
    ("imports", "finds"),
    [
        ("class Rows:\n                def __getitem__(self, i): return i", False),
        ("from engine.trainer import Trainer", True),
        ("from engine import *", True),
        ("import engine.trainer", True),
        ("from other import Trainer", False),
    ],
)
def test_an_imported_trainer_continues_the_run(tmp_path, imports, finds):
    files = {
        "engine/trainer.py": TRAINER,
        "engine/__init__.py": "from .trainer import Trainer",
        "tools/train.py": f"""
            import torch
            from torch.utils.data import DataLoader
            {imports if "class" not in imports else "from engine import *"}
            {imports if "class" in imports else ""}

            def main(args, rows):
                torch.manual_seed(args.seed)
                Trainer(args).fit(DataLoader(rows, shuffle=True), args.first)
            """,
    }
    ids = found(tmp_path, files, "tools/train.py")
    assert ("randomness/resumed_run_repeats_the_first_epoch" in ids) is finds


@pytest.mark.parametrize(
    ("schedule", "finds"),
    [
        ("StepLR(adam, 3)", True),
        ("StepLR(adam, 3, last_epoch=start)", False),
    ],
)
def test_another_file_steps_the_schedule_of_a_restored_run(tmp_path, schedule, finds):
    files = {
        "base.py": """
            import torch

            class Base:
                def resume(self, saved):
                    self.start_epoch = saved["epoch"]
                    self.model.load_state_dict(saved["model"])
                    self.optimizer.load_state_dict(saved["optimizer"])
            """,
        "train.py": f"""
            from base import Base
            from torch.optim.lr_scheduler import StepLR

            class Trainer(Base):
                def fit(self, loader, adam, start):
                    scheduler = {schedule}
                    for epoch in range(start, 9):
                        for x in loader:
                            self.model(x).backward()
                        scheduler.step()
            """,
    }
    ids = found(tmp_path, files, "base.py")
    assert ("checkpoints/resume_without_scheduler_state" in ids) is finds


@pytest.mark.parametrize(
    ("wrap", "id"),
    [
        ("torch.nn.DataParallel(net)", "checkpoints/data_parallel_prefix"),
        ("torch.compile(net)", "checkpoints/compiled_model_prefix"),
        ("net.cuda()", None),
    ],
)
def test_another_file_saves_the_wrapped_model(tmp_path, wrap, id):
    files = {
        "saving.py": """
            import torch

            def save_checkpoint(path, net):
                torch.save({"net": net.state_dict()}, path)

            class Trainer:
                def __init__(self, net):
                    self.net = net

                def keep(self, path):
                    torch.save(self.net.state_dict(), path)
            """,
        "train.py": f"""
            import torch
            from saving import Trainer, save_checkpoint

            def train(net, several):
                if several:
                    net = {wrap}
                Trainer(net)
                save_checkpoint("net.pt", net)
            """,
    }
    for file in files:
        ids = found(tmp_path, files, file)
        prefixes = [each for each in ids if each.endswith("_prefix")]
        assert prefixes == ([id] if id else [])


@pytest.mark.parametrize(
    ("call", "body", "finds"),
    [
        ("Judge().score(model)", "net.eval()", True),
        ("score(model)", "net.eval()", True),
        ("score(model)", "net.eval(); net(1); net.train()", False),
        ("score(model)", "if net.frozen: net.eval()", False),
        ("score(other)", "net.eval()", False),
        ("score(model); model.train()", "net.eval()", False),
        ("model.generate()", "pass", True),
        ("model.describe()", "pass", False),
    ],
)
def test_a_call_in_the_loop_leaves_eval_mode(tmp_path, call, body, finds):
    files = {
        "judge.py": f"""
            import torch

            def score(net):
                {body}

            class Judge:
                def score(self, net):
                    {body}

            class Net(torch.nn.Module):
                def generate(self):
                    self.eval()

                def describe(self):
                    return 1
            """,
        "train.py": f"""
            import torch
            from judge import Judge, Net, score

            def train(model, other, loader):
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                for epoch in range(9):
                    model.train()
                    for x in loader:
                        model(x).backward()
                        optimizer.step()
                        optimizer.zero_grad()
                        {call}
            """,
    }
    ids = found(tmp_path, files)
    assert ("rnn/predict_leaves_eval_mode" in ids) is finds


RESTORE = """
    import torch
    from helpers import {helper}

    def train(model, loader, args):
        optimizer = torch.optim.Adam(model.parameters())
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3)
        {call}
        best = 0
        for epoch in range(args.start_epoch, 9):
            for x in loader:
                optimizer.zero_grad()
                model(x).sum().backward()
                optimizer.step()
            scheduler.step()
            if validate(model) > best:
                best = validate(model)
                save_model(model, "%d.pt" % epoch)
"""
HELPERS = """
    def load_model(model, file):
        model.load_state_dict(torch.load(file, map_location="cpu"))

    class Files:
        @staticmethod
        def load(model, file):
            model.load_state_dict(torch.load(file, map_location="cpu"))

    def load_all(model, optimizer, scheduler, file):
        state = torch.load(file)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        scheduler.load_state_dict(state["scheduler"])
        return state["best"]
"""
FORGOTTEN = [
    "checkpoints/best_score_is_forgotten",
    "checkpoints/resume_without_optimizer_state",
    "checkpoints/resume_without_scheduler_state",
]


@pytest.mark.parametrize(
    ("helper", "call"),
    [
        ("load_model", "load_model(model, args.resume)"),
        ("Files", "Files.load(model, file=args.resume)"),
    ],
)
def test_a_helper_restores_only_the_weights(tmp_path, helper, call):
    files = {
        "helpers.py": HELPERS.partition("    def load_all")[0],
        "train.py": RESTORE.format(helper=helper, call=call),
    }
    assert sorted(found(tmp_path, files)) == FORGOTTEN


def test_a_helper_restores_all_states(tmp_path):
    call = "best = load_all(model, optimizer, scheduler, args.resume)"
    files = {"helpers.py": HELPERS, "train.py": RESTORE.format(helper="load_all", call=call)}
    assert found(tmp_path, files) == []


@pytest.mark.parametrize(
    ("settings", "call", "finds"),
    [
        ('device = "cuda" if torch.cuda.is_available() else "cpu"', "train(model)", True),
        ('device = "cuda" if torch.cuda.is_available() else "cpu"', "train(model, device)", False),
        ('device = "cuda"', "train(model)", False),
    ],
)
def test_a_default_device_ignores_the_settings(tmp_path, settings, call, finds):
    files = {
        "settings.py": f"import torch\n{settings}",
        "train.py": f"""
            from torch import nn
            from settings import device

            def train(model, device="cuda"):
                model.to(device)

            model = nn.Linear(2, 2)
            {call}
            """,
    }
    assert ("devices/gpu_is_missing" in found(tmp_path, files)) is finds


@pytest.mark.parametrize(("name", "finds"), [("trainer", True), ("self.net", False)])
def test_the_train_method_of_a_trainer_sets_no_mode(tmp_path, name, finds):
    files = {
        "common.py": """
            import torch

            def load():
                net = torch.nn.Dropout()
                net.eval()
                return net
            """,
        "train.py": f"""
            import torch
            from common import load

            class Trainer:
                def __init__(self):
                    self.net = load()
                    self.optimizer = torch.optim.Adam(self.net.parameters())

                def train(self, loader):
                    for x in loader:
                        self.optimizer.zero_grad()
                        self.net(x).sum().backward()
                        self.optimizer.step()

                def start(self):
                    trainer = Trainer()
                    {name}.train([])
            """,
    }
    assert ("rnn/predict_leaves_eval_mode" in found(tmp_path, files)) is finds


@pytest.mark.parametrize(("script", "finds"), [("train.py", True), ("predict.py", False)])
def test_a_script_that_predicts_resumes_no_run(tmp_path, script, finds):
    files = {
        "engine.py": """
            from torch.utils.data import DataLoader

            def train(model, rows, args):
                for epoch in range(args.start_epoch, 9):
                    for x in DataLoader(rows, shuffle=True):
                        model(x).backward()
            """,
        script: """
            import torch
            from engine import train

            def main(args):
                torch.manual_seed(args.seed)
            """,
    }
    ids = found(tmp_path, files, script)
    assert ("randomness/resumed_run_repeats_the_first_epoch" in ids) is finds


LOADERS = """
    from torch.utils.data import DataLoader, DistributedSampler

    def get_loader(rows, shuffle):
        sampler = DistributedSampler(rows{shuffle})
        return DataLoader(rows, sampler=sampler)

    def get_loaders(rows, others):
        return get_loader(rows, True), DataLoader(others)
"""
EPOCHS = """
    import torch
    from data import get_loaders

    def main(model, optimizer, rows, others, config):
        train_loader, val_loader = get_loaders(rows, others)
        for i in range(config["epochs"]):
            {call}
            for x in train_loader:
                optimizer.zero_grad()
                model(x).mean().backward()
                optimizer.step()
"""


@pytest.mark.parametrize(
    ("shuffle", "call", "finds"),
    [
        ("", "", True),
        (", shuffle=False", "", False),
        ("", "train_loader.sampler.set_epoch(i)", False),
    ],
)
def test_a_function_of_another_file_makes_the_sampler(tmp_path, shuffle, call, finds):
    files = {
        "data.py": LOADERS.format(shuffle=shuffle),
        "train.py": EPOCHS.format(call=call),
    }
    assert ("distributed/sampler_without_set_epoch" in found(tmp_path, files)) is finds


@pytest.mark.parametrize(("after", "finds"), [("", True), ("model = model.cpu()", False)])
def test_a_function_of_another_file_wraps_the_model(tmp_path, after, finds):
    files = {
        "device.py": f"""
            import torch

            def place_model(model, gpus):
                if len(gpus) > 1:
                    model = torch.nn.DataParallel(model, gpus)
                return model.to("cuda"), "cuda"

            def other(model):
                {after or "pass"}
                return model
        """,
        "train.py": f"""
            import torch
            from device import {"place_model" if finds else "other as place_model"}

            class Trainer:
                def __init__(self, model, gpus):
                    self.model = model
                    self.start(gpus)

                def start(self, gpus):
                    self.model, self.device = place_model(self.model, gpus)

                def step(self, x):
                    return self.model.crf(x) + self.model.module.crf(x)
        """,
    }
    ids = found(tmp_path, files)
    assert ids.count("modules/attribute_of_a_wrapped_model") == finds


RESUMES = """
    import torch


    def train(model, optimizer, loader, epochs, start_epoch):
        scaler = torch.amp.GradScaler()
        if start_epoch:
            model.load_state_dict(torch.load("last.pth"))
        for epoch in range(start_epoch, epochs):
            for x in loader:
                optimizer.zero_grad()
                scaler.scale(model(x).mean()).backward()
                scaler.step(optimizer)
                scaler.update()
            torch.save(model.state_dict(), "last.pth")
"""


@pytest.mark.parametrize(
    ("old", "new", "finds"),
    [
        ("", "", True),
        ("model.state_dict()", '{"model": model.state_dict(), "scaler": scaler}', False),
        ('torch.save(model.state_dict(), "last.pth")', "pass", False),
    ],
)
def test_a_run_that_resumes_from_its_weights_forgets_the_scaler(tmp_path, old, new, finds):
    files = {"train.py": RESUMES.replace(old, new) if old else RESUMES}
    assert ("amp/scaler_state_is_not_saved" in found(tmp_path, files)) is finds


@pytest.mark.parametrize(
    ("freeze", "keep", "finds"),
    [
        ("self.resnet.requires_grad_(False)", "pass", True),
        ("self.resnet.requires_grad_(False)", "model.resnet.eval()", False),
        ("pass", "pass", False),
    ],
)
def test_another_file_freezes_a_part_of_the_model(tmp_path, freeze, keep, finds):
    files = {
        "models/net.py": f"""
            from torch import nn
            from torchvision import models

            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.resnet = models.resnet18(weights="DEFAULT")
                    {freeze}
        """,
        "train.py": f"""
            import torch
            from models.net import Net

            def train(model, loader, optimizer):
                model.train()
                {keep}
                for x in loader:
                    optimizer.zero_grad()
                    model(x).mean().backward()
                    optimizer.step()

            train(Net(), loader, optimizer)
        """,
    }
    assert ("modules/frozen_batchnorm_moves" in found(tmp_path, files)) is finds
