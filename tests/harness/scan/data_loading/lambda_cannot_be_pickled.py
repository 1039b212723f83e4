from functools import partial
from torch.utils.data import DataLoader
from torchvision import transforms


def sends_a_lambda(rows):
    return DataLoader(rows, num_workers=4, collate_fn=lambda b: b)  # finds lambda_cannot_be_pickled


def sends_nothing(rows, workers=0):
    return DataLoader(rows, num_workers=workers, collate_fn=lambda b: b)


def sends_at_times(rows, workers=0):
    take = lambda b: b
    return DataLoader(
        rows,
        num_workers=workers,
        collate_fn=take,  # finds lambda_cannot_be_pickled
    )


def sends_more(rows, count):
    return sends_at_times(rows, workers=count)


def sends_a_local_function(rows, workers):
    def collate(batch):
        return batch

    return DataLoader(
        rows,
        num_workers=workers,
        collate_fn=collate,  # finds lambda_cannot_be_pickled
    )


def first(batch):
    return batch[0]


def sends_a_function(rows):
    return DataLoader(rows, num_workers=4, collate_fn=first)


def sends_a_partial(rows):
    return DataLoader(rows, num_workers=4, collate_fn=partial(first))


def has_no_workers(rows):
    return DataLoader(rows, collate_fn=lambda batch: batch)


def forks(rows):
    return DataLoader(
        rows, num_workers=4, multiprocessing_context="fork", collate_fn=lambda batch: batch
    )


def scales(named):
    return [
        transforms.Lambda(lambda x: x / 255),  # finds lambda_cannot_be_pickled
        transforms.Lambda(named),
    ]
