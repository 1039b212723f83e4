"""Three epochs of a classifier, against SGD with momentum by hand."""

import torch

SETTINGS = ("plain", "tied", "frozen norm", "dropout", "short last batch")


def place(t):
    model, criterion, loader = t.model, t.loss, t.batches
    paste
    return model.state_dict()


def reference(t):
    model, criterion, loader = t.model, t.loss, t.batches
    parameters = [p for p in model.parameters() if p.requires_grad]
    speed = [torch.zeros_like(p) for p in parameters]
    for x, y in loader * 3:
        loss = criterion(model(x), y)
        for p, v, gradient in zip(parameters, speed, torch.autograd.grad(loss, parameters)):
            v.mul_(0.9).add_(gradient)
            p.data -= 0.1 * v
            t.got_gradient.update(n for n, q in model.named_parameters() if q is p)
    return model.state_dict()
