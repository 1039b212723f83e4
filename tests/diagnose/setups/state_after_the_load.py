import torch

from tests.diagnose.trainers import Net, trainer


def prefix_and_strict_false():
    names = trainer()

    def save(path):
        state = torch.nn.ModuleDict({"module": names["model"]}).state_dict()
        torch.save(state, path)

    def load(path):
        names["model"].load_state_dict(torch.load(path), strict=False)

    return names | {"save": save, "load": load}


def load_fills_another_model():
    names = trainer()
    return names | {"load": lambda path: Net().load_state_dict(torch.load(path)[0])}


def parameters_only():
    names = trainer()

    def save(path):
        torch.save(dict(names["model"].named_parameters()), path)

    def load(path):
        names["model"].load_state_dict(torch.load(path), strict=False)

    return names | {"save": save, "load": load}


OUTCOMES = [[trainer], [prefix_and_strict_false, load_fills_another_model], [parameters_only]]
