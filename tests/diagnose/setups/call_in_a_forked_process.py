import threading

import torch

from tests.diagnose.trainers import Net, trainer

LINUX = True
HANGS = {"lock_is_held": ("limit = 60", "limit = 2")}


class Fails(Net):
    def forward(self, x):
        raise RuntimeError("fails")


LOCK = threading.Lock()


class Locks(Net):
    def forward(self, x):
        with LOCK:
            return super().forward(x)


def one_thread():
    torch.set_num_threads(1)
    return trainer()


def lock_is_held():
    if not LOCK.locked():
        LOCK.acquire()
    return trainer(model=Locks())


def fails():
    return trainer(model=Fails())


OUTCOMES = [[one_thread], [lock_is_held], [fails]]
