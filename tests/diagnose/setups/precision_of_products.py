import torch

from tests.diagnose.trainers import trainer

RANKS = 1  # a process of its own, in which autocast stays on


def float32():
    torch.set_num_threads(1)  # the threads of the parent do not exist here
    return trainer()


def autocast_is_on():
    torch.autocast("cpu", dtype=torch.bfloat16).__enter__()
    return float32()


OUTCOMES = [[float32], [autocast_is_on]]
