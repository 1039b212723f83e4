import os
import threading

import torch

from tests.diagnose.trainers import rows, trainer

HANGS = {"lock_is_held_at_the_fork": ("1, 2, 60", "1, 2, 0.5")}
LINUX = True  # forks
torch.utils.data._utils.MP_STATUS_CHECK_INTERVAL = 0.1  # how long a hanging worker may take to end


class Locked(torch.utils.data.TensorDataset):
    def __init__(self, *tensors):
        super().__init__(*tensors)
        self.lock = threading.Lock()

    def __getitem__(self, index):
        with self.lock:
            return super().__getitem__(index)


class Dies(torch.utils.data.TensorDataset):
    def __getitem__(self, index):
        os._exit(1)


class Fails(torch.utils.data.TensorDataset):
    def __getitem__(self, index):
        raise FileNotFoundError("image_000.png")


def _with(dataset):
    loader = torch.utils.data.DataLoader(
        dataset, batch_size=16, num_workers=1, multiprocessing_context="fork"
    )
    return trainer(loader=loader)


def lock_is_held_at_the_fork():
    dataset = Locked(*rows().tensors)
    dataset.lock.acquire()
    return _with(dataset)


def worker_dies():
    return _with(Dies(*rows().tensors))


def dataset_fails():
    return _with(Fails(*rows().tensors))


OUTCOMES = [[trainer], [lock_is_held_at_the_fork], [worker_dies, dataset_fails]]
