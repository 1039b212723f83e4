import torch

from tests.diagnose.setups.parameters_equal_on_all_ranks import _parallel, _trainer, parallel
from tests.diagnose.trainers import Net

RANKS = 2


def loss_is_a_sum():
    return _trainer(_parallel(Net()), loss_fn=torch.nn.CrossEntropyLoss(reduction="sum"))


def not_wrapped():
    return _trainer(Net())


def contrastive():
    def loss_fn(output, y):
        features = torch.nn.functional.normalize(output, dim=1)
        scores = features @ features.T / 0.1
        return torch.nn.functional.cross_entropy(scores, torch.arange(len(scores)).roll(1))

    return _trainer(_parallel(Net()), loss_fn=loss_fn)


OUTCOMES = [[parallel], [loss_is_a_sum], [not_wrapped, contrastive]]
