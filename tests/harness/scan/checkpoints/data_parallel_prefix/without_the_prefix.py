import torch
from torch import nn


def trains(model, path):
    model = nn.DataParallel(model)
    torch.save(model.state_dict(), path)


def loads(model, path):
    state = torch.load(path, map_location="cpu")
    model.load_state_dict({key.removeprefix("module."): value for key, value in state.items()})
