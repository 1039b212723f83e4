# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "An interrupted torch.save leaves neither the new checkpoint nor the old one"
# kind = "error"
# symptom = "the last checkpoint cannot be loaded any more"
# messages = [
#     "PytorchStreamReader failed reading zip archive: failed finding central directory",
#     "PytorchStreamReader failed (?:reading|locating) file .{1,80}?: (?:file (?:not found|read failed)|invalid header or archive is corrupted)",
#     "unexpected EOF, expected \\d{1,12} more bytes\\. The file might be corrupted",
# ]
# keywords = [
#     "job killed while saving a checkpoint",
#     "disk full during torch.save",
#     "checkpoint corrupted after Ctrl+C or preemption",
#     "cannot resume because last.pt is broken",
#     "save a checkpoint atomically",
#     "power loss or kill while saving, checkpoint gone",
#     "spot instance stopped and checkpoint is unreadable",
#     "last checkpoint broken after cluster time limit",
#     "keyboard interrupt during saving destroyed my file",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/Lightning-AI/pytorch-lightning/issues/688",
#     "https://github.com/Lightning-AI/pytorch-lightning/issues/19970",
# ]
# documents = [
#     "https://github.com/PrimeIntellect-ai/prime-rl/pull/2992",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/serialization.py",
# ]
# wrong = '''
# torch.save(checkpoint, path)
# '''
# right = '''
# torch.save(checkpoint, path + ".new")
# os.replace(path + ".new", path)
# '''
# fix = "checkpoints.save"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A run that was stopped while it wrote its checkpoint cannot be resumed: the file that it
overwrote is damaged (Lightning-AI/pytorch-lightning#688).

torch.save() opens the path for writing, which empties the file, before it has written
anything (torch/serialization.py). Here Ctrl+C, raised while the objects are pickled,
stands for a kill, a full disk or an object that cannot be pickled.
"""

import os
import tempfile

import torch


class Interrupt:
    def __reduce__(self):
        raise KeyboardInterrupt


def save_again(write):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "last.pt")
        torch.save({"step": 1}, path)
        try:
            write({"step": 2, "interrupt": Interrupt()}, path)
        except KeyboardInterrupt:
            pass
        try:
            torch.load(path)
        except Exception as error:
            return f"the last checkpoint cannot be loaded any more: {error}"


def reproduce(device):
    return save_again(lambda checkpoint, path: torch.save(checkpoint, path))


def control(device):
    def write(checkpoint, path):
        torch.save(checkpoint, path + ".new")
        os.replace(path + ".new", path)

    return save_again(write)


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
