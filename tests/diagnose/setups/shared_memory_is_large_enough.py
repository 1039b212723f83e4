import torch

from tests.diagnose.trainers import trainer

LINUX = True  # has /dev/shm


class Large(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.zeros(1).expand(2**50), index  # takes no memory until it is copied


def items_are_large():
    return trainer(loader=torch.utils.data.DataLoader(Large(), batch_size=16))


OUTCOMES = [[trainer], [items_are_large]]
