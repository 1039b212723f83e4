import torch

from tests.diagnose.trainers import rows, trainer


def _loader(dataset, batch_size):
    return torch.utils.data.DataLoader(dataset, batch_size=batch_size)


def small_batches():
    return trainer(loader=_loader(rows(256), 1), val_loader=_loader(rows(4096), 64))


def few_samples():
    return trainer(val_loader=_loader(rows(8), 2))


def one_batch():
    return trainer(val_loader=_loader(rows(16), 16))


OUTCOMES = [[trainer], [small_batches], [few_samples, one_batch]]
