"""Two ranks under a launcher, with a group of a library and without one."""

import os
import socket

import torch
import torch.distributed as dist

from tests.trials.advice.trainers import on_ranks

SETTINGS = ("two ranks",)


def sums():
    paste
    total = torch.tensor([dist.get_rank() + 1.0])
    dist.all_reduce(total)
    return [total, dist.get_world_size()]


def place(t):
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port = str(probe.getsockname()[1])

    def on_a_rank(rank):
        variables = {"RANK": str(rank), "WORLD_SIZE": "2", "MASTER_PORT": port}
        os.environ.update(variables, MASTER_ADDR="localhost")
        with_group = sums()
        dist.destroy_process_group()
        return [with_group, sums()]

    return on_ranks(on_a_rank)


def reference(t):
    return [[[torch.tensor([3.0]), 2]] * 2] * 2
