import threading

import torch

from tests.diagnose.trainers import rows, trainer

HANGS = {"dataset_hangs": ("limit = 60", "limit = 0.2")}


class Hangs(torch.utils.data.TensorDataset):
    def __getitem__(self, index):
        threading.Event().wait()


class Fails(torch.utils.data.TensorDataset):
    def __getitem__(self, index):
        raise FileNotFoundError("image_000.png")


def _with(dataset):
    return trainer(loader=torch.utils.data.DataLoader(dataset(*rows().tensors), batch_size=16))


def with_workers():
    loader = torch.utils.data.DataLoader(rows(), batch_size=16, num_workers=2, timeout=9)
    return trainer(loader=loader)


def dataset_hangs():
    return _with(Hangs)


def dataset_fails():
    return _with(Fails)


OUTCOMES = [[trainer, with_workers], [dataset_hangs], [dataset_fails]]
