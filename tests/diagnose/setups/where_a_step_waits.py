import threading

import torch

from tests.diagnose.trainers import Net, trainer

HANGS = {"waits_for_ever": ("limit = 60", "limit = 0.2")}


class Hangs(torch.nn.Module):
    def forward(self, x):
        threading.Event().wait()


def waits_for_ever():
    model = Net()
    model.body[1] = Hangs()
    return trainer(model=model)


OUTCOMES = [[trainer], [waits_for_ever]]
