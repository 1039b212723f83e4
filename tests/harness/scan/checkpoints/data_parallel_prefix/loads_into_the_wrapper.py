import torch
from torch import nn


def resumes(model, path):
    model = nn.DataParallel(model)
    model.load_state_dict(torch.load(path, map_location="cpu"))
    return model


def trains(model, path):
    model = nn.DataParallel(model)
    torch.save(model.state_dict(), path)
