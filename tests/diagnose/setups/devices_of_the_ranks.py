import torch

from tests.diagnose.trainers import trainer

RANKS = 2


def own_gpu():
    return trainer(device=f"cuda:{torch.distributed.get_rank()}")


def same_gpu():
    return trainer(device="cuda:0")


def alone():
    names = trainer()
    torch.distributed.destroy_process_group()
    store = torch.distributed.HashStore()
    torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    return names


OUTCOMES = [[trainer, own_gpu], [same_gpu], [alone]]
