from torch import nn


def freezes(model):
    for parameter in model.parameters():
        parameter.require_grad = False  # finds require_grad_is_misspelt
    model.weight.requires_grads = True  # finds require_grad_is_misspelt


def freezes_indeed(model):
    for parameter in model.body.parameters():
        parameter.requires_grad = False
    model.head.requires_grad_()
    return model.require_grad


def unfreezes(resnet18):
    model = resnet18()
    model.requires_grad_(False)
    model.fc.require_grad = True  # finds require_grad_is_misspelt
    model.fc.weight.require_grad = True  # finds require_grad_is_misspelt


def asks_for_the_default(sizes):
    table = nn.Embedding(*sizes)
    table.weight.require_grad = True
    fixed = nn.Embedding(*sizes)
    fixed.weight.require_grad = False  # finds require_grad_is_misspelt
    return table, fixed
