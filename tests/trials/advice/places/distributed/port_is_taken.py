"""The second training on a machine: two ranks that meet at MASTER_PORT and add up their numbers."""

import os
from datetime import timedelta

import torch
import torch.distributed as dist

from tests.trials.advice.trainers import on_ranks


def on_a_rank(rank):
    dist.destroy_process_group()
    dist.init_process_group("gloo", rank=rank, world_size=2, timeout=timedelta(seconds=60))
    number = torch.tensor(rank + 1)
    dist.all_reduce(number)
    return number


def place(t):
    before = dict(os.environ)
    try:
        first = dist.TCPStore("localhost", 29500, is_master=True)
    except RuntimeError:
        first = None  # another process of this machine has it
    try:
        paste
        return on_ranks(on_a_rank)
    finally:
        os.environ.clear()
        os.environ.update(before)
        del first


def reference(t):
    return [torch.tensor(3)] * 2
