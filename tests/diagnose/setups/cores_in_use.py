import os

import torch

from tests.diagnose.trainers import trainer

RANKS = 1  # a process of its own, in which the machine looks different


def _machine(cores, allowed, threads):
    os.cpu_count = lambda: cores
    os.sched_getaffinity = lambda process: set(range(allowed))
    torch.get_num_threads = lambda: threads
    return trainer()


def physical_cores():
    return _machine(8, 8, 4)


def bound_to_two_cores():
    return _machine(8, 2, 2)


def started_by_torchrun():
    return _machine(8, 8, 1)


def too_many_threads():
    return _machine(8, 6, 8)


OUTCOMES = [[physical_cores], [bound_to_two_cores], [started_by_torchrun], [too_many_threads]]
