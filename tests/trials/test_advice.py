"""Runs each printed advice in one setting; `nox -s advice` runs all advice in every setting."""

import hashlib
from pathlib import Path

import pytest

from matrix import catalog
from tests.trials.advice import pasting, readings, run
from tests.trials.advice.pasting import Pasted, Place

torch = pytest.importorskip("torch")

PLACES = pasting.places()
BY_ID = {reproducer.id: reproducer for reproducer in catalog.load()}
VERSION = torch.__version__


def unmet(pasted: list[Pasted], folder: Path) -> list[str]:
    return pasting.unmet(pasted, pasting.run(pasted, folder))


def test_every_advice_has_its_place() -> None:
    advised = {
        reproducer.id
        for reproducer in BY_ID.values()
        if (reproducer.right or reproducer.use) and reproducer.is_current
    }
    placed = {place.id for place in PLACES}
    assert placed <= set(BY_ID)
    assert sorted(advised - placed) == sorted(pasting.NO_PLACE)


def test_every_reproducer_was_tried_by_a_reader_and_none_is_below_grade_a() -> None:
    read = readings.load()
    assert set(read) == {reproducer.id for reproducer in BY_ID.values() if reproducer.is_current}
    assert [
        id
        for id, reading in read.items()
        if reading["grade"] not in ("A", "A*") or not reading["readers"]
    ] == []
    assert [
        id for id, reading in read.items() if not reading["tried"] or not reading["reports"]
    ] == []


def test_the_page_of_advice_is_current() -> None:
    assert readings.PAGE.read_text(encoding="utf-8") == readings.page()


@pytest.mark.xdist_group("forked")
def test_what_is_printed_does_what_the_reference_does(tmp_path: Path) -> None:
    """Runs each advice in one of its settings, selected by the id."""
    sample = []
    for place in PLACES:
        number = int(hashlib.sha256(place.id.encode()).hexdigest(), 16)
        setting = place.settings[number % len(place.settings)]
        printed = pasting.printed(place, BY_ID[place.id], VERSION)
        sample += [lines for lines in printed if lines.setting == setting and lines.key != "wrong"]
    assert sample
    assert unmet(sample, tmp_path) == []


@pytest.mark.xdist_group("forked")
def test_advice_that_did_harm_fails_in_its_place(tmp_path: Path) -> None:
    old = [
        lines for place in PLACES for lines in pasting.once_given(place, BY_ID[place.id], VERSION)
    ]
    assert old
    assert unmet(old, tmp_path) == []


PLACE = """
import torch

SETTINGS = ("plain", "dropout", "frozen norm")

def train(t, step):
    for x, y in t.batches:
        t.optimizer.zero_grad()
        step(t.loss(t.model(x), y))
    return t.model.state_dict()

def place(t):
    model, optimizer = t.model, t.optimizer

    def step(loss):
        paste

    return train(t, step)

def reference(t):
    def step(loss):
        loss.backward()
        t.optimizer.step()

    return train(t, step)
"""
FINE = "loss.backward()\noptimizer.step()"


HARMS = (  # (a line before the right lines, the message about it)
    ("", ""),
    ("loss = loss * 0.5", "off by"),
    ("model.eval()", "modes: "),
    ("model.dropout.p = 0.0", "dropout: "),
    ("model.body.requires_grad_(False)", "needs a gradient: "),
    ("loss = loss.detach().requires_grad_()", "got a gradient: "),
    ("model.register_buffer('calls', torch.zeros(()))", "state: "),
    ("model.norm.num_batches_tracked = model.norm.num_batches_tracked.int()", "state: "),
    ("model.tail.weight = model.head.weight", "parameters that are one: "),
    ("optimizer.param_groups[1]['lr'] = optimizer.param_groups[0]['lr']", "groups: "),
    ("torch.manual_seed(0)", "seed: "),
    ("torch.set_default_dtype(torch.float64)", "default dtype: "),
    ("torch.backends.cudnn.benchmark = True", "cudnn.benchmark: "),
    ("import os; os.environ['A'] = 'b'", "environment: "),
    ("raise KeyError('x')", "it raises KeyError: 'x'"),
    ("raise SystemExit(0)", "it raises SystemExit: 0"),
    ("loss.detach_()", "it raises RuntimeError: "),
)


@pytest.mark.xdist_group("forked")
def test_each_harm_is_found(tmp_path: Path) -> None:
    (tmp_path / "planted").mkdir()
    path = tmp_path / "planted/one.py"
    path.write_text(PLACE)
    lines = [f"{harm}\n{FINE}" if harm else FINE for harm, _ in HARMS]
    runs = [Pasted(Place(path), "right", each, "dropout") for each in lines]
    for (harm, said), (status, output) in zip(HARMS, pasting.run(runs, tmp_path)):
        assert (status == 0) == (said == ""), (harm, output)
        assert said in output, harm


def test_floating_tensors_of_two_dtypes_differ() -> None:
    tensor = torch.ones(2)
    assert run.differences([tensor.half()], [tensor], 1e-4) == [
        "result[0]: torch.float16 instead of torch.float32"
    ]
    assert run.differences([tensor, tensor.int()], [tensor.clone(), tensor], 1e-4) == []


def test_lines_that_are_right_must_be_so_in_every_setting_and_others_fail_in_one() -> None:
    place = Place(pasting.PLACES / "amp/one.py")
    runs = [Pasted(place, key, "lines", name) for key in pasting.KEYS for name in ("a", "b")]
    good, bad = (0, "as the reference"), (1, "off")
    assert pasting.unmet(runs, [bad, good, good, good, good, good]) == []
    assert pasting.unmet(runs, [good, good, good, bad, bad, good]) == [
        "amp/one, right, b: off",
        "amp/one, use, a: off",
        "amp/one, wrong: fails in no setting of its place",
    ]


def test_a_place_without_a_mark_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "one.py"
    path.write_text("def place(t):\n    pass\n")
    with pytest.raises(ValueError, match="no statement `paste`"):
        Place(path).pasted("x = 1")
