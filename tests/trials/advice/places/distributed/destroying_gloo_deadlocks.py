"""Thirty groups of one rank, each with a reduction, in a process that may hang."""

from multiprocessing import get_context

import torch  # noqa: F401
import torch.distributed as dist

SETTINGS = ("plain",)


def groups(done):
    reduce, calls = dist.all_reduce, []
    dist.all_reduce = lambda *args, **options: calls.append(1) or reduce(*args, **options)
    for _ in range(30):
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        paste
        done.put((len(calls), dist.is_initialized()))


def place(t):
    context = get_context("fork")
    done = context.SimpleQueue()
    process = context.Process(target=groups, args=(done,), daemon=True)
    process.start()
    process.join(6)
    if hangs := process.is_alive():
        process.kill()
    process.join()
    seen = []
    while not done.empty():
        seen.append(done.get())
    return hangs, process.exitcode, seen


def reference(t):
    return False, 0, [(n + 1, False) for n in range(30)]
