import torch
from torch import nn


def trains(model, path, resume):
    if torch.cuda.device_count() > 1:
        model = nn.DataParallel(model)
    if resume:
        model.load_state_dict(torch.load(path, map_location="cpu"))
    torch.save(model.state_dict(), path)  # finds data_parallel_prefix
    bare = model.module
    return bare
