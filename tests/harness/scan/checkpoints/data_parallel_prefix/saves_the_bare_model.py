import torch
from torch import nn


def trains(model, path, resume):
    if resume:
        model.load_state_dict(torch.load(path, map_location="cpu"))
    if torch.cuda.device_count() > 1:
        model = nn.DataParallel(model)
    torch.save((model.module if hasattr(model, "module") else model).state_dict(), path)
    keeps = model.state_dict()
    torch.save(keeps, path)
