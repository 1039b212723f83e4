# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "With the same seed, a different num_workers gives different augmentations"
# kind = "silent"
# symptom = "1 and 2 workers augment differently"
# origin = "design"
# reports = ["https://github.com/pytorch/pytorch/issues/138989"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/data.html#randomness-in-multi-process-data-loading",
#     "https://docs.pytorch.org/docs/stable/notes/randomness.html#dataloader",
#     "https://github.com/pytorch/pytorch/pull/15170",
# ]
# wrong = '''
# def __getitem__(self, index):
#     return self.transform(self.images[index])
# '''
# right = '''
# def __getitem__(self, row):  # sampler=Seeded(dataset, generator=torch.Generator().manual_seed(0))
#     index, seed = row
#     with torch.random.fork_rng(devices=[]):
#         torch.default_generator.manual_seed(seed)
#         return self.transform(self.images[index])
# class Seeded(torch.utils.data.RandomSampler):  # of one rank: several need a DistributedSampler
#     def __iter__(self):
#         rows = list(super().__iter__())
#         return zip(rows, torch.randint(2**62, (len(rows),), generator=self.generator).tolist())
# '''
# affected = { cpu = ">=1.13" }
# platform = "linux"
# ///
"""The seed of worker i is the base seed of the epoch plus i (docs: torch.utils.data, Randomness in
multi-process data loading). Which rows it loads depends on the number of workers (pytorch#138989).
The random numbers for a row are the same for any number of workers only if the seed comes with the
row. A sampler runs in the main process, so it can draw new seeds for the rows in each epoch. The
sampler uses its own generator, because persistent workers draw less from the shared generator. On
several ranks, this sampler would give all rows to each rank. Draw the seeds in a DistributedSampler
instead, from a generator that is seeded with the numbers of the run, the epoch and the rank.

Every loader over the dataset needs pairs of an index and a seed, because plain indices cause a
TypeError. A Subset causes a TypeError as well. The sampler Seeded shuffles the rows, so pass
sampler=[(i, i) for i in range(len(dataset))] to a validation loader, which keeps their order.

On another machine, the results can still differ: for example, one thread and two threads round sums
differently.

The corrected code is for transforms that draw from torch. Other transforms need the seed itself, as
in random.Random(seed) or numpy.random.default_rng(seed).

All of these runs use a seeded generator for the loader, as the documentation recommends (docs:
notes/randomness). This generator fixes the base seed but cannot make the results independent of the
number of workers. If the seed is computed from the index alone, a row gets the same augmentation in
every epoch.
"""

import torch
from torch.utils.data import DataLoader, Dataset, RandomSampler


class Images(Dataset):
    def __init__(self):
        self.images = torch.zeros(4)

    def transform(self, image):
        return image + torch.rand(())

    def __len__(self):
        return len(self.images)


class Plain(Images):
    def __getitem__(self, index):
        return self.transform(self.images[index])


class SeededRows(Images):
    def __getitem__(
        self, row
    ):  # sampler=Seeded(dataset, generator=torch.Generator().manual_seed(0))
        index, seed = row
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)
            return self.transform(self.images[index])

    class Seeded(torch.utils.data.RandomSampler):  # of one rank: several need a DistributedSampler
        def __iter__(self):
            rows = list(super().__iter__())
            return zip(rows, torch.randint(2**62, (len(rows),), generator=self.generator).tolist())


def epochs(dataset, sampler, num_workers, seed=0):
    generator = torch.Generator().manual_seed(seed)
    context = "fork" if num_workers else None
    loader = DataLoader(
        dataset,
        sampler=sampler(dataset, generator=generator),
        generator=torch.Generator().manual_seed(seed),
        num_workers=num_workers,
        multiprocessing_context=context,
    )
    return [torch.cat(list(loader)).tolist() for _ in range(2)]


def reproduce(device):
    if epochs(Plain(), RandomSampler, 1) != epochs(Plain(), RandomSampler, 2):
        return "1 and 2 workers augment differently"


def control(device):
    dataset = SeededRows()
    none, one, two = (epochs(dataset, dataset.Seeded, workers) for workers in range(3))
    if not none == one == two:
        return "0, 1 and 2 workers augment differently"
    if set(none[0]) & set(none[1]):
        return "two epochs have an augmentation in common"
    if none == epochs(dataset, dataset.Seeded, 0, seed=1):
        return "two seeds augment alike"


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
