import pytest

from matrix import devices


def test_a_device_whose_platform_this_is_not_is_missing_with_the_reason(monkeypatch):
    monkeypatch.setattr(devices.sys, "platform", "linux")
    assert (
        devices.missing("mps")
        == "mps is not usable on this machine: it needs darwin, this is linux"
    )
    monkeypatch.setattr(devices.sys, "platform", "darwin")
    assert devices.missing("mps") is None


@pytest.mark.parametrize("present", ["program", "file"])
def test_a_device_without_any_of_its_drivers_is_missing_and_with_one_it_is_not(
    monkeypatch, tmp_path, present
):
    row = devices.Device("xpu", "xpu", "", ("xpu-smi", str(tmp_path / "node")), {}, True, "xpu")
    monkeypatch.setitem(devices.BY_NAME, "xpu", row)
    monkeypatch.setattr(devices.shutil, "which", lambda name: None)
    assert devices.missing("xpu").startswith(
        "xpu is not usable on this machine: no driver (looked for xpu-smi, "
    )
    if present == "file":
        (tmp_path / "node").touch()
    else:
        monkeypatch.setattr(devices.shutil, "which", lambda name: f"/usr/bin/{name}")
    assert devices.missing("xpu") is None


def test_the_cpu_is_never_missing():
    assert devices.missing("cpu") is None
