import threading

import torch

from tests.diagnose.trainers import rows, trainer


def lambda_in_collate_fn():
    loader = torch.utils.data.DataLoader(rows(), batch_size=16, collate_fn=lambda pairs: pairs)
    return trainer(loader=loader)


def lock_in_the_dataset():
    names = trainer()
    names["loader"].dataset.lock = threading.Lock()
    return names


OUTCOMES = [[trainer], [lambda_in_collate_fn, lock_in_the_dataset]]
