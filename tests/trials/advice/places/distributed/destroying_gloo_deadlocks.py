"""Thirty groups of one rank, in a process that may hang."""

from multiprocessing import get_context

import torch  # noqa: F401
import torch.distributed as dist

SETTINGS = ("plain",)


def groups(sums):
    for _ in range(30):
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        paste
        sums.put(not dist.is_initialized())


def place(t):
    context = get_context("fork")
    sums = context.SimpleQueue()
    process = context.Process(target=groups, args=(sums,), daemon=True)
    process.start()
    process.join(6)
    if hangs := process.is_alive():
        process.kill()
    process.join()
    return hangs, process.exitcode


def reference(t):
    return False, 0
