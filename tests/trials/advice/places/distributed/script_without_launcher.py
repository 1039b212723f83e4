"""A script on one process without a launcher, and on two ranks with the variables of a launcher."""

import os
import socket

import torch
import torch.distributed as dist

from tests.trials.advice.trainers import on_ranks

SETTINGS = ("plain", "two ranks")
NAMES = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


def script():
    paste
    total = torch.tensor([dist.get_rank() + 1.0])
    dist.all_reduce(total)
    seen = [total, dist.get_rank(), dist.get_world_size(), dist.get_backend()]
    if dist.get_world_size() == 1:
        dist.destroy_process_group()
    return seen


def with_variables(run, **variables):
    before = dict(os.environ)
    for name in NAMES:
        os.environ.pop(name, None)
    os.environ.update(variables)
    try:
        return run()
    finally:
        os.environ.clear()
        os.environ.update(before)


def place(t):
    if t.setting.ranks == 1:
        return [with_variables(script)]
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port = str(probe.getsockname()[1])

    def on_a_rank(rank):
        dist.barrier()  # the other rank may still connect
        dist.destroy_process_group()
        values = (str(rank), "2", "localhost", port)
        return with_variables(script, **dict(zip(NAMES, values)))

    return on_ranks(on_a_rank)


def reference(t):
    ranks = t.setting.ranks
    total = torch.tensor([sum(range(1, ranks + 1)) * 1.0])
    return [[total, rank, ranks, "gloo"] for rank in range(ranks)]
