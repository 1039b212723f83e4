import torch

from tests.diagnose.trainers import Net, trainer


def _trainer(model=None, prefix=""):
    torch.manual_seed(1)
    pretrained = {f"{prefix}{name}": v.clone() for name, v in Net().state_dict().items()}
    names = trainer(model=model)
    names["model"].load_state_dict(pretrained, strict=False)
    return names | {"pretrained": pretrained}


def loaded():
    names = _trainer()
    torch.nn.init.zeros_(names["model"].head.bias)  # the new part
    return names


def saved_from_data_parallel():
    return _trainer(prefix="module.")


def initialized_after_the_load():
    names = _trainer()
    for parameter in names["model"].parameters():
        torch.nn.init.normal_(parameter)
    return names


def created_again():
    return _trainer() | {"model": Net()}


OUTCOMES = [[loaded], [saved_from_data_parallel], [initialized_after_the_load, created_again]]
