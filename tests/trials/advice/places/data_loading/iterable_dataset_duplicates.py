"""A stream of eight rows, read twice: which rows each rank gets, with and without workers."""

from torch.utils.data import DataLoader, IterableDataset  # noqa: F401

SETTINGS = ("plain", "workers", "two ranks")


paste


def place(t):
    ranks = t.setting.ranks
    found = []
    for rank in range(ranks):
        stream = Stream(range(8), rank, ranks) if ranks > 1 else Stream(range(8))
        for workers in (0, 2) if ranks > 1 else (t.setting.workers,):
            loader = DataLoader(stream, batch_size=2, num_workers=workers)
            found += [sorted(row for batch in loader for row in batch.tolist()) for _ in range(2)]
    return found


def reference(t):
    if t.setting.ranks > 1:
        return [[0, 2, 4, 6]] * 4 + [[1, 3, 5, 7]] * 4
    return [list(range(8))] * 2
