# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Iterating over the validation loader changes the order of the training rows"
# kind = "silent"
# symptom = "the training order differs with validation"
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/80119",
#     "https://github.com/pytorch/pytorch/issues/122697",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/notes/randomness.html#dataloader",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/utils/data/dataloader.py",
# ]
# wrong = '''
# val = DataLoader(dataset)
# validate(model, val)
# '''
# right = '''
# val = DataLoader(dataset)
# with torch.random.fork_rng(devices=[]):
#     validate(model, val)
# '''
# rule = "note"
# when = "the number of validation rows or passes changes"
# affected = { cpu = ">=1.13" }
# ///
"""Two runs with the same seed shuffle differently, because one of them validates between epochs and
the other does not. Every DataLoader iterator draws a base seed for its workers, even without
shuffling and without workers. The iterator draws from the global generator unless the loader has
its own generator (torch/utils/data/dataloader.py, pytorch#80119).

fork_rng() restores the generator, even if the dataset draws random numbers. With devices=[], only
torch's CPU generator is restored, so list in `devices` the other devices on which the validation
draws. The modules random and numpy.random have their own generators. The validation then draws the
same numbers that the training draws next, so the noise in the validation and the noise in the
training are not independent. A separate generator for the training loader also keeps the order, but
not the other draws. To look at a batch of the training data, use a separate DataLoader over the
data. With persistent_workers=True, a loader draws its base seed only once, and this draw would be
inside fork_rng().
"""

import torch
from torch.utils.data import DataLoader


class Noisy(torch.utils.data.Dataset):
    def __len__(self):
        return 10

    def __getitem__(self, index):
        return index + torch.rand(())


def validate(model, loader):
    return [model(x) for x in loader]


def bare(model, dataset):
    val = DataLoader(dataset)
    validate(model, val)


def forked(model, dataset):
    val = DataLoader(dataset)
    with torch.random.fork_rng(devices=[]):
        validate(model, val)


def second_epoch(evaluate, dataset):
    with torch.random.fork_rng(devices=[]):  # so that this file leaves the seed as it was
        torch.manual_seed(0)
        train = DataLoader(range(100), shuffle=True)
        list(train)
        evaluate(torch.nn.Identity(), dataset)
        return [int(row) for row in train]


def compare(evaluate):
    without = second_epoch(lambda model, dataset: None, None)
    if any(second_epoch(evaluate, dataset) != without for dataset in (range(10), Noisy())):
        return "the training order differs with validation"


def reproduce(device):
    return compare(bare)


def control(device):
    return compare(forked)


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
