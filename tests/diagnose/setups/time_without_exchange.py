import torch
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

from tests.diagnose.trainers import Net, clock, trainer

RANKS = 2


class Computes(Net):
    def forward(self, x):
        clock.sleep(0.02)
        return super().forward(x)


def parallel():
    return trainer(model=torch.nn.parallel.DistributedDataParallel(Computes()))


def slow_connection():
    def hook(state, bucket):
        clock.sleep(0.05)
        return default_hooks.allreduce_hook(None, bucket)

    names = parallel()
    names["model"].register_comm_hook(None, hook)
    return names


OUTCOMES = [[parallel], [slow_connection]]
