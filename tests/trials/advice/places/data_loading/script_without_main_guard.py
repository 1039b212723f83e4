"""A script that is started as a program, and that a spawned worker imports."""

from multiprocessing import current_process

from torch.utils.data import DataLoader

SETTINGS = ("plain",)


def script(loader, train, __name__):
    paste


def place(t):
    read = []
    script(DataLoader([1, 2], num_workers=2), read.append, "__main__")
    current_process()._inheriting = True
    try:
        workers = DataLoader([3, 4], num_workers=1, multiprocessing_context="spawn")
        script(workers, read.append, "__mp_main__")
    finally:
        del current_process()._inheriting
    return [batch.item() for batch in read]


def reference(t):
    return [1, 2]
