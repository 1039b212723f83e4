import torch

from tests.diagnose.trainers import rows, trainer


def _loader(dataset):
    return torch.utils.data.DataLoader(dataset, batch_size=16)


def split_of_sorted_data():
    x, y = rows().tensors
    order = y.argsort()
    x, y = x[order], y[order]
    parts = [torch.utils.data.TensorDataset(x[p], y[p]) for p in (slice(0, 48), slice(48, 64))]
    return trainer(loader=_loader(parts[0]), val_loader=_loader(parts[1]))


def counted_from_one():
    x, y = rows().tensors
    return trainer(val_loader=_loader(torch.utils.data.TensorDataset(x, y + 1)))


def numbered_apart():
    names = trainer()
    names["loader"].dataset.class_to_idx = {"cat": 0, "cow": 1, "dog": 2, "hen": 3}
    names["val_loader"].dataset.class_to_idx = {"dog": 0, "hen": 1, "cat": 2, "cow": 3}
    return names


OUTCOMES = [[trainer], [split_of_sorted_data, counted_from_one], [numbered_apart]]
