import tempfile
import threading

import torch

from tests.diagnose.trainers import trainer


def _with(**attributes):
    names = trainer()
    vars(names["loader"].dataset).update(attributes)
    return names


def open_file():
    return _with(file=tempfile.TemporaryFile())


def lock():
    return _with(lock=threading.Lock())


def tensors_on_a_device():
    return _with(images=torch.zeros(64, 3, device="meta"))


OUTCOMES = [[trainer], [open_file, lock, tensors_on_a_device]]
