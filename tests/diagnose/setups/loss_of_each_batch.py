import torch

from tests.diagnose.trainers import rows, trained


def _loader(x, y):
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=16)


def short_last_batch():
    x, y = rows(65).tensors
    y[-1] = (y[-1] + 1) % 4
    return trained() | {"loader": _loader(x, y)}


def wrong_labels():
    x, y = rows().tensors
    y[16:20] = (y[16:20] + 1) % 4
    return trained() | {"loader": _loader(x, y)}


def not_finite():
    x, y = rows().tensors
    x[40] = torch.nan
    return trained() | {"loader": _loader(x, y)}


OUTCOMES = [[trained], [short_last_batch], [wrong_labels, not_finite]]
