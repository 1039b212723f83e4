import torch

from tests.diagnose.trainers import rows, trainer


def _loader(x, y):
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=8)


def sorted_by_class():
    x, y = rows().tensors
    order = y.argsort()
    return trainer(loader=_loader(x[order], y[order]))


def all_labels_are_zero():
    x, y = rows().tensors
    return trainer(loader=_loader(x, torch.zeros_like(y)))


def one_class_is_frequent():
    x, y = rows().tensors
    return trainer(loader=_loader(x, (torch.arange(64) % 13 == 0).long()))


OUTCOMES = [[trainer], [sorted_by_class, all_labels_are_zero], [one_class_is_frequent]]
