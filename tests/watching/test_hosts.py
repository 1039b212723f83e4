"""The watch inside pytest, Lightning, transformers, accelerate and a notebook.

`nox -s hosts` installs the hosts. Without them, only the tests of pytest are run.
"""

import io
import os
import subprocess
import sys
import textwrap

import pytest

torch = pytest.importorskip("torch")

from matrix import catalog  # noqa: E402
from matrix.watching import hooks  # noqa: E402
from matrix.watching.run import watch  # noqa: E402

PLUGIN = "matrix.watching.hosts.pytest"
SOFTMAX = "loss/softmax_before_cross_entropy"

TESTS = """
    import pytest
    import torch
    from torch import nn

    def train(*layers):
        model = nn.Sequential(nn.Linear(4, 3), *layers)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        loss = nn.functional.cross_entropy(model(torch.randn(8, 4)), torch.randint(3, (8,)))
        loss.backward()
        optimizer.step()
        return loss

    def test_healthy():
        train()

    def test_broken():
        train(nn.Softmax(1))

    @pytest.mark.torch_watch(ignore=["loss/softmax_before_cross_entropy"])
    def test_allowed():
        train(nn.Softmax(1))

    def test_fails_anyway():
        assert train(nn.Softmax(1)) < 0

    @pytest.fixture
    def broken():
        raise ValueError

    def test_setup(broken):
        pass

    def test_after_it():
        from matrix.watching import hooks
        assert hooks.current is not None
"""


def run_tests(folder, *arguments):
    (folder / "test_it.py").write_text(textwrap.dedent(TESTS))
    command = [sys.executable, "-m", "pytest", "-p", "no:torch-repros", "-p", PLUGIN, "-rA"]
    plain = ["-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(folder), str(folder)]
    return subprocess.run(
        [*command, *plain, *arguments],
        env={**os.environ, "PYTHONPATH": str(catalog.ROOT), "OMP_NUM_THREADS": "1"},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    ).stdout


def test_a_finding_fails_its_test(tmp_path):
    shown = run_tests(tmp_path, "--torch-watch")
    ended = dict(reversed(line.split()[:2]) for line in shown.splitlines() if "::test_" in line)
    assert {name.partition("::")[2]: how for name, how in ended.items()} == {
        "test_healthy": "PASSED",
        "test_broken": "FAILED",
        "test_allowed": "PASSED",
        "test_fails_anyway": "FAILED",
        "test_setup": "ERROR",
        "test_after_it": "PASSED",
    }
    broken = shown[shown.index("_ test_broken _") : shown.index("_ test_fails_anyway _")]
    assert "test_it.py:9: error: " in broken
    assert f"[{SOFTMAX}]\n    " in broken
    assert f"[{SOFTMAX}]" in shown[shown.index("_ test_fails_anyway _") :]


def test_without_the_option_no_test_is_watched(tmp_path):
    shown = run_tests(tmp_path)
    assert "PASSED test_it.py::test_broken" in shown
    assert "FAILED test_it.py::test_after_it" in shown


# ---- trainers ----


def rows(count=32):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(count, 4, generator=generator)
    return torch.utils.data.TensorDataset(x, (x.sum(1) > 0).long())


def network(*layers):
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2), *layers
    )


def serious(findings):
    return sorted({finding.id for finding in findings if finding.level != "note"})


def fit(callbacks, *layers, fails=False):
    """Trains with Lightning, and returns the weights."""
    from lightning.pytorch import LightningModule, Trainer

    class Module(LightningModule):
        def __init__(self):
            super().__init__()
            self.model = network(*layers)

        def training_step(self, batch, number):
            if fails and number == 2:
                raise ZeroDivisionError
            loss = torch.nn.functional.cross_entropy(self.model(batch[0]), batch[1])
            self.log("loss", loss)
            return loss

        def validation_step(self, batch, number):
            self.log("accuracy", (self.model(batch[0]).argmax(1) == batch[1]).float().mean())

        def configure_optimizers(self):
            optimizer = torch.optim.AdamW(self.parameters(), lr=1e-3)
            scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
            return {"optimizer": optimizer, "lr_scheduler": scheduler}

    module = Module()
    trainer = Trainer(
        max_epochs=10,
        accelerator="cpu",
        callbacks=callbacks,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    loader = torch.utils.data.DataLoader(
        rows(), 8, shuffle=True, generator=torch.Generator().manual_seed(1)
    )
    trainer.fit(module, loader, torch.utils.data.DataLoader(rows(), 8))
    return [*module.state_dict().values()]


def test_lightning():
    pytest.importorskip("lightning")
    from matrix.watching.hosts.lightning import Watch

    plain, healthy = fit([]), Watch(stream=io.StringIO())
    torch.testing.assert_close(fit([healthy]), plain, rtol=0, atol=0)
    assert hooks.current is None
    assert serious(healthy.findings) == []
    broken = Watch(stream=io.StringIO())
    fit([broken], torch.nn.Softmax(1))
    assert serious(broken.findings) == [SOFTMAX]
    failed = Watch(stream=io.StringIO())
    with pytest.raises(ZeroDivisionError):
        fit([failed], torch.nn.Softmax(1), fails=True)
    assert hooks.current is None
    assert serious(failed.findings) == [SOFTMAX]


def fine_tune(callbacks, folder, *layers, **options):
    """Trains with the Trainer of transformers, and returns the weights."""
    from transformers import Trainer, TrainingArguments

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = network(*layers)

        def forward(self, x, labels):
            logits = self.model(x)
            return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}

    model = Model()
    dataset = [{"x": x, "labels": y} for x, y in rows()]
    arguments = TrainingArguments(
        str(folder),
        per_device_train_batch_size=8,
        num_train_epochs=5,
        learning_rate=1e-3,
        use_cpu=True,
        eval_strategy="epoch",
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        **options,
    )
    trainer = Trainer(
        model, arguments, train_dataset=dataset, eval_dataset=dataset, callbacks=callbacks
    )
    trainer.train()
    return [*model.state_dict().values()]


@pytest.mark.parametrize("options", [{}, {"gradient_accumulation_steps": 2}, {"bf16": True}])
def test_transformers(tmp_path, options):
    pytest.importorskip("transformers")
    from matrix.watching.hosts.transformers import Watch

    plain, healthy = fine_tune([], tmp_path, **options), Watch(stream=io.StringIO())
    torch.testing.assert_close(fine_tune([healthy], tmp_path, **options), plain, rtol=0, atol=0)
    assert hooks.current is None
    assert serious(healthy.findings) == []
    broken = Watch(stream=io.StringIO())
    fine_tune([broken], tmp_path, torch.nn.Softmax(1), **options)
    assert serious(broken.findings) == [SOFTMAX]


def accelerated(precision, *layers):
    """Trains with accelerate, and returns the weights."""
    from accelerate import Accelerator
    from accelerate.state import AcceleratorState

    AcceleratorState._reset_state(reset_partial_state=True)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2, mixed_precision=precision)
    model = network(*layers)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
    loader = torch.utils.data.DataLoader(
        rows(), 8, shuffle=True, generator=torch.Generator().manual_seed(1)
    )
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
    for _ in range(5):
        for x, y in loader:
            with accelerator.accumulate(model):
                loss = torch.nn.functional.cross_entropy(model(x), y)
                accelerator.backward(loss)
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
    return [*model.state_dict().values()]


@pytest.mark.parametrize("precision", ["no", "bf16"])
def test_accelerate(precision):
    pytest.importorskip("accelerate")
    plain = accelerated(precision)
    with watch(stream=io.StringIO()) as healthy:
        torch.testing.assert_close(accelerated(precision), plain, rtol=0, atol=0)
    assert serious(healthy.findings) == []
    with watch(stream=io.StringIO()) as broken:
        accelerated(precision, torch.nn.Softmax(1))
    assert serious(broken.findings) == [SOFTMAX]


CELLS = (
    "from matrix import watch\nrun = watch()",
    "import torch\nmodel = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Softmax(1))\n"
    "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)",
    "for _ in range(3):\n"
    "    optimizer.zero_grad()\n"
    "    y = torch.randint(3, (8,))\n"
    "    torch.nn.functional.cross_entropy(model(torch.randn(8, 4)), y).backward()\n"
    "    optimizer.step()",
    "run.stop()",
)


def test_a_notebook(tmp_path, monkeypatch):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    monkeypatch.setenv("PYTHONPATH", str(catalog.ROOT))
    cells = [nbformat.v4.new_code_cell(cell) for cell in CELLS]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=200, kernel_name="python3").execute()
    (output,) = notebook.cells[2].outputs
    assert output.name == "stderr"
    assert ":4: error: " in output.text
    assert f"[{SOFTMAX}]" in output.text
