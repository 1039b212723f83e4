import torch

from tests.diagnose.trainers import rows, trainer

RANKS = 2


def sliced_by_hand():
    part = torch.utils.data.Subset(rows(65), range(torch.distributed.get_rank(), 65, 2))
    return trainer(loader=torch.utils.data.DataLoader(part, batch_size=16))


def filtered_per_rank():
    part = torch.utils.data.Subset(rows(), range(40 + 20 * torch.distributed.get_rank()))
    return trainer(loader=torch.utils.data.DataLoader(part, batch_size=16))


OUTCOMES = [[trainer], [sliced_by_hand, filtered_per_rank]]
