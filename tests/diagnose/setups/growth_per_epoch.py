import torch

from tests.diagnose.trainers import trainer


def _with_history(make):
    names = trainer()
    history = []

    def train_step(x, y):
        names["train_step"](x, y)
        history.append(make())

    return names | {"train_step": train_step}


def keeps_tensors():
    return _with_history(lambda: torch.zeros(100_000))


def keeps_lists():
    return _with_history(lambda: [0.5 * number for number in range(5_000)])


OUTCOMES = [[trainer], [keeps_tensors], [keeps_lists]]
