# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "An IterableDataset that does not shard delivers every row twice with two workers"
# kind = "silent"
# symptom = "8 rows delivered for 4"
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/30599",
#     "https://github.com/huggingface/datasets/issues/3423",
#     "https://github.com/vahidk/tfrecord/issues/78",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset"]
# wrong = '''
# class Stream(IterableDataset):
#     def __init__(self, rows):
#         self.rows = rows
#     def __iter__(self):
#         return iter(self.rows)
# '''
# right = '''
# from itertools import islice
# from torch.utils.data import get_worker_info
# class Stream(IterableDataset):
#     def __init__(self, rows, rank=0, world_size=1):  # of torch.distributed, if several ranks read
#         self.rows, self.rank, self.world_size = rows, rank, world_size
#     def __iter__(self):
#         info = get_worker_info()
#         worker, workers = (info.id, info.num_workers) if info else (0, 1)
#         first = self.rank + self.world_size * worker
#         return islice(iter(self.rows), first, None, self.world_size * workers)
# '''
# fix = "data_loading.shard"
# use = '''
# from data_loading import shard
# class Stream(IterableDataset):
#     def __init__(self, rows, rank=0, world_size=1):  # of torch.distributed, if several ranks read
#         self.rows, self.rank, self.world_size = rows, rank, world_size
#     def __iter__(self):
#         return shard(self.rows, self.rank, self.world_size)
# '''
# choice = "Use the lines or the fix, which is a function with the same code. If several ranks read the data, both need rank and world_size"
# affected = { cpu = ">=1.13" }
# platform = "linux"
# ///
"""Each worker gets a copy of the dataset and iterates over all of it, because splitting the rows
among workers is the dataset's responsibility (docs: torch.utils.data.IterableDataset). With n
workers, an epoch is n times as long (pytorch#30599), and every rank of a distributed run also reads
the whole dataset. A spawned worker does not know its rank, so pass the rank to the dataset. Every
worker has to see the same rows in the same order. If two ranks share five rows, one rank gets three
rows and the other gets two.

Because islice() also reads the rows that it skips (docs.python.org: itertools), each worker still
reads the whole stream. More workers therefore do not make a slow stream faster. With two workers
and a batch size of two, the first batch holds rows 0 and 2. Each worker fills its own batches, so
drop_last=True can drop rows of each worker. To restore the order of the predictions, store a number
in each row and sort by it. Open files in __iter__(), because forked workers share the position of a
file that was opened before the fork (man7.org: fork(2)).
"""

from itertools import islice

from torch.utils.data import DataLoader, IterableDataset, get_worker_info

WORKERS = {"num_workers": 2, "multiprocessing_context": "fork"}


def deliver(loaders):
    rows = [int(row) for loader in loaders for row in loader]
    if sorted(rows) != [0, 1, 2, 3]:
        return f"{len(rows)} rows delivered for 4"


def reproduce(device):
    class Stream(IterableDataset):
        def __init__(self, rows):
            self.rows = rows

        def __iter__(self):
            return iter(self.rows)

    return deliver([DataLoader(Stream(range(4)), **WORKERS)])


def control(device):
    class Stream(IterableDataset):
        def __init__(
            self, rows, rank=0, world_size=1
        ):  # of torch.distributed, if several ranks read
            self.rows, self.rank, self.world_size = rows, rank, world_size

        def __iter__(self):
            info = get_worker_info()
            worker, workers = (info.id, info.num_workers) if info else (0, 1)
            first = self.rank + self.world_size * worker
            return islice(iter(self.rows), first, None, self.world_size * workers)

    return (
        deliver([DataLoader(Stream(range(4)))])
        or deliver([DataLoader(Stream(range(4)), **WORKERS)])
        or deliver(DataLoader(Stream(range(4), rank, 2), **WORKERS) for rank in range(2))
    )


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
