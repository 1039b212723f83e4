# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "With the same seed another num_workers gives other augmentations"
# kind = "silent"
# symptom = "1 and 2 workers augment differently"
# keywords = [
#     "results change with num_workers",
#     "different results on another machine with the same seed",
#     "random augmentation not reproducible with workers",
#     "num_workers=0 and num_workers=4 give different losses",
#     "all seeds are set and the runs still differ",
#     "cannot reproduce results on another computer with same seed",
#     "laptop and server give different accuracy, seeds equal",
#     "changing number of loader processes changes the final score",
#     "random crops differ when I use more workers",
#     "reproducible with zero workers only",
#     "same seed on Windows and Linux gives different results",
#     "colleague cannot reproduce my numbers with same code",
#     "run on a bigger machine gives other metrics",
#     "seeded everything and augmented images still differ",
#     "loss curves differ depending on data loading threads",
#     "random flips change with the number of workers",
#     "experiments not comparable between cluster nodes",
#     "deterministic flags set and results vary with workers",
# ]
# origin = "design"
# reports = ["https://github.com/pytorch/pytorch/issues/7068"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/data.html#randomness-in-multi-process-data-loading",
#     "https://docs.pytorch.org/docs/stable/notes/randomness.html#dataloader",
#     "https://github.com/pytorch/pytorch/pull/15170",
# ]
# wrong = '''
# noise = torch.rand(1)
# '''
# right = '''
# noise = torch.rand(1, generator=torch.Generator().manual_seed(index))
# '''
# affected = { cpu = ">=1.13" }
# platform = "linux"
# ///
"""Worker i is seeded with the base seed of the epoch plus i (docs: torch.utils.data,
Randomness in multi-process data loading), and which rows it loads depends on how many
workers there are. What a row draws is the same for any number of workers only if its seed
comes from the row: its index, and the epoch, so that epochs differ.

A seeded generator for the loader, as the documentation advises (docs: notes/randomness),
is there in all of these runs; it fixes the base seed and not the number of workers.
"""

import torch
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __init__(self, draw):
        self.draw = draw

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return self.draw(index)


def augment(draw, num_workers):
    generator = torch.Generator().manual_seed(0)
    options = {"num_workers": num_workers, "multiprocessing_context": "fork"}
    return [float(noise) for noise in DataLoader(Noise(draw), generator=generator, **options)]


def compare(draw):
    if augment(draw, 1) != augment(draw, 2):
        return "1 and 2 workers augment differently"


def reproduce(device):
    def draw(index):
        noise = torch.rand(1)
        return noise

    return compare(draw)


def control(device):
    def draw(index):
        noise = torch.rand(1, generator=torch.Generator().manual_seed(index))
        return noise

    return compare(draw)


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
