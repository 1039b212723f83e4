import torch


def trains(model, path):
    model = torch.compile(model)
    torch.save(model._orig_mod.state_dict(), path)


def loads_first(model, path):
    model.load_state_dict(torch.load(path, map_location="cpu"))
    return torch.compile(model)


def saves_the_optimizer(model, optimizer, path):
    model = torch.compile(model)
    torch.save(optimizer.state_dict(), path)
