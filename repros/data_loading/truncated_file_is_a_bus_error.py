# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A truncated memory-mapped data file kills the worker, and the message blames shared memory"
# kind = "error"
# symptom = "killed by signal: Bus error"
# messages = [
#     "is killed by signal: Bus error",
#     "Unexpected bus error encountered in worker",
#     "dataloader.s workers are out of shared memory",
# ]
# keywords = [
#     "insufficient shared memory (shm) although /dev/shm is large",
#     "bus error with num_workers=0 too",
#     "lmdb or memmap file is broken",
#     "Bus error (core dumped) in training",
#     "raising shm-size does not help",
#     "plenty of shared memory and workers die anyway",
#     "training crashes at the same sample of the lmdb",
#     "memmap dataset copied to the server crashes",
#     "disk quota full while copying data, then bus error",
# ]
# origin = "usage"
# documents = [
#     "https://github.com/greatlog/UnpairedSR/issues/17",
#     "https://man7.org/linux/man-pages/man2/mmap.2.html",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/csrc/DataLoader.cpp",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/utils/data/_utils/signal_handling.py",
# ]
# wrong = '''
# with open(path, "wb") as file:
#     file.truncate(0)  # the copy or the preprocessing was cut off; the file is mapped already
# '''
# right = '''
# with open(path, "wb") as file:
#     file.truncate(8192)
# '''
# affected = { cpu = ">=1.13" }
# platform = "linux"
# ///
"""A read beyond the end of a mapped file raises SIGBUS (man7.org: mmap(2)). Torch's handler in
the worker takes every SIGBUS for a lack of shared memory (torch/csrc/DataLoader.cpp), and
so does the exception (torch/utils/data/_utils/signal_handling.py), whatever caused it.

In greatlog/UnpairedSR#17 64 GB of shared memory did not help, and num_workers=0 died of the
same signal, which no shared memory for batches explains.
"""

import mmap
import multiprocessing
import tempfile

from torch.utils.data import DataLoader, Dataset


class Mapped(Dataset):
    def __init__(self, path):
        with open(path, "r+b") as file:
            self.bytes = mmap.mmap(file.fileno(), 8192)
        self.ready = multiprocessing.Event()

    def __len__(self):
        return 1

    def __getitem__(self, index):
        self.ready.wait()
        return self.bytes[4096]


def load(size):
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/data"
        with open(path, "wb") as file:
            file.truncate(8192)
        rows = Mapped(path)
        with open(path, "wb") as file:
            file.truncate(size)
        try:
            batches = iter(DataLoader(rows, num_workers=1, multiprocessing_context="fork"))
            rows.ready.set()  # the loader watches its worker by now
            list(batches)
        except RuntimeError as error:
            return str(error.__cause__ or error)


def reproduce(device):
    return load(size=0)


def control(device):
    return load(size=8192)


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
