import time

import pytest
from click.testing import CliRunner

from tests import speed


def test_variants_are_compared_within_rounds_and_a_missed_target_shows():
    variants = {"plain": lambda: time.sleep(0.002), "slow": lambda: time.sleep(0.006)}
    clock = speed.Clock("cpu")
    targets = {"slow": ("at most 1.02", lambda ratio: ratio <= 1.02)}
    plain, slow = speed.rows(clock, "sleeping", variants, 5, targets)
    assert plain.ratio == (1.0, 1.0, 1.0)
    assert 1.5 < slow.ratio[1] < 6
    assert slow.ratio[0] <= slow.ratio[1] <= slow.ratio[2]
    assert not slow.met
    table = speed.render("cpu", [plain, slow], [("rule", 37, 11, 0.5)], {})
    assert "at most 1.02, **missed** |" in table
    assert "| rule | 37 | 11 | 0.50 |" in table


@pytest.mark.parametrize(("factor", "size", "tries"), [(0.9, 36, 32), (0.5, 32, 6)])
def test_the_rules_of_others_are_theirs(factor, size, tries):
    tried = []

    def run(size):
        tried.append(size)
        if size > 37:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 MiB")

    assert (speed.by_factor(run, 1024, factor), len(tried)) == (size, tries)
    with pytest.raises(RuntimeError, match="^mat1"):
        speed.by_factor(
            lambda size: (_ for _ in ()).throw(RuntimeError("mat1 and mat2")), 8, factor
        )


def test_a_device_that_cannot_be_used_is_said(monkeypatch):
    monkeypatch.setattr(speed, "probe", lambda device: {"ok": False, "reason": "no GPU"})
    result = CliRunner().invoke(speed.main, ["--device", "cuda"])
    assert result.exit_code == 3
    assert "no usable cuda here: no GPU" in result.output


def test_the_measured_table_meets_its_targets():
    table = (speed.DOCS / "speed-cpu.md").read_text(encoding="utf-8")
    assert "**missed**" not in table
    for name in (
        "numerics.clip_or_skip",
        "rnn.input_gradients",
        "memory.find_batch_size",
        "data_loading.Prefetcher",
        "numerics.Snapshot",
    ):
        assert name in table
