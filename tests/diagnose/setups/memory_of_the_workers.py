import torch

from tests.diagnose.trainers import rows, trainer

LINUX = True


class Caches(torch.utils.data.TensorDataset):
    """Keeps something for each row that was read."""

    def __init__(self, *tensors):
        super().__init__(*tensors)
        self.cache = []

    def __getitem__(self, index):
        self.cache.append(torch.ones(250_000))  # 1 MB
        return super().__getitem__(index)


def _loader(dataset):
    return trainer(loader=torch.utils.data.DataLoader(dataset, batch_size=2, num_workers=2))


def workers():
    return _loader(rows(160))


def cache_without_a_limit():
    return _loader(Caches(*rows(160).tensors))


OUTCOMES = [[workers], [cache_without_a_limit], [trainer]]
