import random

import torch

from tests.diagnose.trainers import Net, trainer

GENERATOR = random.Random(0)  # as numpy.random, not seeded by torch


class Initialized(Net):
    def __init__(self):
        super().__init__()
        with torch.no_grad():
            self.head.weight.fill_(GENERATOR.random())


def another_generator():
    return trainer(make_model=Initialized)


OUTCOMES = [[trainer], [another_generator]]
