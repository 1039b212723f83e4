# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "An interrupted torch.save over the last checkpoint loses both the new and the old checkpoint"
# kind = "error"
# symptom = "the last checkpoint cannot be loaded any more"
# messages = [
#     "PytorchStreamReader failed reading zip archive: failed finding central directory",
#     "PytorchStreamReader failed reading zip archive: not a ZIP archive",
#     'unexpected EOF, expected \d{1,12} more bytes\. The file might be corrupted',
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
# import os
# with open(f"{path}.new", "wb") as file:
#     torch.save(checkpoint, file)
#     file.flush()
#     os.fsync(file.fileno())
# os.replace(f"{path}.new", path)
# '''
# fix = "checkpoints.save"
# use = '''
# from checkpoints import save
# save(checkpoint, path)
# '''
# choice = "Use the lines without the fix if a single process writes and reads the file; use the fix if the file is a link or is shared with others, or if a failed save must leave nothing behind"
# rule = "note"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A run that was stopped while it wrote its checkpoint cannot be resumed, because the overwritten
file is damaged (Lightning-AI/pytorch-lightning#688).

torch.save() opens the path for writing, which empties the file before anything is written
(torch/serialization.py). In this reproducer, Ctrl+C during pickling stands in for a kill, a full
disk or an object that cannot be pickled. If the new file is completely on the disk before it takes
the name of the old file, one of the two files is always intact. A killed process leaves its new
file behind. With the corrected code, this file always has the same name; with save(), each kill
leaves another file. The corrected code leaves the new file behind after an exception too. If two
processes use this code to save to the same path, one process can rename the other's new file. The
other process then raises FileNotFoundError.
"""

import os
import tempfile
from pathlib import Path

import torch


class Interrupt:
    def __reduce__(self):
        raise KeyboardInterrupt


def save_again(write):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "last.pt")
        torch.save({"step": 1}, path)
        try:
            write({"step": 2, "interrupt": Interrupt()}, path)
        except KeyboardInterrupt:
            pass
        if error := load(path):
            return f"the last checkpoint cannot be loaded any more: {error}"
        write({"step": 3}, path)
        if torch.load(path) != {"step": 3}:
            return "the next checkpoint is not in the file"


def load(path):
    try:
        torch.load(path)
    except Exception as error:
        return str(error)


def reproduce(device):
    return save_again(lambda checkpoint, path: torch.save(checkpoint, path))


def control(device):
    def write(checkpoint, path):
        with open(f"{path}.new", "wb") as file:
            torch.save(checkpoint, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(f"{path}.new", path)

    return save_again(write)


def messages(device):
    def write(end, **options):  # what a kill leaves of it
        torch.save({"weight": torch.ones(300)}, path, **options)
        path.write_bytes(path.read_bytes()[:end])
        return load(path)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "last.pt")
        old = write(-100, _use_new_zipfile_serialization=False)
        return f"{write(-100)}\n{write(10)}\n{old}"


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
