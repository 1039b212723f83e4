import torch

from tests.diagnose.trainers import trainer

RANKS = 2
HANGS = {"no_answer": ("limit = 60", "limit = 1")}


class Work:
    def __init__(self, answers):
        self.answers = answers

    def is_completed(self):
        return self.answers


def no_answer():
    torch.distributed.all_reduce = lambda number, async_op: Work(answers=False)
    return trainer()


def nothing_is_added():
    torch.distributed.all_reduce = lambda number, async_op: Work(answers=True)
    return trainer()


OUTCOMES = [[trainer], [no_answer], [nothing_is_added]]
