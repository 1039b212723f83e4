import torch

from tests.diagnose.trainers import rows, trainer


def _with_labels(change):
    x, y = rows(256).tensors
    dataset = torch.utils.data.TensorDataset(x, change(y))
    return trainer(loader=torch.utils.data.DataLoader(dataset, batch_size=16))


def labels_are_shuffled_apart():
    return _with_labels(lambda y: y[torch.randperm(len(y))])


def labels_are_sorted():
    return _with_labels(lambda y: y.sort().values)


def labels_are_parsed_badly():
    return _with_labels(torch.zeros_like)


OUTCOMES = [
    [trainer],
    [labels_are_shuffled_apart, labels_are_sorted],
    [labels_are_parsed_badly],
]
