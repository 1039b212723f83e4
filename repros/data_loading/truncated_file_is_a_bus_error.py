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
# origin = "usage"
# documents = [
#     "https://github.com/greatlog/UnpairedSR/issues/17",
#     "https://man7.org/linux/man-pages/man2/mmap.2.html",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/csrc/DataLoader.cpp",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/utils/data/_utils/signal_handling.py",
# ]
# wrong = '''
# if not os.path.exists(path):  # the copy on this machine
#     shutil.copyfile(original, path)
# rows = Mapped(path)
# '''
# right = '''
# import os, shutil
# if not os.path.exists(path) or os.path.getsize(path) != os.path.getsize(original):
#     part = f"{path}.{os.getpid()}"  # those who have mapped the old one keep it
#     shutil.copyfile(original, part)
#     os.replace(part, path)
# rows = Mapped(path)
# '''
# affected = { cpu = ">=1.13" }
# platform = "linux"
# ///
"""Reading beyond the end of a mapped file raises SIGBUS (man7.org: mmap(2)). Torch's handler in the
worker blames a lack of shared memory for every SIGBUS, whatever the cause
(torch/csrc/DataLoader.cpp), and so does the text of the exception
(torch/utils/data/_utils/signal_handling.py). In this reproducer, an earlier copy of the file was
truncated. The corrected code needs the original file each time the program starts. If copying
fails, for example because the disk is full, delete the partial file next to the path.

Like this reproducer, LMDB maps a file without checking its size, and dies on a truncated data.mdb.
A complete file has at least (info()["last_pgno"] + 1) * stat()["psize"] bytes. The corrected code
needs the path of data.mdb itself, because its folder has the same size whether the file is complete
or truncated.

With an explicit length, mmap.mmap() and numpy.memmap() check the size and raise ValueError. Without
a length, they map the bytes that exist. However, in its default mode "r+", numpy.memmap() does not
raise an error: it extends the file with zeros, so the size is right afterwards. Open data with
mode="r", and delete any copy that was extended in this way. With both functions, the process dies
if the file is truncated while it is mapped, for example because a second copy overwrites it.

In greatlog/UnpairedSR#17, 64 GB of shared memory did not help, and the same signal killed the
training with num_workers=0. A lack of shared memory for batches cannot explain that.
"""

import ctypes
import mmap
import os
import shutil
import tempfile
import time

from torch.utils.data import DataLoader, Dataset

SIZE = 4 * mmap.PAGESIZE


class Mapped(Dataset):
    def __init__(self, path):
        libc = ctypes.CDLL(None)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        with open(path, "rb") as file:
            at = libc.mmap(None, SIZE, mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(), 0)
        self.bytes = (ctypes.c_ubyte * SIZE).from_address(at)

    def __len__(self):
        return 1

    def __getitem__(self, index):
        time.sleep(0.3)  # torch may not name the signal of a worker that dies as the loader starts
        return self.bytes[-1]


def trusting(original, path):
    if not os.path.exists(path):  # the copy on this machine
        shutil.copyfile(original, path)
    rows = Mapped(path)
    return rows


def checking(original, path):
    if not os.path.exists(path) or os.path.getsize(path) != os.path.getsize(original):
        part = f"{path}.{os.getpid()}"  # those who have mapped the old one keep it
        shutil.copyfile(original, part)
        os.replace(part, path)
    rows = Mapped(path)
    return rows


def load(prepare):
    with tempfile.TemporaryDirectory() as folder:
        original, path = f"{folder}/original", f"{folder}/copy"
        for name, size in ((original, SIZE), (path, mmap.PAGESIZE)):
            with open(name, "wb") as file:
                file.write(b"\7" * size)
        rows = prepare(original, path)
        try:
            (last,) = DataLoader(rows, num_workers=1, multiprocessing_context="fork")
        except RuntimeError as error:
            return str(error.__cause__ or error)
    if last.item() != 7:
        return f"the last byte is {last.item()} instead of 7"


def reproduce(device):
    return load(trusting)


def control(device):
    return load(checking)


def messages(device):
    with tempfile.TemporaryFile() as said:
        stderr = os.dup(2)
        os.dup2(said.fileno(), 2)  # where the worker writes as it dies
        try:
            load(trusting)
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
        said.seek(0)
        return said.read().decode()


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
