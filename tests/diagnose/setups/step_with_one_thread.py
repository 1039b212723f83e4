import torch

from tests.diagnose.trainers import Net, clock, trainer

RANKS = 1  # a process of its own, in which threads only change the time


class Busy(Net):
    def forward(self, x):
        clock.sleep(self.seconds(torch.get_num_threads()))
        return super().forward(x)


def _trainer(seconds):
    threads = [4]
    torch.set_num_threads = lambda number: threads.__setitem__(0, number)
    torch.get_num_threads = lambda: threads[0]
    model = Busy()
    model.seconds = seconds
    return trainer(model=model)


def shared_work():
    return _trainer(lambda threads: 0.04 / threads)


def small_operations():
    return _trainer(lambda threads: 0.04)


def busy_cores():
    return _trainer(lambda threads: 0.04 * threads)


OUTCOMES = [[shared_work], [small_operations], [busy_cores]]
