"""Tests the names of records, and when records are stale."""

from matrix import catalog
from tests.harness.helpers import plant
from tests.harness.recorded import record


def test_records_of_different_machines_have_different_names():
    mac = {"device": "mps", "platform": "darwin", "machine": "arm64", "gpu": "Apple M2"}
    names = [
        one.name
        for one in (
            record(),
            record("2.5.1"),
            record(machine="aarch64"),
            record(device="cuda", gpu="NVIDIA H200"),
            record(device="cuda", gpu="NVIDIA A100"),
            record(**mac, system="macOS 15.1"),
            record(**mac, system="macOS 14.0"),
            record(**mac, system="macOS 14.0", virtual=True),
        )
    ]
    assert len(set(names)) == len(names)
    assert names[3] == "cuda_nvidia-h200_linux-x86_64_torch-2.4.1+cu121.json"
    assert names[7] == "mps_apple-m2_paravirtual_macos-14.0_darwin-arm64_torch-2.4.1+cu121.json"


def test_gpus_whose_names_are_alike_have_records_of_their_own():
    names = ["A B", "A-B", "A/B", "A  B", "A - B"]
    assert len({record(device="cuda", gpu=name).name for name in names}) == len(names)
    assert record(device="cuda", gpu="A B").name == "cuda_a-b_linux-x86_64_torch-2.4.1+cu121.json"


def test_the_hash_follows_the_code_and_the_symptom_and_nothing_else(root):
    code = "def reproduce(device):\n    return {!r}\n"
    for name, text, header in (
        ("one", "boom", {}),
        ("words", "boom", {"title": '"other words"', "fix": '"amp.x"'}),
        ("code", "thud", {}),
        ("symptom", "boom", {"symptom": '"thud"'}),
    ):
        plant(root, f"amp/{name}", code.format(text), **header)
    hashes = {one.name: one.hash for one in catalog.load(root)}
    assert hashes["words"] == hashes["one"]
    assert len({hashes["one"], hashes["code"], hashes["symptom"]}) == 3
