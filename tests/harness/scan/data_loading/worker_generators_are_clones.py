import random
import numpy as np
import torch
from torch.utils.data import Dataset, IterableDataset


class Noisy(Dataset):
    def __init__(self, rows, seed=0):
        self.rows = rows
        self.generator = np.random.default_rng(seed)  # finds worker_generators_are_clones

    def __getitem__(self, index):
        return self.rows[index] + self.generator.normal()


class NoisyRows(Dataset):
    def __init__(self, rows):
        self.rows, self.noise = rows, random.Random(0)  # finds worker_generators_are_clones

    def __getitem__(self, index):
        return self.rows[index] + self.noise.random()


class Cropped(torch.utils.data.Dataset):
    def __init__(self, rows, generator=None):
        self.rows = rows
        self.generator = generator or torch.Generator()  # finds worker_generators_are_clones

    def crop(self, row):
        start = torch.randint(9, (1,), generator=self.generator)
        return row[start:]

    def __getitem__(self, index):
        return self.crop(self.rows[index])


class SeededFromOutside(Dataset):
    def __init__(self, rows):
        self.rows = rows
        self.draws = random.Random(0)
        self.coin = random.Random(0)

    def __getitem__(self, index):
        return self.rows[index] + self.draws.random() + self.coin.random()


def start_worker(number):
    dataset = torch.utils.data.get_worker_info().dataset
    dataset.draws = random.Random(number)
    dataset.coin.seed(number)


class ShuffledOnce(Dataset):
    def __init__(self, rows):
        self.rows = rows
        self.generator = random.Random(0)
        self.generator.shuffle(self.rows)

    def __getitem__(self, index):
        return self.rows[index]


class SeededByRow(Dataset):
    def __init__(self, rows):
        self.rows = rows
        self.generator = random.Random(0)

    def __getitem__(self, index):
        self.generator.seed(index)
        return self.rows[index] + self.generator.random()


class MadeInTheWorker(Dataset):
    def __init__(self, rows):
        self.rows = rows
        self.generator = random.Random(0)

    def start(self, seed):
        self.generator = random.Random(seed)

    def __getitem__(self, index):
        return self.rows[index] + self.generator.random()


class Shards(IterableDataset):
    def __init__(self, rows):
        self.rows = rows
        self.generator = random.Random(0)

    def __getitem__(self, index):
        return self.rows[self.generator.randrange(9)]


class TakesAnother(Dataset):
    def __init__(self, rows):
        self.rows = rows
        self.generator = random.Random(0)

    def __getitem__(self, index):
        while self.rows[index] is None:
            index = self.generator.randrange(len(self.rows))
        return self.rows[index]
