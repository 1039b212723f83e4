# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Since torch 2.6, torch.load rejects a checkpoint that contains more than tensors and plain types"
# kind = "error"
# symptom = "argparse\\.Namespace was not an allowed global"
# messages = [
#     "Weights only load failed",
#     'WeightsUnpickler error: Unsupported global: GLOBAL \S{1,200} was not an allowed global by default',
# ]
# elsewhere = ['WeightsUnpickler error: Unsupported class \S{1,200}']
# origin = "design"
# reports = [
#     "https://github.com/chemprop/chemprop/issues/1227",
#     "https://github.com/mlcommons/mlperf-automations/issues/465",
# ]
# documents = [
#     "https://github.com/e3nn/e3nn/issues/519",
#     "https://github.com/nerfstudio-project/nerfstudio/pull/3702",
#     "https://github.com/pytorch/pytorch/pull/137602",
#     "https://github.com/ROCm/Megatron-LM/pull/56",
#     "https://docs.pytorch.org/docs/stable/notes/serialization.html#torch-load-with-weights-only-true",
# ]
# wrong = '''
# torch.save({"model": model.state_dict(), "args": args}, path)
# checkpoint = torch.load(path)
# '''
# right = '''
# torch.save({"model": model.state_dict(), "args": args}, path)
# checkpoint = torch.load(path, weights_only=False)  # your own file: it can run code
# '''
# rule = "error"
# when = "torch is 2.6 or newer"
# affected = { cpu = ">=2.6", cuda = ">=2.6", mps = ">=2.6" }
# ///
"""A checkpoint that loads in older releases is rejected, because it contains more than the weights.
Examples are an argparse.Namespace, a NumPy scalar (nerfstudio-project/nerfstudio#3702), or the
whole model (e3nn/e3nn#519).

Since 2.6, torch.load() defaults to weights_only=True (pytorch#137602). This mode loads tensors,
numbers and strings, lists, tuples, sets and dicts of them, and a few other classes. It rejects, for
example, a defaultdict, a datetime or a NumPy array. With weights_only=False, torch.load() loads
everything that older releases loaded, and runs any code in the file, so use it only for a file
whose author you trust. For any other file, torch.serialization.add_safe_globals() can allow the
class that the message names (notes on serialization).
"""

import argparse
import tempfile
from pathlib import Path

import torch


def start(device):
    args = argparse.Namespace(lr=0.1, data=Path("data"), type=int)
    return torch.nn.Linear(2, 2).to(device), args


def reproduce(device):
    model, args = start(device)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "last.pt")
        try:
            torch.save({"model": model.state_dict(), "args": args}, path)
            checkpoint = torch.load(path)
        except Exception as error:
            return str(error)
    return check(checkpoint, model, args)


def control(device):
    model, args = start(device)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "last.pt")
        torch.save({"model": model.state_dict(), "args": args}, path)
        checkpoint = torch.load(path, weights_only=False)  # your own file: it can run code
    return check(checkpoint, model, args)


def check(checkpoint, model, args):
    if checkpoint["args"] != args or not torch.equal(checkpoint["model"]["bias"], model.bias):
        return f"the checkpoint holds {checkpoint}"


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
