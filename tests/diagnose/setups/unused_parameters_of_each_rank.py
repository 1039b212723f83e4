import torch

from tests.diagnose.trainers import Net, trainer

RANKS = 2


class TwoHeads(Net):
    def __init__(self):
        super().__init__()
        self.other = torch.nn.Linear(32, 4)


class Chooses(TwoHeads):
    def forward(self, x):
        head = self.head if torch.distributed.get_rank() else self.other
        return head(self.body(x))


def _parallel(model):
    torch.manual_seed(0)
    return trainer(model=torch.nn.parallel.DistributedDataParallel(model()))


def parallel():
    return _parallel(Net)


def head_is_unused():
    return _parallel(TwoHeads)


def head_depends_on_the_rank():
    return _parallel(Chooses)


OUTCOMES = [[trainer, parallel], [head_is_unused], [head_depends_on_the_rank]]
