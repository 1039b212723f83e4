"""Part of a dataset, scaled: by index, in batches, and row by row."""

from torch.utils.data import DataLoader, Subset  # noqa: F401

SETTINGS = ("plain", "workers")


paste


def place(t):
    subset = Scaled([1, 2, 3, 4], indices=[3, 0, 1])
    loaders = [DataLoader(subset, size, num_workers=t.setting.workers) for size in (2, 3, None)]
    return (
        [subset[0]]
        + [[batch.tolist() for batch in loader] for loader in loaders[:2]]
        + [[int(row) for row in loaders[2]]]
    )


def reference(t):
    return [40, [[40, 10], [20]], [[40, 10, 20]], [40, 10, 20]]
