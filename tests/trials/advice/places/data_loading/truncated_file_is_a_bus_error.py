"""Copies of a file that are missing, cut off, whole, or old and mapped, and one that fills the disk."""

import contextlib
import ctypes
import mmap
import os
import resource
import shutil  # noqa: F401
import tempfile

from torch.utils.data import DataLoader, Dataset

SETTINGS = ("plain",)
PAGE = mmap.PAGESIZE
NEW, OLD = b"\1" * 3 * PAGE + b"\2" * PAGE, b"\3" * 3 * PAGE


class Mapped(Dataset):
    """As LMDB maps a file, whatever its size."""

    def __init__(self, path):
        libc, length = ctypes.CDLL(None), len(NEW)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        with open(path, "rb") as file:
            at = libc.mmap(None, length, mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(), 0)
        self.bytes = (ctypes.c_ubyte * length).from_address(at)

    def __len__(self):
        return len(NEW) // PAGE

    def __getitem__(self, index):
        return self.bytes[index * PAGE]


def start(original, path):
    paste
    return [row.item() for row in DataLoader(rows, num_workers=1, multiprocessing_context="fork")]


def place(t):
    with tempfile.TemporaryDirectory() as folder:

        def file(name, content):
            with open(f"{folder}/{name}", "wb") as opened:
                opened.write(content)
            return f"{folder}/{name}"

        original = file("original", NEW)
        found = [start(original, f"{folder}/missing")]
        found += [start(original, file(f"cut {size}", NEW[:size])) for size in (0, 10, PAGE)]
        whole = file("whole", NEW)
        os.utime(whole, (1, 1))
        found += [start(original, whole), os.path.getmtime(whole)]
        running = Mapped(old := file("old", OLD))
        found += [start(original, old), [running[index] for index in range(3)]]
        limit = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (PAGE, limit[1]))
        with contextlib.suppress(OSError):
            start(original, f"{folder}/full")
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        return [*found, start(original, f"{folder}/full")]


def reference(t):
    new = [1, 1, 1, 2]
    return [new, new, new, new, new, 1.0, new, [3, 3, 3], new]
