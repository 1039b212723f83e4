import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def trains(model, path):
    model = nn.DataParallel(model).cuda()
    torch.save(model.state_dict(), path)  # finds data_parallel_prefix


class Trainer:
    def __init__(self, model, rank):
        self.bare = model
        self.model = DDP(model, device_ids=[rank])

    def save(self, epoch, optimizer, path):
        state = {
            "epoch": epoch,
            "model": self.model.state_dict(),  # finds data_parallel_prefix
            "optimizer": optimizer.state_dict(),
        }
        torch.save(state, path)

    def saves_the_bare_model(self, path):
        torch.save(self.bare.state_dict(), path)


def keeps_in_memory(model):
    model = nn.DataParallel(model)
    return model.state_dict()


def restores(optimizer, path):
    optimizer.load_state_dict(torch.load(path, map_location="cpu"))


def loads():
    model = nn.Linear(2, 2)
    model.load_state_dict(torch.load("model.pt", map_location="cpu"))
    return model
