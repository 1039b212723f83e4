# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "next(iter(loader)) in a loop returns the first rows every time, unless the loader shuffles"
# kind = "silent"
# symptom = "of 100 rows were read"
# origin = "usage"
# reports = [
#     "https://github.com/leohsuofnthu/Pytorch-IterativeFCN/issues/7",
#     "https://github.com/fastai/fastai/issues/484",
#     "https://github.com/nashory/pggan-pytorch/issues/35",
# ]
# documents = ["https://github.com/pytorch/pytorch/blob/v2.13.0/torch/utils/data/dataloader.py"]
# wrong = '''
# loader = DataLoader(rows, batch_size=32)
# for step in range(100):
#     batch = next(iter(loader))
#     train(batch)
# '''
# right = '''
# loader = DataLoader(rows, batch_size=32)
# batches = iter(loader)
# for step in range(100):
#     try:
#         batch = next(batches)
#     except StopIteration:  # the epoch is over: set_epoch() here, if the sampler has it
#         batches = iter(loader)
#         batch = next(batches)
#     train(batch)
# '''
# rule = "note"
# affected = { cpu = ">=1.13" }
# ///
"""Calling iter(loader) starts a new epoch (torch/utils/data/dataloader.py), and next() returns its
first batch. Keep the iterator, and create a new one when it is exhausted. Without the try block,
next() would raise StopIteration at the end, and next(batches, None) would mistake a batch that is
None for the end. A DistributedSampler uses the same order in every epoch unless you call its
set_epoch() before iter(). An itertools.cycle(loader) stores the batches of the first epoch and
repeats them in the same order, with the same augmentation.

Users then often try shuffle=True (leohsuofnthu/Pytorch-IterativeFCN#7, nashory/pggan-pytorch#35).
The batches then differ, but each is the first batch of a new permutation. After as many steps as an
epoch has, some rows have been read twice and others never.
"""

from torch.utils.data import DataLoader


def rows_read(run, **options):
    rows, read = range(100), []
    run(rows, lambda batch: read.extend(batch.tolist()), **options)
    if len(set(read[:100])) < 100:
        return f"{len(set(read[:100]))} of 100 rows were read"
    if len(read) != 2500:  # 100 steps are 25 epochs of 4 batches
        return f"{len(read)} of 2500 rows were trained on"


def first_batches(rows, train, shuffle=False):
    loader = DataLoader(rows, batch_size=32, shuffle=shuffle)
    for step in range(100):
        batch = next(iter(loader))
        train(batch)


def all_batches(rows, train):
    loader = DataLoader(rows, batch_size=32)
    batches = iter(loader)
    for step in range(100):
        try:
            batch = next(batches)
        except StopIteration:  # the epoch is over: set_epoch() here, if the sampler has it
            batches = iter(loader)
            batch = next(batches)
        train(batch)


def reproduce(device):
    return rows_read(first_batches)


def control(device):
    return rows_read(all_batches)


def popular_fix(device):
    return rows_read(first_batches, shuffle=True)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
