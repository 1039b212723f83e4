# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "torch.load without map_location fails for a checkpoint from a GPU on another machine"
# kind = "error"
# symptom = "Attempting to deserialize object on (?:a CUDA device|CUDA device 63)"
# messages = [
#     'Attempting to deserialize object on a CUDA device but torch\.cuda\.is_available\(\) is False',
#     'Attempting to deserialize object on CUDA device \d{1,4} but torch\.cuda\.device_count\(\) is \d{1,4}',
#     'use torch\.load with map_location.{0,40}? to map your storages',
# ]
# origin = "design"
# reports = [
#     "https://github.com/uzh-rpg/rpg_e2vid/issues/15",
#     "https://github.com/Juyong/CaricatureFace/issues/2",
#     "https://github.com/zeruniverse/neural-colorization/issues/11",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.load.html",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/serialization.py",
# ]
# wrong = '''
# model.load_state_dict(torch.load(file))
# '''
# right = '''
# model.load_state_dict(torch.load(file, map_location="cpu"))
# '''
# rule = "note"
# when = "the file was saved from a GPU that this machine does not have"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# stand_in = { cpu = "a file whose storages name cuda:63", cuda = "a file whose storages name cuda:63", mps = "a file whose storages name cuda:63" }
# ///
"""Every storage in a file records the device that it was saved from, and torch.load() without
map_location restores the storage to that device (torch/serialization.py). This fails on a machine
without CUDA or with fewer GPUs (Juyong/CaricatureFace#2).

The model's device does not matter. With map_location="cpu", torch.load() reads all storages into
main memory, and load_state_dict() copies them to the model's device. On a machine without CUDA,
map_location="cuda" raises the same error. For tensors that were on a GPU, pickle.load() raises this
error too, but has no map_location argument. In that case, derive a class from pickle.Unpickler. For
the name "_load_from_bytes", let its find_class() return lambda b: torch.load(io.BytesIO(b),
map_location="cpu").
"""

import io
from unittest.mock import patch

import torch


def start(device):
    """A model, and a file of its weights that were on a GPU which is not here."""
    model, saved = torch.nn.Linear(2, 2), io.BytesIO()
    torch.save(model.state_dict(), saved, _use_new_zipfile_serialization=False)
    # The name of the device, as pickle writes it: its length, then its letters.
    data = saved.getvalue().replace(b"\3\0\0\0cpu", b"\7\0\0\0cuda:63")
    return model, torch.nn.Linear(2, 2).to(device), io.BytesIO(data)


def reproduce(device):
    _, model, file = start(device)
    try:
        model.load_state_dict(torch.load(file))
    except RuntimeError as error:
        return str(error)


def control(device):
    trained, model, file = start(device)
    model.load_state_dict(torch.load(file, map_location="cpu"))
    if model.weight.device.type != device or not torch.equal(model.weight.cpu(), trained.weight):
        return f"the weights are {model.weight}"


def messages(device):
    with patch("torch.cuda.is_available", lambda: True):  # as with too few GPUs
        return reproduce(device)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
