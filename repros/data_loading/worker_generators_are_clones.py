# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A random generator created in the dataset draws the same numbers in every forked worker"
# kind = "silent"
# symptom = "2 of 4 draws are distinct"
# origin = "design"
# reports = [
#     "https://github.com/Project-MONAI/MONAI/issues/398",
#     "https://github.com/TorchDSP/torchsig/issues/343",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/notes/faq.html#my-data-loader-workers-return-identical-random-numbers",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/utils/data/_utils/worker.py",
# ]
# wrong = '''
# class Augmented(Dataset):
#     def __init__(self, rows):
#         self.rows, self.generator = rows, random.Random(0)
#     def __len__(self):
#         return len(self.rows)
#     def __getitem__(self, index):
#         return self.rows[index] + self.generator.random()
# loader = DataLoader(Augmented(rows), num_workers=2)
# '''
# right = '''
# class Augmented(Dataset):
#     def __init__(self, rows):
#         self.rows = rows
#     def __len__(self):
#         return len(self.rows)
#     def __getitem__(self, index):
#         return self.rows[index] + torch.rand(()).item()
# loader = DataLoader(Augmented(rows), num_workers=2)
# '''
# fix = "data_loading.seed_worker"
# use = '''
# from data_loading import seed_worker
# loader = DataLoader(Augmented(rows), num_workers=2, worker_init_fn=seed_worker)
# '''
# choice = "Use the lines without the fix if your own code draws the numbers; use the fix if a library's transform holds the generator, or if the numbers must come from a separate generator"
# rule = "error"
# when = "the DataLoader has workers, and no worker_init_fn gives them new generators"
# affected = { cpu = ">=1.13" }
# platform = "linux"
# ///
"""Forked workers start with identical copies of every object, including generators (docs:
notes/faq). Each worker reseeds only the global generators of torch, Python and NumPy
(torch/utils/data/_utils/worker.py), so draw from one of them, preferably torch's. With
num_workers=0, torch.manual_seed() seeds only torch's generator.

Without persistent_workers=True each epoch starts new workers, which draw the numbers of the first
epoch again. This happens even with one worker, because the generator in the main process never
advances.

If several ranks use the same seed, their workers draw the same numbers. To avoid this, pass
generator=torch.Generator().manual_seed(seed + rank) to each rank's loader.

If a worker_init_fn gives get_worker_info().dataset a new generator, it does not reach a dataset
inside a Subset or ConcatDataset. The generator random.Random(get_worker_info().seed) draws the same
numbers as the random module in that worker.
"""

import random

import torch
from torch.utils.data import DataLoader, Dataset


def check(loader):
    loader.multiprocessing_context = "fork"
    distinct = len({draw.item() for draw in loader})
    if distinct < 4:
        return f"{distinct} of 4 draws are distinct"


def reproduce(device):
    rows = [0.0] * 4

    class Augmented(Dataset):
        def __init__(self, rows):
            self.rows, self.generator = rows, random.Random(0)

        def __len__(self):
            return len(self.rows)

        def __getitem__(self, index):
            return self.rows[index] + self.generator.random()

    loader = DataLoader(Augmented(rows), num_workers=2)
    return check(loader)


def control(device):
    rows = [0.0] * 4

    class Augmented(Dataset):
        def __init__(self, rows):
            self.rows = rows

        def __len__(self):
            return len(self.rows)

        def __getitem__(self, index):
            return self.rows[index] + torch.rand(()).item()

    loader = DataLoader(Augmented(rows), num_workers=2)
    return check(loader)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
