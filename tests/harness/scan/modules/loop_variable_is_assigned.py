import torch


def averages(model, ema):
    for parameter, mean in zip(model.parameters(), ema.parameters()):
        mean = 0.9 * mean + 0.1 * parameter  # finds loop_variable_is_assigned


def initializes(model):
    for name, p in model.named_parameters():
        p = torch.zeros_like(p)  # finds loop_variable_is_assigned


def collects(model):
    norms = []
    for p in model.parameters():
        p = p.detach()
        norms.append(p.norm())
    return norms


def writes(model, ema):
    for p, mean in zip(model.parameters(), ema.parameters()):
        p.data = mean.data
        norm = p.norm()
    return norm
