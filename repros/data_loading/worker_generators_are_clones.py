# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A random generator made in the dataset draws the same numbers in every worker"
# kind = "silent"
# symptom = "2 of 4 draws are distinct"
# keywords = ["same augmentations in every worker", "identical random numbers"]
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/5059", "https://github.com/pytorch/pytorch/issues/56488"]
# wrong = '''
# TODO
# '''
# fix = "data_loading.seed_worker"
# affected = { cpu = ">=1.13" }
# platform = "linux"
# ///
"""Forked workers start with equal copies of every object, generators included. Only
torch's and Python's *global* generators are reseeded.

A seed in the generator's constructor does not matter; what helps is to make the
generator in worker_init_fn from get_worker_info().seed.
"""

import random

from torch.utils.data import DataLoader, Dataset, get_worker_info


class Augmented(Dataset):
    def __init__(self):
        self.generator = random.Random(0)  # the same holds for numpy.random.default_rng(0)

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return self.generator.random()


def reseed(worker):
    get_worker_info().dataset.generator = random.Random(get_worker_info().seed)


def draws(**options):
    loader = DataLoader(Augmented(), num_workers=2, multiprocessing_context="fork", **options)
    distinct = len({draw.item() for draw in loader})
    if distinct < 4:
        return f"{distinct} of 4 draws are distinct"


def reproduce(device):
    return draws()


def control(device):
    return draws(worker_init_fn=reseed)


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
