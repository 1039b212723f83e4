"""Three epochs on two ranks: each row once in each epoch, and in another order."""

from torch.utils import data
from torch.utils.data.distributed import DistributedSampler  # noqa: F401

SETTINGS = ("plain", "workers")


def read(dataset, ranks, rank, workers):
    found = []

    def DataLoader(*args, **options):
        return data.DataLoader(*args, num_workers=workers, **options)

    def train(batch):
        found.extend(batch.tolist())

    paste
    return [found[start : start + 20] for start in range(0, 60, 20)]


def place(t):
    dataset, ranks = list(range(40)), 2
    both = [read(dataset, ranks, rank, t.setting.workers) for rank in range(ranks)]
    rows = [sorted(one + other) for one, other in zip(*both)]
    return rows, [len(set(map(tuple, rank))) for rank in both]


def reference(t):
    return [list(range(40))] * 3, [3, 3]
